package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"bottleneck/internal/collect"
)

const churnProgram = "internal/cpython/testdata/churn.py"

// torn samples a program whose calls are known and counts stacks that were given up, and edges that it never made.
func (b *bench) torn() error {
	edges, err := readEdges(churnProgram)
	if err != nil {
		return err
	}
	var versions []string
	for v := range b.pythons {
		versions = append(versions, v)
	}
	slices.SortFunc(versions, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	for _, v := range versions {
		if err := b.tornIn(v, edges); err != nil {
			return err
		}
	}
	return nil
}

// readEdges finds who may call a function: the remark "# from A, B" behind its definition.
func readEdges(path string) (map[string][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	edges := map[string][]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		def, remark, ok := strings.Cut(s.Text(), "  # from ")
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(def), "def "), "(")
		edges[name] = strings.Split(remark, ", ")
	}
	return edges, nil
}

// wrong says whether a stack, outermost first, holds a call that the program never makes.
func wrong(edges map[string][]string, names []string) bool {
	for i, n := range names {
		from, known := edges[n]
		if known && (i == 0 || !slices.Contains(from, names[i-1])) {
			return true
		}
	}
	return false
}

func (b *bench) tornIn(version string, edges map[string][]string) error {
	w, err := start(-1, b.pythons[version], churnProgram, "60")
	if err != nil {
		return err
	}
	defer w.stop()
	var bad, seen int64
	var names []string
	s, err := collect.StartSampler(context.Background(), collect.SamplerOptions{PID: w.pid(), Hz: 1000, Live: func(l collect.LiveSample) {
		names = names[:0]
		for i := len(l.Frames) - 1; i >= 0; i-- {
			names = append(names, l.Frames[i].Function)
		}
		if seen++; wrong(edges, names) {
			bad++
			fmt.Printf("    CPython %s: %s\n", version, strings.Join(names, " → "))
		}
	}})
	if err != nil {
		return err
	}
	time.Sleep(4 * time.Second)
	st := s.Stop()
	if st.Samples == 0 {
		return fmt.Errorf("CPython %s: no sample", version)
	}
	lost := row{what: version + ": stacks given up", format: "%.3f %%", goal: "≤ 0.1 %", limit: 0.1,
		value: 100 * float64(st.Failed) / float64(st.Failed+st.Samples)}
	if slices.Contains([]string{"3.8", "3.9", "3.10"}, version) {
		lost.goal, lost.limit = "detected and dropped", 0
	}
	b.table.add(lost)
	r := row{what: version + ": stacks with a call that was never made", format: "%.3f %%", goal: "none", limit: 1e-9,
		value: 100 * float64(bad) / float64(seen)}
	for _, p := range b.samplers()[1:] {
		share, err := wrongShare(p, w.pid(), edges)
		if err != nil {
			fmt.Printf("    %s on CPython %s: %v\n", p.name, version, err)
			continue
		}
		p.set(&r, max(share, 1e-9)) // 0 would read as not measured
	}
	b.table.add(r)
	return nil
}

// wrongShare is a peer's share of samples with a call that was never made.
func wrongShare(s *sampler, pid int, edges map[string][]string) (float64, error) {
	folder, err := os.MkdirTemp("", "bottleneck-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	if _, _, err := used(-1, s.command(pid, 1000, 2, false, folder)...); err != nil {
		return 0, err
	}
	var bad, all int64
	err = s.stacks(folder, func(names []string, n int64) {
		if all += n; wrong(edges, names) {
			bad += n
		}
	})
	if err == nil && all == 0 {
		err = fmt.Errorf("nothing recorded")
	}
	return 100 * float64(bad) / float64(all), err
}
