package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed programs.json
var programsText []byte

//go:embed files.txt
var filesText string

// program is one program of a repository and how it is run.
type program struct {
	ID          string            `json:"id"`
	Repository  string            `json:"repository"` // owner/name
	Package     string            `json:"package"`    // on PyPI, where the program is a module of an installed package
	Folder      string            `json:"folder"`     // in which it runs, in the repository
	Paths       []string          `json:"paths"`      // files and folders of the repository that it needs
	Data        [][]string        `json:"data"`       // arguments of data/make.py: kind, place, sizes
	Before      [][]string        `json:"before"`     // commands that run once, when a copy is made
	Command     []string          `json:"command"`    // what the interpreter is given
	Environment map[string]string `json:"environment"`
	Changes     []change          `json:"changes"`
}

// change is what a finding proposes, or a candidate that is tried where the tool finds nothing.
type change struct {
	Name        string            `json:"name"`
	For         []string          `json:"for"`       // what proposes it: "input/workers", "input" for all of its kinds, or an advice's id
	Candidate   bool              `json:"candidate"` // it is tried where the tool finds nothing, too
	Edits       []edit            `json:"edits"`
	Command     []string          `json:"command"` // in place of the program's; none: the same
	Environment map[string]string `json:"environment"`
}

// edit replaces lines First to Last of a file by Text, which is ours; Old is a word of the first line that must be there.
type edit struct {
	File  string   `json:"file"`
	First int      `json:"first"`
	Last  int      `json:"last"` // 0: First; First-1: nothing is replaced, Text is put before First
	Old   string   `json:"old"`
	New   string   `json:"new"` // in place of Old in the first line, above Text
	Text  []string `json:"text"`
}

// pin is a file of a repository as it must be.
type pin struct{ repository, revision, path, hash string }

// held says that a program is of the half that is looked at only when scoring. The name alone decides, so that nobody chooses.
func held(id string) bool { return sha256.Sum256([]byte(id))[0]&1 == 0 }

// half is the name of a program's half.
func (p *program) half() string {
	if held(p.ID) {
		return "held"
	}
	return "build"
}

// tree is the folder of a repository's files, below the folder of checkouts.
func (p *program) tree() string { return strings.ReplaceAll(p.Repository, "/", "+") }

// readPrograms gives the programs that a half ("", "build", "held") and patterns of names choose.
func readPrograms(half string, patterns []string) ([]program, error) {
	var all []program
	decode := json.NewDecoder(bytes.NewReader(programsText))
	decode.DisallowUnknownFields()
	if err := decode.Decode(&all); err != nil {
		return nil, fmt.Errorf("programs.json: %w", err)
	}
	var chosen []program
	for _, p := range all {
		if half != "" && p.half() != half {
			continue
		}
		ok, err := matches(p.ID, patterns)
		if err != nil {
			return nil, err
		}
		if ok {
			chosen = append(chosen, p)
		}
	}
	if len(chosen) == 0 {
		return nil, errors.New("no program has such a name and half")
	}
	return chosen, nil
}

func matches(name string, patterns []string) (bool, error) {
	for _, p := range patterns {
		if ok, err := path.Match(p, name); err != nil {
			return false, fmt.Errorf("%s: %w", p, err)
		} else if ok {
			return true, nil
		}
	}
	return len(patterns) == 0, nil
}

// readPins gives the pinned files of all repositories.
func readPins(text string) ([]pin, error) {
	var pins []pin
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
		if len(fields) != 4 {
			return nil, fmt.Errorf("files.txt: %q is not a repository, revision, hash and path", line)
		}
		pins = append(pins, pin{fields[0], fields[1], fields[3], fields[2]})
	}
	return pins, nil
}

// pinsOf are the pinned files that a program needs.
func (p *program) pinsOf(pins []pin) []pin {
	var needed []pin
	for _, f := range pins {
		within := func(path string) bool { return f.path == path || strings.HasPrefix(f.path, path+"/") }
		if f.repository == p.Repository && slices.ContainsFunc(p.Paths, within) {
			needed = append(needed, f)
		}
	}
	return needed
}

// proposes says that a change is what a finding of this cause, kind and advice proposes.
func (c *change) proposes(cause, sub, advice string) bool {
	return slices.ContainsFunc(c.For, func(name string) bool { return name == cause || name == label(cause, sub) || name == advice })
}

func label(cause, sub string) string {
	if sub == "" {
		return cause
	}
	return cause + "/" + sub
}

// inside is a path below a folder; one that leads out of it is refused.
func inside(folder, name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("%s leads out of its folder", name)
	}
	return filepath.Join(folder, name), nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
