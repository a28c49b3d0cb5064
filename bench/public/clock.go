package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// clock is what was timed of original and change, whatever the tool said: a saving is a fact of the program and the machine, so that it is
// timed once for all versions of the tool. Its file is part of the tree, and grows from bench to bench.
type clock map[string]*clocked // by program

// clocked are the pairs of one program's changes.
type clocked struct {
	Recipe  string        `json:"recipe"` // hash of how the original is run
	Rounds  int           `json:"rounds"` // how many the program ever had: each has an order and a seed of its own
	Changes []timedChange `json:"changes"`
}

// timedChange has the pairs of one change, which is known by what it does.
type timedChange struct {
	Name  string `json:"name"`
	Does  string `json:"does"` // hash of its edits, command and variables
	Pairs []pair `json:"pairs"`
}

// pair is one run of a side and the original's of the same round, in seconds of wall clock of the whole command.
type pair struct {
	Plain   float64 `json:"plain"`
	Took    float64 `json:"took"`
	Load    float64 `json:"load"`    // the machine's, before the round
	Machine string  `json:"machine"` // the kind of processor, how many, and PyTorch's version
}

func readClock(path string) (clock, error) {
	c := clock{}
	return c, readDocument(path, &c)
}

// of is a program's part; what another recipe's original took is forgotten.
func (c clock) of(id, recipe string) *clocked {
	if c[id] == nil || c[id].Recipe != recipe {
		c[id] = &clocked{Recipe: recipe}
	}
	return c[id]
}

// change is the part of one change.
func (p *clocked) change(ch *change) *timedChange {
	does := ch.does()
	i := slices.IndexFunc(p.Changes, func(t timedChange) bool { return t.Does == does })
	if i < 0 {
		i = len(p.Changes)
		p.Changes = append(p.Changes, timedChange{Does: does})
	}
	p.Changes[i].Name = ch.Name
	return &p.Changes[i]
}

// does is the hash of what a change does, whatever it is called and whoever proposes it.
func (c *change) does() string {
	bare := change{Edits: c.Edits, Command: c.Command, Environment: c.Environment}
	text, err := json.Marshal(bare)
	if err != nil {
		panic(err) // strings and numbers only
	}
	return hashOf(text)
}

// machine is what decides how fast a program runs, as far as it can be said in few words: pairs of other machines do not count.
func machine(ctx context.Context, python string) (string, error) {
	const version = "import importlib.metadata; print(importlib.metadata.version('torch'))"
	torch, err := exec.CommandContext(ctx, python, "-c", version).Output()
	if err != nil {
		return "", fmt.Errorf("%s: the version of PyTorch: %w", python, err)
	}
	processor := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, after, ok := strings.Cut(string(text), "\nmodel name"); ok {
			line, _, _ := strings.Cut(after, "\n")
			processor = strings.Trim(line, " \t:")
		}
	}
	return fmt.Sprintf("%d × %s, PyTorch %s", runtime.NumCPU(), processor, strings.TrimSpace(string(torch))), nil
}

// recall gives a program the pairs that the clock has of its changes on a machine.
func (m *measured) recall(p *program, has *clocked, machine string) {
	m.changed = map[string][]pair{}
	for _, ch := range m.changes(p) {
		does := ch.does()
		for _, one := range has.Changes {
			if one.Does == does {
				m.changed[ch.Name] = slices.DeleteFunc(slices.Clone(one.Pairs), func(t pair) bool { return t.Machine != machine })
			}
		}
	}
}
