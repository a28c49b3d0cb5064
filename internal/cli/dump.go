package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"bottleneck/internal/collect"
	"bottleneck/internal/model"
	"bottleneck/internal/record"
	"bottleneck/internal/view"
)

// dumpSchema is the version of the document of dump --json.
const dumpSchema = "bottleneck.dump/1"

func newDumpCommand(a *app) *cobra.Command {
	var locals bool
	var jsonFile, core, root, native string
	cmd := &cobra.Command{
		Use:   "dump PID… | dump --core FILE",
		Short: "Print the Python stacks of running processes once, without stopping them",
		Long: "Prints the stack of every Python thread of the given processes and of their children, once. The processes are\n" +
			"neither stopped nor changed. For the ranks of a job it also says which rank stands in which collective,\n" +
			"and of asyncio's tasks what each awaits.\n" +
			"--core reads a process that has ended, from a core file that the kernel or gcore wrote on this machine.",
		Example: "  bottleneck dump 4242\n" +
			"  bottleneck dump --locals 4242\n" +
			"  bottleneck dump --native 4242\n" +
			"  bottleneck dump --core core.4242\n" +
			"  bottleneck dump $(pgrep -f train.py) --json stacks.json",
		Args: func(_ *cobra.Command, args []string) error {
			if core != "" && len(args) > 0 {
				return usage("dump: give PIDs or --core, not both")
			}
			if core == "" && len(args) == 0 {
				return usage("dump: PID is missing; `pgrep -af python` lists Python processes")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			pids, err := parsePIDs("dump", args)
			if err != nil {
				return err
			}
			mode, err := nativeMode("dump", native)
			if err != nil {
				return err
			}
			if core != "" && mode != collect.NativeOff {
				return usage("dump: --native reads running processes, not --core")
			}
			if core != "" {
				return a.dumpCore(core, root, locals, jsonFile)
			}
			return a.dump(pids, collect.DumpOptions{Locals: locals, Native: mode}, jsonFile)
		},
	}
	cmd.Flags().BoolVar(&locals, "locals", false, "print variables too: numbers, texts, containers by size, others by type")
	addNative(cmd.Flags(), &native)
	cmd.Flags().StringVar(&core, "core", "", "read the core `FILE` of a process that has ended")
	cmd.Flags().StringVar(&root, "root", "", "with --core: the `DIR` that holds the program's files, as / did for it (for a container)")
	cmd.Flags().StringVar(&jsonFile, "json", "", "write the stacks as JSON to `FILE` (- = standard output)")
	return cmd
}

func parsePIDs(command string, args []string) ([]int, error) {
	var pids []int
	for _, s := range args {
		pid, err := strconv.Atoi(s)
		if err != nil || pid <= 0 {
			return nil, usage("%s: %q is not a process number", command, s)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

func (a *app) dump(pids []int, o collect.DumpOptions, jsonFile string) error {
	all := []collect.DumpedProcess{}
	var failed error
	for _, pid := range pids {
		if slices.ContainsFunc(all, func(d collect.DumpedProcess) bool { return d.PID == pid }) {
			continue // a child of one that was dumped
		}
		list, err := collect.Dump(pid, o)
		if err != nil {
			a.warn("%v", err)
			failed = err
			continue
		}
		all = append(all, list...)
	}
	if !readable(all) {
		if failed == nil {
			failed = fmt.Errorf("dump: process %d: %s", all[0].PID, all[0].Reason)
			return unusable(failed)
		}
		return &exitError{code: exitUnusable}
	}
	return a.printDump(all, jsonFile)
}

func (a *app) dumpCore(path, root string, locals bool, jsonFile string) error {
	d, err := collect.DumpCore(path, root, locals)
	if err != nil {
		return unusable(fmt.Errorf("dump: %w", err))
	}
	return a.printDump([]collect.DumpedProcess{d}, jsonFile)
}

// printDump writes stacks as text, or as JSON where a file is named.
func (a *app) printDump(all []collect.DumpedProcess, jsonFile string) error {
	if jsonFile == "" {
		writeDump(a.stdout, all)
		return nil
	}
	data, err := json.MarshalIndent(map[string]any{"schema": dumpSchema, "processes": all}, "", " ")
	if err != nil {
		return unusable(err)
	}
	data = append(data, '\n')
	if jsonFile == "-" {
		_, err = a.stdout.Write(data)
	} else {
		err = os.WriteFile(jsonFile, data, record.FileMode)
	}
	if err != nil {
		return unusable(fmt.Errorf("dump: write stacks: %w", err))
	}
	return nil
}

// readable says whether any process could be read.
func readable(all []collect.DumpedProcess) bool {
	return slices.ContainsFunc(all, func(d collect.DumpedProcess) bool { return d.Reason == "" })
}

// stateText is what a thread does, in words.
var stateText = map[string]string{"cpu": "on CPU", "gil": "waits for the GIL", "blocked": "blocked", "idle": "idle",
	"unknown": "state unknown"}

// writeDump prints processes as text. Names and values come from the program: each stays on its line and steers no terminal.
func writeDump(w io.Writer, all []collect.DumpedProcess) {
	for i, p := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "Process %d%s: %s\n", p.PID, rankText(p), view.Printable(strings.Join(p.Command, " ")))
		if p.Reason != "" {
			fmt.Fprintf(w, "  no stacks: %s\n", p.Reason)
			continue
		}
		fmt.Fprintf(w, "Python %s%s\n", p.Python, map[bool]string{true: ", without a GIL"}[p.NoGIL])
		for _, t := range p.Threads {
			writeThread(w, t)
		}
		if p.NativeReason != "" {
			fmt.Fprintf(w, "\n  no native frames: %s\n", p.NativeReason)
		}
		writeNativeThreads(w, p.NativeThreads)
		writeTasks(w, p.Tasks)
	}
	writeRanks(w, all)
}

// writeTasks prints what asyncio's tasks await, like stacks: the innermost coroutine first.
func writeTasks(w io.Writer, tasks []collect.DumpedTask) {
	for _, t := range tasks {
		fmt.Fprintf(w, "\n  Task %q", t.Name)
		if t.Awaits != "" {
			fmt.Fprintf(w, " awaits %s", view.Printable(t.Awaits))
		}
		fmt.Fprintln(w)
		for _, f := range t.Frames {
			fmt.Fprintf(w, "    %s\n", placeOf(f))
		}
	}
}

// placeOf is a frame as one line of text.
func placeOf(f collect.DumpedFrame) string {
	return view.Printable(fmt.Sprintf("%s (%s:%d)", f.Function, f.File, f.Line))
}

func rankText(p collect.DumpedProcess) string {
	switch {
	case p.Rank != nil && p.Role == model.RoleRank:
		return fmt.Sprintf(" (rank %d)", *p.Rank)
	case p.Rank != nil:
		return fmt.Sprintf(" (%s of rank %d)", p.Role, *p.Rank)
	case p.Role != model.RoleMain && p.Role != model.RoleOther:
		return fmt.Sprintf(" (%s)", p.Role)
	}
	return ""
}

func writeThread(w io.Writer, t collect.DumpedThread) {
	fmt.Fprintf(w, "\n  Thread %d", t.TID)
	if t.Name != "" {
		fmt.Fprintf(w, " %q", t.Name)
	}
	fmt.Fprintf(w, ": %s", stateText[t.State])
	if t.HoldsGIL {
		fmt.Fprint(w, ", holds the GIL")
	}
	if t.Interpreter > 0 {
		fmt.Fprintf(w, ", in subinterpreter %d", t.Interpreter)
	}
	if t.Attached {
		fmt.Fprint(w, ", attached")
	}
	if t.GC {
		fmt.Fprint(w, ", collects garbage")
	}
	fmt.Fprintln(w)
	if t.Fault != "" {
		fmt.Fprintf(w, "    %s\n", t.Fault)
	}
	writeFrames(w, t)
}
