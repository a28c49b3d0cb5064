package compare

import (
	"bottleneck/internal/report"
	"bottleneck/internal/stats"
	"bottleneck/internal/units"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Rule says how much more than the baseline is allowed of something.
type Rule struct {
	Text  string
	What  string  // "step", or the kind of a counter
	Name  string  // of the operator, for What "op"
	Share float64 // allowed, as a share of the baseline
	More  float64 // allowed, in the counter's unit, or ms
	Given bool    // the user's, not one of the usual ones
}

// ruleUnits are what may stand behind a number in a rule, in milliseconds or bytes.
var ruleUnits = []struct {
	suffix string
	factor float64
}{{"µs", 1e-3}, {"us", 1e-3}, {"ms", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"KB", 1e3}, {"MB", 1e6},
	{"GB", 1e9}, {"s", 1e3}, {"", 1}}

// counterKinds are what rules can be about besides the step.
var counterKinds = []string{"operators", "op", "launches", "copies", "copied", "synchronisations", "driver-allocations", "allocations",
	"allocated", "graph-breaks", "compilations", "recompilations", "collections", "loader-starts", "peak-memory", "files", "file-bytes"}

// RuleNames are the first words of rules.
func RuleNames() []string { return append([]string{perStep}, counterKinds...) }

// ParseRule reads "step +3%", "launches 0", "peak-memory +5%" or "op aten::item 0".
func ParseRule(text string) (Rule, error) {
	words := strings.Fields(text)
	r := Rule{Text: strings.Join(words, " "), Given: true}
	if len(words) < 2 {
		return r, fmt.Errorf("rule %q: write what and how much more is allowed, like 'step +3%%' or 'launches 0'", text)
	}
	r.What = words[0]
	if !slices.Contains(RuleNames(), r.What) {
		return r, fmt.Errorf("rule %q: there is no %q; rules are about: %s", text, r.What, strings.Join(RuleNames(), ", "))
	}
	named := r.What == "op" || r.What == "files" || r.What == "file-bytes"
	if named != (len(words) == 3) || len(words) > 3 {
		return r, fmt.Errorf("rule %q: write %s", text, map[bool]string{true: "its name and the limit, like 'op aten::item 0'",
			false: "one limit, like 'step +3%'"}[named])
	}
	if named {
		r.Name = words[1]
	}
	limit := strings.TrimPrefix(words[len(words)-1], "+")
	if share, ok := strings.CutSuffix(limit, "%"); ok {
		v, err := strconv.ParseFloat(share, 64)
		if err != nil || !(v >= 0 && v < 1e6) {
			return r, fmt.Errorf("rule %q: %q is no percentage like +3%%", text, words[len(words)-1])
		}
		r.Share = v / 100
		return r, nil
	}
	for _, u := range ruleUnits {
		if text, ok := strings.CutSuffix(limit, u.suffix); ok {
			if v, err := strconv.ParseFloat(text, 64); err == nil && v >= 0 && !math.IsInf(v, 0) {
				r.More = v * u.factor
				return r, nil
			}
		}
	}
	return r, fmt.Errorf("rule %q: %q is no limit like +3%%, 0, 5, 2ms or 10MiB", text, words[len(words)-1])
}

// usualRules are those of a gate without any: no more of what is counted exactly, and three per cent of time where there are enough runs.
func usualRules(b *report.Baseline) []Rule {
	out := []Rule{{Text: "step +3%", What: perStep, Share: 0.03}}
	for i := range b.Counters {
		if c := &b.Counters[i]; c.Exact && c.Name == "" {
			out = append(out, Rule{Text: c.Kind + " 0", What: c.Kind})
		}
	}
	return out
}

// gating is a Gate at work.
type gating struct {
	b        *report.Baseline
	c        *comparison
	side     Side
	counters []report.CountRow // of the runs
	doc      *report.Gate
	fresh    []place // lines that the baseline did not know
}

// Gate judges runs by a baseline.
func Gate(b *report.Baseline, name string, s Side, rules []Rule, version string) (*report.Gate, error) {
	c, basis, err := alone(s)
	if err != nil {
		return nil, err
	}
	r := s.Runs[0].Report
	g := &gating{b: b, c: c, side: s, counters: c.baselineCounters(), fresh: newLines(b.Known, userSources(s))}
	g.doc = &report.Gate{Schema: report.GateSchema, Tool: version, Baseline: name, Runs: len(s.Runs), Rules: []report.GateRule{},
		Around: []report.DiffFact{}, Notes: []string{}}
	g.doc.Around = append(facts(b.Machine, machine(r)), facts(b.Software, software(r))...)
	g.doc.OtherMachine = len(facts(b.Machine, machine(r))) > 0
	if g.doc.OtherMachine {
		g.doc.Notes = append(g.doc.Notes, "the baseline is of another machine: only counters are judged")
	}
	if p := program(r); p != b.Program && p != "" && b.Program != "" {
		g.doc.Notes = append(g.doc.Notes, fmt.Sprintf("the baseline is of %s, the runs are of %s", b.Program, p))
	}
	g.doc.Notes = append(g.doc.Notes, sideNotes(s)...)
	if len(rules) == 0 {
		rules = usualRules(b)
	}
	for _, rule := range rules {
		out := g.judge(rule, basis)
		out.Rule = rule.Text
		g.doc.Rules = append(g.doc.Rules, out)
	}
	return g.doc, g.conclude(version)
}

// facts are what two maps say differently.
func facts(before, after map[string]string) []report.DiffFact {
	out := []report.DiffFact{}
	for name := range stats.InOrder(union(before, after)) {
		if before[name] != after[name] {
			out = append(out, report.DiffFact{What: name, Before: before[name], After: after[name]})
		}
	}
	return out
}

func (g *gating) judge(rule Rule, basis string) report.GateRule {
	if rule.What == perStep {
		return g.judgeStep(rule, basis)
	}
	out := report.GateRule{Unit: "calls", Per: perStep}
	before, after := counterOf(g.b.Counters, rule), counterOf(g.counters, rule)
	if after != nil {
		out.Unit, out.Per = after.Unit, after.Per
	} else if before != nil {
		out.Unit, out.Per = before.Unit, before.Per
	}
	switch {
	case before == nil && after == nil && rule.What == "op" && hasKind(g.b.Counters, "op") && hasKind(g.counters, "op"):
		out.Result, out.Message = report.GatePassed, "never called"
		return out
	case rule.What == "op" && before == nil && hasKind(g.b.Counters, "op"):
		before = &report.CountRow{Kind: "op", Name: rule.Name, Exact: true}
	case rule.What == "op" && after == nil && hasKind(g.counters, "op"):
		after = &report.CountRow{Kind: "op", Name: rule.Name, Exact: true}
	}
	switch {
	case before == nil || after == nil:
		side := "the baseline"
		if after == nil {
			side = "the runs"
		}
		out.Result, out.Message = report.GateUndecided, side+" did not count it"
		if !rule.Given {
			out.Result = report.GateSkipped
		}
		return out
	}
	g.count(&out, rule, before, after)
	return out
}

// count compares ranges: of what varies from step to step or from run to run, a rule is broken where even the least is too much, and kept
// where even the most is not.
func (g *gating) count(out *report.GateRule, rule Rule, before, after *report.CountRow) {
	allowed := rule.More + rule.Share*before.Value
	difference := after.Value - before.Value
	out.Before, out.After, out.Difference, out.Allowed = &before.Value, &after.Value, &difference, &allowed
	constant := before.Low == before.High && after.Low == after.High
	switch {
	case after.Low > before.High+allowed:
		out.Result = report.GateWorse
	case constant && after.High < before.Low:
		out.Result = report.GateBetter
	case after.High <= before.High+allowed:
		out.Result = report.GatePassed
	default:
		out.Result = report.GateUndecided
	}
	out.Message = fmt.Sprintf("%s a %s, was %s", amountText(after.Value, out.Unit), out.Per, amountText(before.Value, out.Unit))
	if out.Result == report.GateUndecided {
		out.Message += fmt.Sprintf("; it varies (%s to %s), so that one cannot say", amountText(after.Low, out.Unit),
			amountText(after.High, out.Unit))
	}
	if out.Result == report.GateWorse {
		g.nameLine(out, rule, difference)
	}
}

func amountText(v float64, unit string) string {
	if unit == "bytes" {
		return units.Bytes(v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// nameLine finds the new line behind a counter.
func (g *gating) nameLine(out *report.GateRule, rule Rule, difference float64) {
	d := report.DiffCount{Kind: rule.What, Name: rule.Name, Different: true, Difference: difference}
	if rule.What == "operators" { // what it is made of says more
		for i := range g.counters {
			c := &g.counters[i]
			if c.Kind == "op" && !strings.Contains(c.Name, "::_") {
				if was := counterOf(g.b.Counters, Rule{What: "op", Name: c.Name}); was == nil || was.High < c.Low {
					d.Kind, d.Name = "op", c.Name
					break
				}
			}
		}
		if d.Kind == "op" {
			out.Message += ", among them " + d.Name
		}
	}
	c := &comparison{texts: &texts{added: g.fresh, after: userSources(g.side)}}
	list := []report.DiffCount{d}
	c.nameLines(list)
	out.Where, out.Text = list[0].Where, list[0].Text
}

func hasKind(rows []report.CountRow, kind string) bool {
	return slices.ContainsFunc(rows, func(r report.CountRow) bool { return r.Kind == kind })
}

func counterOf(rows []report.CountRow, rule Rule) *report.CountRow {
	for i := range rows {
		if rows[i].Kind == rule.What && rows[i].Name == rule.Name {
			return &rows[i]
		}
	}
	return nil
}

// judgeStep compares times, where that means something.
func (g *gating) judgeStep(rule Rule, basis string) report.GateRule {
	a, b := g.b.RunsMs, times(g.c.after)
	out := report.GateRule{Unit: "ms", Per: g.c.per, Result: report.GateSkipped}
	cannot := func(format string, args ...any) report.GateRule {
		out.Message = fmt.Sprintf(format, args...)
		if rule.Given && !g.doc.OtherMachine {
			out.Result = report.GateUndecided
		}
		return out
	}
	switch {
	case g.b.Per != g.c.per || g.b.Basis != basis:
		return cannot("the baseline has times of %s, the runs of %s", g.b.Basis, basis)
	case g.doc.OtherMachine:
		return cannot("the baseline's times are of another machine")
	}
	before, after := medianValue(a), medianValue(b)
	s, enough := shift(a, b)
	allowed := rule.More + rule.Share*before
	out.Before, out.After, out.Difference, out.Allowed = &before, &after, &s.Mid, &allowed
	text := fmt.Sprintf("%s, was %s", units.Milliseconds(after), units.Milliseconds(before))
	if !enough {
		return cannot("%s; %s against %s of the baseline say nothing: %d a side are needed", text, runs(len(b)), runs(len(a)), FewestRuns)
	}
	out.Low, out.High = &s.Low, &s.High
	out.Message = fmt.Sprintf("%s: %s to %s", text, units.Percent(s.Low/before), units.Percent(s.High/before))
	switch {
	case s.Low > allowed:
		out.Result = report.GateWorse
		g.slowestLine(&out)
	case s.High < 0:
		out.Result = report.GateBetter
	case s.High <= allowed:
		out.Result = report.GatePassed
	default:
		out.Result = report.GateUndecided
		if more, ok := moreRuns(a, b, max(allowed-s.Mid, 0.1*allowed), independent); ok {
			out.Message += fmt.Sprintf("; %d more runs a side may decide", more)
		}
	}
	return out
}

// slowestLine is the line that got slower by most: by its text, since it may have moved.
func (g *gating) slowestLine(out *report.GateRule) {
	was := map[string]float64{}
	for _, l := range g.b.Lines {
		was[l.Text] += l.Ms
	}
	worst := 0.0
	for _, l := range g.c.lineTimes() {
		short := l.Text[:min(len(l.Text), maxBaselineText)]
		if slower := l.Ms - was[short]; slower > worst {
			worst, out.Where, out.Text = slower, &report.Place{File: l.File, Line: l.Line}, l.Text
		}
	}
	if out.Where != nil {
		out.Message += fmt.Sprintf("; %s:%d takes %s more", path.Base(out.Where.File), out.Where.Line, units.Milliseconds(worst))
	}
}

// conclude makes one result of all rules.
func (g *gating) conclude(version string) error {
	counts := map[string]int{}
	for i := range g.doc.Rules {
		counts[g.doc.Rules[i].Result]++
	}
	judged := counts[report.GatePassed] + counts[report.GateBetter]
	switch {
	case counts[report.GateWorse] > 0:
		g.doc.Result = report.GateWorse
		for i := range g.doc.Rules {
			if r := &g.doc.Rules[i]; r.Result == report.GateWorse {
				g.doc.Sentence = fmt.Sprintf("worse: %s: %s.", r.Rule, r.Message)
				break
			}
		}
		return nil
	case counts[report.GateUndecided] > 0 || judged == 0:
		g.doc.Result = report.GateUndecided
		g.doc.Sentence = fmt.Sprintf("cannot say: %d of %d rules are not decided.", len(g.doc.Rules)-judged, len(g.doc.Rules))
		return nil
	}
	g.doc.Result, g.doc.Sentence = report.GatePassed, fmt.Sprintf("passed: %d of %d rules hold", judged, len(g.doc.Rules))
	if n := counts[report.GateSkipped]; n > 0 {
		g.doc.Sentence += fmt.Sprintf(", %d could not be judged", n)
	}
	g.doc.Sentence += "."
	if counts[report.GateBetter] == 0 {
		return nil
	}
	var err error
	g.doc.Sentence += fmt.Sprintf(" %d are better: keep that with --write-baseline.", counts[report.GateBetter])
	g.doc.NewBaseline, err = NewBaseline(g.side, version)
	return err
}
