package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/collect"
	"bottleneck/internal/model"
	"bottleneck/internal/view"
)

// waitsAlone explains the collective that is only inferred.
const waitsAlone = "A rank that sleeps in backward waits for the gradients of the others, or for its GPU."

// noCollective says what the stacks can show: waiting for an asynchronous collective is a call without a Python frame.
const noCollective = "No rank stands in a collective; waiting for an asynchronous one shows as blocked on its line."

// writeRanks puts the ranks of a job side by side, and says which stand in which collective and which are missing there.
func writeRanks(w io.Writer, all []collect.DumpedProcess) {
	var ranks []collect.DumpedProcess
	in := map[string][]int{}
	seen, world := []int{}, 0
	for _, p := range all {
		if p.Rank == nil || p.Role != model.RoleRank {
			continue
		}
		ranks = append(ranks, p)
		seen, world = append(seen, *p.Rank), max(world, p.WorldSize)
		if p.Collective != "" {
			in[p.Collective] = append(in[p.Collective], *p.Rank)
		}
	}
	if len(ranks) < 2 {
		return
	}
	slices.SortStableFunc(ranks, func(a, b collect.DumpedProcess) int { return *a.Rank - *b.Rank })
	slices.Sort(seen)
	seen = slices.Compact(seen)
	fmt.Fprintf(w, "\nRanks side by side\n  %4s %8s  %-24s %-22s %s\n", "rank", "PID", "collective", "state", "line")
	for _, p := range ranks {
		writeRank(w, p)
	}
	if len(in) == 0 {
		fmt.Fprintln(w, "  "+noCollective)
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		shown := view.Printable(name)
		there := slices.Compact(slices.Sorted(slices.Values(in[name])))
		missing := slices.DeleteFunc(slices.Clone(seen), func(rank int) bool { return slices.Contains(there, rank) })
		if len(missing) == 0 {
			fmt.Fprintf(w, "  %s: every rank stands in it.\n", shown)
			continue
		}
		fmt.Fprintf(w, "  %s: in it %s; missing %s\n", shown, rankList(there), rankList(missing))
	}
	if len(in["backward"]) > 0 {
		fmt.Fprintln(w, "  "+waitsAlone)
	}
	if world > len(seen) {
		fmt.Fprintf(w, "  %d of the job's %d ranks were not looked at: they run elsewhere, have ended, or their PIDs were not given.\n",
			world-len(seen), world)
	}
}

// writeRank writes one rank's row: of the thread that stands in the collective, else of the main thread.
func writeRank(w io.Writer, p collect.DumpedProcess) {
	collective, state, line := "-", "", ""
	switch {
	case p.Reason != "":
		line = "not read: " + view.Printable(p.Reason)
	case len(p.Threads) > 0:
		t := p.Threads[0]
		if i := slices.IndexFunc(p.Threads, func(t collect.DumpedThread) bool { return t.Collective != "" }); i >= 0 {
			t = p.Threads[i]
			collective = t.Collective
		}
		state, line = stateText[t.State], userLine(t.Frames)
		if t.HoldsGIL {
			state += ", GIL"
		}
	}
	fmt.Fprintf(w, "  %4d %8d  %-24s %-22s %s\n", *p.Rank, p.PID, view.Printable(collective), state, line)
}

// userLine is the innermost line of the user's own code, else the innermost at all.
func userLine(frames []collect.DumpedFrame) string {
	frames = slices.DeleteFunc(slices.Clone(frames), func(f collect.DumpedFrame) bool { return f.Native })
	i := slices.IndexFunc(frames, func(f collect.DumpedFrame) bool { return code.ClassifyFile(f.File) == code.FileUser })
	if len(frames) == 0 {
		return "no Python code"
	}
	f := frames[max(i, 0)]
	return placeOf(f)
}

// rankList writes ranks that are sorted and differ as ranges: "rank 3", "ranks 0-2, 7".
func rankList(ranks []int) string {
	var parts []string
	for i := 0; i < len(ranks); {
		k := i
		for k+1 < len(ranks) && ranks[k+1] == ranks[k]+1 {
			k++
		}
		part := strconv.Itoa(ranks[i])
		if k > i {
			part += "-" + strconv.Itoa(ranks[k])
		}
		parts, i = append(parts, part), k+1
	}
	if len(ranks) == 1 {
		return "rank " + parts[0]
	}
	return "ranks " + strings.Join(parts, ", ")
}
