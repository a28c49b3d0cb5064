package cli

import (
	"bottleneck/internal/compare"
	"bottleneck/internal/report"
	"bottleneck/internal/view"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// exitUndecided is the exit code of a gate that cannot say; a CI job can tell it from worse.
const exitUndecided = 4

// maxBaseline bounds what is read as a baseline; what is written stays below 50 KB.
const maxBaseline = 1 << 20

// gateOptions are the flags of gate.
type gateOptions struct {
	baseline     string
	write        bool
	rules        []string
	rulesFile    string
	format       string
	json, output string
}

const benchFormat = "benchfmt"

func newGateCommand(a *app) *cobra.Command {
	o := &gateOptions{}
	cmd := &cobra.Command{
		Use:   "gate --baseline FILE [flags] SESSION…",
		Short: "Let a CI job fail when a program got slower or does more, against a saved baseline",
		Long: "Judges runs by rules against a baseline: a small file to keep with the sources. What is counted exactly (operators, " +
			"launches, copies,\nsynchronisations, graph breaks, …) decides with one run. Times decide with four runs on each side, on " +
			"the machine of the baseline.\n\nA rule names something and how much more of it is allowed. Usual rules: 'step +3%', and 0 " +
			"more of everything that is counted exactly.\nExit status: 0 passed, 1 worse, 2 usage, 3 cannot read, 4 cannot say.",
		Example: "  bottleneck gate --baseline perf.json --write-baseline bottleneck-out/\n" +
			"  bottleneck gate --baseline perf.json bottleneck-out/\n" +
			"  bottleneck gate --baseline perf.json --rule 'step +3%' --rule 'launches 0' --rule 'peak-memory +5%' bottleneck-out/\n" +
			"  bottleneck gate --baseline perf.json --format github bottleneck-out/\n" +
			"  bottleneck gate --format benchfmt bottleneck-out/ > new.txt && benchstat old.txt new.txt",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("gate: SESSION is missing: a session, or a directory of sessions, one a run")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.baseline, "baseline", "", "`FILE` to compare with")
	f.BoolVar(&o.write, "write-baseline", false, "make these runs the baseline: write them to the file of --baseline")
	f.StringArrayVar(&o.rules, "rule", nil,
		"a `RULE` like 'step +3%', 'launches 0', 'op aten::item 0', 'peak-memory +10MiB' (can be repeated)")
	f.StringVar(&o.rulesFile, "rules", "", "read rules from `FILE`, one a line")
	f.StringVar(&o.format, "format", "text", "`FORM` of the answer: "+strings.Join(append(view.GateFormats(), benchFormat), ", "))
	f.StringVar(&o.json, "json", "", "write the answer's document to `FILE` as well (- = standard output)")
	f.StringVarP(&o.output, "output", "o", "", "write the answer to `FILE`")
	return cmd
}

func (o *gateOptions) run(ctx context.Context, a *app, args []string) error {
	rules, err := o.check()
	if err != nil {
		return err
	}
	reads, writes := slices.Clone(args), []string{o.output, o.json}
	switch {
	case o.write:
		writes = append(writes, o.baseline)
	case o.baseline != "":
		reads = append(reads, o.baseline)
	}
	a.confine(ctx, needs{inputs: reads, outputs: writes, scratch: true})
	var baseline *report.Baseline
	if o.baseline != "" && !o.write {
		if baseline, err = readBaseline(o.baseline); err != nil {
			return err
		}
	}
	side, err := a.readSide(ctx, args)
	if err != nil {
		return err
	}
	if o.format == benchFormat {
		bench, err := compare.Bench(side)
		if err != nil {
			return unusable(fmt.Errorf("gate: %w", err))
		}
		return o.toOutput(a, func(w io.Writer) error { return view.WriteBenchfmt(w, bench) })
	}
	if o.write {
		return o.writeBaseline(a, side)
	}
	g, err := compare.Gate(baseline, o.baseline, side, rules, Version())
	if err != nil {
		return unusable(fmt.Errorf("gate: %w", err))
	}
	nearPaths(g)
	if err := o.print(a, g); err != nil {
		return err
	}
	if code := map[string]int{report.GateWorse: exitNo, report.GateUndecided: exitUndecided}[g.Result]; code != 0 {
		return &exitError{code, nil}
	}
	return nil
}

// check reads flags and rules.
func (o *gateOptions) check() ([]compare.Rule, error) {
	if err := oneOf("--format", o.format, append(view.GateFormats(), benchFormat)...); err != nil {
		return nil, err
	}
	if o.baseline == "" && o.format != benchFormat {
		return nil,
			usage("gate: --baseline FILE is missing; make one first: bottleneck gate --baseline perf.json --write-baseline SESSION…")
	}
	if o.write && o.baseline == "" {
		return nil, usage("gate: --write-baseline needs --baseline FILE, the file to write")
	}
	texts := o.rules
	if o.rulesFile != "" {
		text, err := os.ReadFile(o.rulesFile)
		if err != nil {
			return nil, unusable(fmt.Errorf("read rules: %w", err))
		}
		for line := range strings.Lines(string(text)) {
			if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) != "" {
				texts = append(texts, line)
			}
		}
	}
	var rules []compare.Rule
	for _, text := range texts {
		r, err := compare.ParseRule(text)
		if err != nil {
			return nil, usage("gate: %v", err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func readBaseline(path string) (*report.Baseline, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil,
			unusable(fmt.Errorf("gate: there is no baseline %s; make one: bottleneck gate --baseline %[1]s --write-baseline SESSION…",
				path))
	} else if err != nil {
		return nil, unusable(fmt.Errorf("gate: %w", err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxBaseline))
	if err != nil {
		return nil, unusable(fmt.Errorf("gate: %w", err))
	}
	b, err := compare.ReadBaseline(text)
	if err != nil {
		return nil, unusable(fmt.Errorf("gate: %s: %w", path, err))
	}
	return b, nil
}

func (o *gateOptions) writeBaseline(a *app, side compare.Side) error {
	b, err := compare.NewBaseline(side, Version())
	if err != nil {
		return unusable(fmt.Errorf("gate: %w", err))
	}
	if err := (&reportOptions{}).toFile(a, o.baseline, func(w io.Writer) error { return report.WriteBaseline(w, b) }); err != nil {
		return err
	}
	if o.baseline != "-" {
		runs := "1 run"
		if n := len(b.RunsMs); n != 1 {
			runs = fmt.Sprintf("%d runs", n)
		}
		fmt.Fprintf(a.stdout, "%s: %s, %d counters\n", o.baseline, runs, len(b.Counters))
	}
	if len(b.RunsMs) < compare.FewestRuns {
		a.warn("times need %d runs a side: this baseline judges counters only", compare.FewestRuns)
	}
	return nil
}

func (o *gateOptions) print(a *app, g *report.Gate) error {
	if o.json != "" {
		err := (&reportOptions{}).toFile(a, o.json, func(w io.Writer) error { return report.WriteGateJSON(w, g) })
		if err != nil || o.json == "-" && o.output == "" {
			return err
		}
	}
	return o.toOutput(a, func(w io.Writer) error {
		return view.WriteGate(w, g, o.format, view.DiffTextOptions{Width: width(w), Color: a.useColor(w)})
	})
}

func (o *gateOptions) toOutput(a *app, write func(io.Writer) error) error {
	if o.output != "" {
		return (&reportOptions{}).toFile(a, o.output, write)
	}
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	_, err := a.stdout.Write(text.Bytes())
	return err
}

// nearPaths names files from the working directory, where they lie below it: annotations need that.
func nearPaths(g *report.Gate) {
	dir, err := os.Getwd()
	if err != nil {
		return
	}
	for i := range g.Rules {
		if w := g.Rules[i].Where; w != nil {
			if near, err := filepath.Rel(dir, w.File); err == nil && filepath.IsLocal(near) {
				w.File = filepath.ToSlash(near)
			}
		}
	}
}
