package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"bottleneck/internal/collect"
	"bottleneck/internal/record"
	"bottleneck/internal/view"
)

// addNative adds the flag --native, whose value may be left out.
func addNative(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "native", "", "show the C and C++ functions that Python lines stand in (`HOW`: watch, stopping nothing; stop: stops "+
		"each thread that runs for some 50 µs per sample)")
	f.Lookup("native").NoOptDefVal = string(collect.NativeWatch)
}

// nativeMode checks the value of --native.
func nativeMode(command, value string) (collect.NativeMode, error) {
	mode := collect.NativeMode(value)
	if !slices.Contains([]collect.NativeMode{collect.NativeOff, collect.NativeWatch, collect.NativeStop}, mode) {
		return "", usage("%s: --native is watch or stop, not %q", command, value)
	}
	return mode, nil
}

// noteNative says how many samples have native frames, and why others have none.
func noteNative(stats collect.SamplerStats, l *record.Launcher) {
	sum, reason := stats.NativeOf()
	if reason != "" {
		l.AddNote("native-missing", "native frames of running threads are missing: "+reason)
	}
	all := sum.Whole + sum.Partial + sum.Missing
	if all == 0 {
		return
	}
	share := func(n int64) string { return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(all)) }
	text := fmt.Sprintf("native frames: %s of the stacks have all of theirs, %s the innermost, %s none", share(sum.Whole),
		share(sum.Partial), share(sum.Missing))
	reasons := slices.SortedFunc(maps.Keys(sum.Reasons), func(a, b string) int { return cmp.Compare(sum.Reasons[b], sum.Reasons[a]) })
	for i, why := range reasons[:min(len(reasons), 3)] {
		text += []string{" (", "; ", "; "}[i] + fmt.Sprintf("%s: %s", share(sum.Reasons[why]), why)
	}
	if len(reasons) > 0 {
		text += ")"
	}
	l.AddNote("native", text)
}

// writeNativeThreads prints threads that run no Python, those with the same stack together.
func writeNativeThreads(w io.Writer, threads []collect.DumpedThread) {
	var order []string
	same := map[string][]collect.DumpedThread{}
	for _, t := range threads {
		var key strings.Builder
		for _, f := range t.Frames {
			fmt.Fprintf(&key, "%s\x00%s\x00", f.Function, f.File)
		}
		k := key.String() + t.State + t.Native
		if same[k] == nil {
			order = append(order, k)
		}
		same[k] = append(same[k], t)
	}
	for _, k := range order {
		group := same[k]
		if len(group) == 1 {
			writeThread(w, group[0])
			continue
		}
		var ids []string
		for _, t := range group {
			ids = append(ids, strconv.Itoa(t.TID))
		}
		fmt.Fprintf(w, "\n  %d native threads (%s): %s\n", len(group), wrapIDs(ids), stateText[group[0].State])
		writeFrames(w, group[0])
	}
}

// wrapIDs writes at most some of many numbers.
func wrapIDs(ids []string) string {
	const most = 6
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return strings.Join(ids[:most], ", ") + ", …"
}

// writeFrames prints a thread's frames and what is missing of them.
func writeFrames(w io.Writer, t collect.DumpedThread) {
	for _, f := range t.Frames {
		if f.Native {
			fmt.Fprintf(w, "    %s\n", view.Printable(fmt.Sprintf("%s [%s]", f.Function, libraryName(f.File))))
			continue
		}
		fmt.Fprintf(w, "    %s\n", placeOf(f))
		for _, l := range f.Locals {
			fmt.Fprintf(w, "        %s\n", view.Printable(l.Name+" = "+l.Value))
		}
	}
	if t.Native != "" {
		fmt.Fprintf(w, "    (native frames are missing: %s)\n", t.Native)
	}
}

func libraryName(file string) string {
	if file == "" {
		return "no file"
	}
	return path.Base(file)
}
