package main

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// words are what names are drawn from; two joined give an identifier.
var words = strings.Fields("amber basin cedar delta ember fjord grove harbor indigo juniper kelp lagoon meadow nectar opal prairie " +
	"quartz ridge sierra tundra umber violet willow yarrow zephyr alder birch coral dune elm")

// draw is one choice of names and sizes for a case.
type draw struct {
	names map[string]string
	sizes map[string]int
	entry string // the script's name
}

// drawn chooses names and sizes; the same seed gives a case the same choice.
func (c *testCase) drawn(seed uint64) draw {
	h := fnv.New64a()
	h.Write([]byte(c.name))
	r := rand.New(rand.NewPCG(seed, h.Sum64()))
	pick := r.Perm(len(words))
	d := draw{names: map[string]string{}, sizes: map[string]int{}}
	d.entry = words[pick[0]] + ".py"
	for i, name := range c.expect.Names {
		word := words[pick[1+i%(len(pick)-1)]]
		if i >= len(pick)-1 {
			word += "_too"
		}
		if strings.ToLower(name[:1]) != name[:1] {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		d.names[name] = word
	}
	for _, name := range sortedKeys(c.expect.Sizes) {
		limits := c.expect.Sizes[name]
		d.sizes[name] = limits[0] + r.IntN(limits[1]-limits[0]+1)
	}
	return d
}

// write makes the slow or the fixed program in dir and gives its script's path.
func (c *testCase) write(variant string, d draw, dir string) (string, error) {
	entry := c.expect.Main
	if entry == "" {
		entry = variant + ".py"
	}
	if c.expect.Base != "" {
		base := testCase{name: c.name, dir: filepath.Join(filepath.Dir(c.dir), c.expect.Base), expect: c.expect}
		if err := base.lay(variant, entry, d, dir); err != nil {
			return "", fmt.Errorf("make %s of %s: %w", variant, c.name, err)
		}
	}
	if err := c.lay(variant, entry, d, dir); err != nil {
		return "", fmt.Errorf("make %s of %s: %w", variant, c.name, err)
	}
	return filepath.Join(dir, d.path(entry, entry)), nil
}

// lay copies the files of a variant from the case's folder to dir.
func (c *testCase) lay(variant, entry string, d draw, dir string) error {
	return filepath.WalkDir(c.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(c.dir, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch top, below, inside := strings.Cut(rel, "/"); {
		case rel == "expect.json" || strings.HasSuffix(rel, ".pyc"):
			return nil
		case !inside && c.expect.Main == "" && (rel == "slow.py" || rel == "fixed.py"):
			if rel != entry {
				return nil
			}
		case inside && (top == "slow" || top == "fixed"):
			if top != variant {
				return nil
			}
			rel = below
		case c.overlaid(variant, rel):
			return nil
		}
		return c.copyFile(path, filepath.Join(dir, d.path(rel, entry)), d)
	})
}

// overlaid says that a variant has its own form of a common file.
func (c *testCase) overlaid(variant, rel string) bool {
	_, err := os.Stat(filepath.Join(c.dir, variant, filepath.FromSlash(rel)))
	return err == nil
}

// path is a file's name after drawing: the script has a drawn one, modules are renamed like identifiers.
func (d draw) path(rel, entry string) string {
	if rel == entry {
		return d.entry
	}
	dir, base := filepath.Split(rel)
	stem := strings.TrimSuffix(base, ".py")
	if to := d.names[stem]; to != "" && stem != base {
		base = to + ".py"
	}
	return filepath.Join(dir, base)
}

// expected is an expected file after drawing.
func (d draw) expected(file string, e *expect) string {
	if file == e.Main || e.Main == "" && file == "slow.py" {
		return d.entry
	}
	return d.path(file, "")
}

var constant = regexp.MustCompile(`(?m)^([A-Z][A-Z0-9_]*) = [0-9_]+`)

// copyFile writes a text with names and sizes replaced; no line moves.
func (c *testCase) copyFile(from, to string, d draw) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	s := string(text)
	for name, word := range d.names {
		s = regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).ReplaceAllLiteralString(s, word)
	}
	s = constant.ReplaceAllStringFunc(s, func(line string) string {
		name, _, _ := strings.Cut(line, " ")
		if n, ok := d.sizes[name]; ok {
			return fmt.Sprintf("%s = %d", name, n)
		}
		return line
	})
	s = strings.ReplaceAll(s, "# the cost", "# here")
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, []byte(s), 0o644)
}
