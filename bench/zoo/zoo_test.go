package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const zooDir = "../../testdata/zoo"

func allCases(t *testing.T) []testCase {
	t.Helper()
	cases, err := readCases(zooDir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// The expected line of each program is the one that is marked, and stays where it is when names and sizes are drawn.
func TestDrawnCasesKeepTheirPlace(t *testing.T) {
	for _, c := range allCases(t) {
		if c.recorded() {
			continue
		}
		for seed := uint64(1); seed <= 3; seed++ {
			d := c.drawn(seed)
			dir := t.TempDir()
			variants := []string{"slow", "fixed"}
			if c.healthy() {
				variants = variants[:1]
			}
			for _, v := range variants {
				script, err := c.write(v, d, filepath.Join(dir, v))
				if err != nil {
					t.Fatal(err)
				}
				if filepath.Base(script) != d.entry {
					t.Errorf("%s: the script is called %s, want %s", c.name, filepath.Base(script), d.entry)
				}
			}
			if c.expect.Line > 0 {
				at := lineOf(t, filepath.Join(dir, "slow", d.expected(c.expect.File, &c.expect)), c.expect.Line)
				if !strings.Contains(at, "# here") {
					t.Errorf("%s: line %d is %q, which is not marked", c.name, c.expect.Line, at)
				}
			}
		}
	}
}

func lineOf(t *testing.T, path string, line int) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	if line > len(lines) {
		return ""
	}
	return lines[line-1]
}

// Two seeds give different programs, one seed the same one.
func TestSeedDecides(t *testing.T) {
	for _, c := range allCases(t) {
		if c.recorded() {
			continue
		}
		text := map[uint64][]byte{}
		for _, seed := range []uint64{1, 2} {
			for range 2 {
				script, err := c.write("slow", c.drawn(seed), t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				got, err := os.ReadFile(script)
				if err != nil {
					t.Fatal(err)
				}
				if text[seed] != nil && !bytes.Equal(text[seed], got) {
					t.Errorf("%s: seed %d gives two programs", c.name, seed)
				}
				text[seed] = got
			}
		}
		if len(c.expect.Names) > 0 && bytes.Equal(text[1], text[2]) {
			t.Errorf("%s: seeds 1 and 2 give the same program", c.name)
		}
	}
}

// Every name that is to be drawn occurs, every size is a constant of the case.
func TestDrawnNamesOccur(t *testing.T) {
	for _, c := range allCases(t) {
		if c.recorded() {
			continue
		}
		all := ""
		for _, dir := range []string{c.dir, filepath.Join(zooDir, c.expect.Base)} {
			if dir == zooDir {
				continue
			}
			err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
				if err == nil && strings.HasSuffix(path, ".py") {
					text, _ := os.ReadFile(path)
					all += "\n" + e.Name() + "\n" + string(text)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range c.expect.Names {
			if !strings.Contains(all, name) {
				t.Errorf("%s: no %s to rename", c.name, name)
			}
		}
		for name, limits := range c.expect.Sizes {
			if !strings.Contains(all, "\n"+name+" = ") || limits[0] > limits[1] {
				t.Errorf("%s: %s is no constant, or has the limits %v", c.name, name, limits)
			}
		}
	}
}

// The scores of a known outcome.
func TestScores(t *testing.T) {
	o := outcome{expect: &expect{Cause: "python", Place: Place{"slow.py", 10}}, file: func(string) string { return "amber.py" },
		slow: []document{promising(3, 4, 4.2)}, wall: [][2]float64{{10, 5.9}, {10.1, 6}, {9.9, 5.8}}}
	if !o.named() || !o.placed() || !o.decided() || !o.priced() || o.held() != 1 {
		t.Errorf("named %v placed %v decided %v priced %v held %d, want all", o.named(), o.placed(), o.decided(), o.priced(), o.held())
	}
	f := &o.slow[0].Findings[0]
	f.Where.Line, f.Saving.RunS.High = 13, 4.05
	o.wall[0][1] = 2
	if o.placed() || o.held() != 0 || o.decided() {
		t.Errorf("placed %v held %d decided %v, want none", o.placed(), o.held(), o.decided())
	}
	f.Cause = "input"
	if o.named() {
		t.Error("named although another cause is first")
	}
}

// promising is a report whose one finding promises a saving.
func promising(low, mid, high float64) document {
	f := finding{Cause: "python", Share: 0.4, Saving: &saving{RunS: &span{low, mid, high}}}
	f.Where.File, f.Where.Line = "/tmp/x/amber.py", 12
	return document{Findings: []finding{f}}
}

// A price is the median of all profiles' promises: one that was spoilt does not decide it. Each profile's interval is judged alone.
func TestPriceOfSeveralProfiles(t *testing.T) {
	o := outcome{name: "case", expect: &expect{Cause: "python"}, slow: []document{promising(9, 10, 11), promising(3.5, 4.2, 4.6),
		promising(3, 4, 5)},
		wall: [][2]float64{{10, 6}, {10.1, 6}, {9.9, 6}}}
	if got := o.predicted(); got != (span{3.5, 4.2, 5}) {
		t.Errorf("predicted %v, want {3.5 4.2 5}", got)
	}
	if !o.priced() || o.held() != 2 {
		t.Errorf("priced %v (%.2f), held %d; want it priced and held by two", o.priced(), o.ratio(), o.held())
	}
	o.slow[1].Findings = nil // promises nothing
	if got := o.predicted(); got.Mid != 4 || o.held() != 1 {
		t.Errorf("predicted %v, held %d; want 4 and one", got, o.held())
	}
	var row, sums strings.Builder
	o.write(&row)
	totals(&sums, []outcome{o, o})
	if !strings.Contains(row.String(), " 1/3 ") || !strings.Contains(sums.String(), "2 of 6 (33 %)") {
		t.Errorf("row %q, totals %q; want 1/3 and 2 of 6", row.String(), sums.String())
	}
}

// A machine that becomes slower while a case runs changes both of a pair: the saving is known all the same.
func TestSavingOfPairsUnderDrift(t *testing.T) {
	o := outcome{wall: [][2]float64{{10, 6}, {13, 9.1}, {16.1, 12}}}
	if saved, half := o.real(); saved < 3.99 || saved > 4.01 || half > 0.3 || !o.decided() {
		t.Errorf("%.2f ± %.2f s, want 4.00 ± 0.25", saved, half)
	}
	o.wall = o.wall[:1]
	if saved, half := o.real(); saved != 4 || !math.IsInf(half, 1) || o.decided() {
		t.Errorf("%.2f ± %.2f s of one pair, want 4 without a limit", saved, half)
	}
}

// The half that is set apart is drawn by the cases' names: both have programs and recordings, and together they are the zoo.
func TestHalvesOfTheZoo(t *testing.T) {
	count := map[bool]map[bool]int{false: {}, true: {}} // by half, then recorded or not
	all := make([]outcome, 0, 100)
	for _, c := range allCases(t) {
		count[apart(c.name)][c.recorded()]++
		all = append(all, outcome{name: c.name, expect: &expect{Cause: "python"}, file: func(f string) string { return f },
			slow: []document{promising(3, 4, 5)}})
	}
	for half, n := range count {
		if n[false] < 15 || n[true] < 8 {
			t.Errorf("apart %v: %d programs and %d recordings are too few to tell anything", half, n[false], n[true])
		}
	}
	var w strings.Builder
	totals(&w, all)
	building, aside := count[false][false]+count[false][true], count[true][false]+count[true][true]
	if want := fmt.Sprintf("named %d of %d %d of %d %d of %d", building, building, aside, aside, len(all), len(all)); !strings.Contains(
		strings.Join(strings.Fields(strings.ReplaceAll(w.String(), "(100 %)", "")), " "), want) {
		t.Errorf("totals %s\nwant %s", w.String(), want)
	}
}
