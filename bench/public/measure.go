package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"bottleneck/bench/timed"
)

// measureAll measures the programs one after the other, prints each one's row, and the scores at the end or where it is interrupted.
func (b *bench) measureAll(ctx context.Context, programs []program, pins []pin) error {
	binary, err := os.ReadFile(b.binary)
	if err != nil {
		return fmt.Errorf("%w: make build first", err)
	}
	kept, err := b.earlier(hashOf(binary), programs)
	if err != nil {
		return err
	}
	header(os.Stdout)
	left := programs
	for rounds := min(firstLook, b.pairs); len(left) > 0 && ctx.Err() == nil; rounds++ {
		if left, err = b.pass(ctx, left, rounds, pins, kept); err != nil {
			return errors.Join(err, b.keep(kept))
		}
	}
	scores(os.Stdout, programs, kept)
	if ctx.Err() != nil {
		return errors.New("interrupted: -resume goes on")
	}
	return nil
}

// firstLook is after how many rounds of all programs it is asked for the first time which of them need more: what the clock has counts.
const firstLook = 1

// pass brings the programs to a number of rounds, and gives those that need more; the others' rows are printed. All programs get their
// first rounds before one gets its last ones, so that an interrupted bench has something of each.
func (b *bench) pass(ctx context.Context, programs []program, rounds int, pins []pin, kept *results) (left []program, err error) {
	for i := range programs {
		p := &programs[i]
		m := kept.Programs[p.ID]
		if rounds == min(firstLook, b.pairs) || !settled(p, m, kept.spread()) {
			fmt.Fprintf(os.Stderr, "%s, %d rounds, %d of %d\n", p.ID, rounds, i+1, len(programs))
			if m, err = b.measure(ctx, p, rounds, pins, kept); err != nil {
				return nil, err
			}
		}
		if ctx.Err() != nil {
			return nil, nil
		}
		if rounds < b.pairs && !settled(p, m, kept.spread()) {
			left = append(left, *p)
			continue
		}
		judged := judge(p, m, kept.spread())
		judged.write(os.Stdout)
	}
	return left, nil
}

// earlier is what an earlier bench kept: with -resume of all programs, else of those that are not chosen now. Reports of another binary or
// machine are not mixed with this one's.
func (b *bench) earlier(binary string, chosen []program) (*results, error) {
	kept, err := b.kept()
	if err != nil {
		return nil, err
	}
	other := kept.Binary != binary || kept.Machine != b.machine
	if b.resume && kept.Binary != "" && other {
		return nil, fmt.Errorf("%s is of another binary or machine: without -resume all is measured anew", b.results)
	}
	if other {
		kept.Programs = map[string]*measured{}
	}
	for i := range chosen {
		if !b.resume {
			delete(kept.Programs, chosen[i].ID)
		}
		if b.anew {
			delete(kept.clock, chosen[i].ID)
		}
	}
	kept.Binary, kept.Machine = binary, b.machine
	return kept, nil
}

// measure brings a program to a number of rounds. What fails of the program itself is part of the result.
func (b *bench) measure(ctx context.Context, p *program, rounds int, pins []pin, kept *results) (*measured, error) {
	recipe, err := recipeOf(p, pins)
	if err != nil {
		return nil, err
	}
	m := kept.Programs[p.ID]
	if m == nil || m.Recipe != recipe || m.Failed != "" {
		m = &measured{Recipe: recipe}
		kept.Programs[p.ID] = m
	}
	c := b.copiesOf(p)
	c.has = kept.clock.of(p.ID, recipe)
	m.recall(p, c.has, b.machine)
	if c.enough(m, rounds) {
		return m, nil
	}
	err = c.make(ctx, pins)
	if err == nil && m.Proposed != nil {
		err = c.change(m.Proposed)
	}
	for err == nil && !c.enough(m, rounds) && ctx.Err() == nil {
		if len(m.Said) == 0 {
			err = c.first(ctx, m)
		} else {
			err = c.round(ctx, m, rounds)
		}
		if err := b.keep(kept); err != nil {
			return nil, err
		}
	}
	if err != nil && ctx.Err() == nil {
		m.Failed = err.Error()
	}
	return m, b.keep(kept)
}

// enough says that a program has its report and so many rounds of each side.
func (c *copies) enough(m *measured, rounds int) bool {
	return len(m.Said) > 0 && len(c.sides(m, rounds)) == 0
}

// recipeOf is the hash of all that decides how the original is run: a program whose recipe changed is measured anew.
func recipeOf(p *program, pins []pin) (string, error) {
	original := *p
	original.Changes = nil
	text, err := json.Marshal(original)
	if err != nil {
		return "", err
	}
	return hashOf([]byte(fmt.Sprint(string(text), p.pinsOf(pins)))), nil
}

// mostScouts is in how many rounds candidates run beside what the first report proposes, to see whether a larger saving was missed.
const mostScouts = 3

// reports is in how many rounds the tool runs: with the first one each program has two reports, which agree or do not. Further rounds go to
// original and change, which are what a judgement waits for.
const reports = 1

// sides are the names of what is to run beside the original until each side has its rounds: what the first report proposes, and the
// candidates, which have fewer where it proposes something.
func (c *copies) sides(m *measured, rounds int) []string {
	var sides []string
	add := func(side string, rounds int) {
		if len(m.pairs(side)) < rounds {
			sides = append(sides, side)
		}
	}
	add(toolSide, min(reports, rounds))
	if c.again {
		add(againSide, rounds)
	}
	first := &m.Said[0]
	for _, ch := range m.changes(c.p) {
		switch {
		case c.all || m.proposes(ch, first) || ch.Candidate && first.Cause == "":
			add(ch.Name, rounds)
		case ch.Candidate:
			add(ch.Name, min(c.scouts, rounds))
		}
	}
	return sides
}

// round runs the original and each side that has fewer rounds than these. The order turns by one place, and every other time it is
// backwards, so that each side stands at each place.
func (c *copies) round(ctx context.Context, m *measured, rounds int) error {
	n := c.has.Rounds
	c.has.Rounds++
	sides := append([]string{plainSide}, c.sides(m, rounds)...)
	took := map[string]float64{}
	load := loadOf()
	var report said
	for _, i := range order(len(sides), n) {
		var err error
		if took[sides[i]], err = c.side(ctx, m, sides[i], n, &report); err != nil {
			return fmt.Errorf("%s: %w", sides[i], err)
		}
	}
	for _, side := range sides[1:] {
		one := pair{Plain: took[plainSide], Took: took[side], Load: load, Machine: c.machine}
		switch side {
		case toolSide:
			m.Tool, m.Said = append(m.Tool, one), append(m.Said, report)
		case againSide:
			m.Again = append(m.Again, one)
		default:
			t := c.has.change(m.named(c.p, side))
			t.Pairs = append(t.Pairs, one)
		}
	}
	m.recall(c.p, c.has, c.machine)
	return nil
}

// first is a program's first run under the tool, whose report is the one that is judged: it says which changes are sides. Its time counts
// for nothing; it also brings everybody's files into memory.
func (c *copies) first(ctx context.Context, m *measured) error {
	var report said
	if _, err := c.underTool(ctx, &report, notTimed); err != nil {
		return err
	}
	m.Said = append(m.Said, report)
	m.Proposed = c.proposal(&report)
	m.recall(c.p, c.has, c.machine)
	if m.Proposed == nil {
		return nil
	}
	return c.change(m.Proposed)
}

// order is the order of a round's sides.
func order(sides, round int) []int {
	places := make([]int, sides)
	for i := range places {
		places[i] = (i + round/2) % sides
	}
	if round%2 == 1 {
		for i, j := 0, sides-1; i < j; i, j = i+1, j-1 {
			places[i], places[j] = places[j], places[i]
		}
	}
	return places
}

// side runs one side once in a round and gives its seconds.
func (c *copies) side(ctx context.Context, m *measured, name string, round int, report *said) (float64, error) {
	if name == toolSide {
		return c.underTool(ctx, report, round)
	}
	folder := original
	ch := m.named(c.p, name)
	if ch != nil {
		folder = name
	}
	took, err := c.run(ctx, folder, c.command(ch), ch, round, c.limit)
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, timed.LastLines(took.Stderr, 3))
	}
	return took.Wall, nil
}

// underTool runs the original under the tool and reads its report. The seconds are of the whole command, its report included.
func (c *copies) underTool(ctx context.Context, first *said, round int) (float64, error) {
	path := filepath.Join(c.dir, "report.json")
	session := filepath.Join(c.dir, "session")
	if err := os.RemoveAll(session); err != nil {
		return 0, err
	}
	args := []string{c.binary, "run", "--out", session, "-o", filepath.Join(c.dir, "report.txt"), "--json", path, "--"}
	took, err := c.run(ctx, original, append(args, c.command(nil)...), nil, round, c.limit)
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, timed.LastLines(took.Stderr, 3))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	*first, err = firstOf(text)
	return took.Wall, err
}

// firstOf reads what a report says first: its first finding that promises a saving.
func firstOf(text []byte) (said, error) {
	var document struct {
		Run struct {
			WallS float64 `json:"wall_s"`
		}
		Findings []struct {
			Cause, Sub, Title string
			Where             struct {
				File string
				Line int
			}
			Saving *saving
			Fix    fix
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return said{}, fmt.Errorf("read the report: %w", err)
	}
	s := said{WallS: document.Run.WallS}
	for _, f := range document.Findings {
		switch {
		case f.Saving == nil || f.Saving.RunS == nil || f.Saving.RunS.Mid <= 0: // nothing of this run
		case s.Promised == nil:
			s.fix = f.Fix
			if len(f.Fix.IDs) > 0 {
				s.Advice = f.Fix.IDs[0]
			}
			s.Cause, s.Sub, s.Title, s.File, s.Line, s.Promised = f.Cause, f.Sub, f.Title, filepath.Base(f.Where.File),
				f.Where.Line, f.Saving.RunS
			s.Alone = f.Fix.alone()
		default:
			s.Others = append(s.Others, label(f.Cause, f.Sub))
		}
	}
	return s, nil
}

// loadOf is the machine's load, of which a busy one is told; 0 where the system does not say.
func loadOf() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	var load float64
	if _, err := fmt.Sscan(strings.Fields(string(text))[0], &load); err != nil {
		return 0
	}
	return load
}
