package compare

import (
	"bottleneck/internal/report"
	"bottleneck/internal/view"
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
)

var steady = []float64{10, 10.05, 9.95, 10.02}

func baseline(t *testing.T, s Side) *report.Baseline {
	t.Helper()
	b, err := NewBaseline(s, "test")
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := report.WriteBaseline(&text, b); err != nil {
		t.Fatal(err)
	}
	read, err := ReadBaseline(text.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, text.Bytes())
	}
	return read
}

func gate(t *testing.T, b *report.Baseline, s Side, rules ...string) *report.Gate {
	t.Helper()
	var parsed []Rule
	for _, text := range rules {
		r, err := ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, r)
	}
	g, err := Gate(b, "perf.json", s, parsed, "test")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func scaledRuns(by float64) Side {
	var ms []float64
	for i, v := range steady {
		ms = append(ms, v*by+0.001*float64(i))
	}
	return runsOf("b", ms...)
}

func TestGate(t *testing.T) {
	more := func(n float64) Side {
		s := scaledRuns(1)
		for _, r := range s.Runs {
			r.Report.Counts.Rows[0] = count("operators", "", n)
		}
		return s
	}
	elsewhere := scaledRuns(2)
	for _, r := range elsewhere.Runs {
		r.Report.Environment.CPUModel = "another"
	}
	varying := scaledRuns(1)
	varying.Runs[0].Report.Counts.Rows[0] = report.CountRow{Kind: "operators", Per: "step", Unit: "calls", Value: 7,
		Low: 6, High: 8, Exact: true}
	for _, c := range []struct {
		name   string
		side   Side
		rules  []string
		result string
	}{
		{"the same", scaledRuns(1), nil, report.GatePassed},
		{"slower", scaledRuns(1.1), nil, report.GateWorse},
		{"slower, which is allowed", scaledRuns(1.1), []string{"step +20%"}, report.GatePassed},
		{"slower by more than ms that are allowed", scaledRuns(1.1), []string{"step 0.5ms"}, report.GateWorse},
		{"faster", scaledRuns(0.9), nil, report.GatePassed},
		{"one more operator", more(7), nil, report.GateWorse},
		{"one more operator, which is allowed", more(7), []string{"operators 1"}, report.GatePassed},
		{"one more operator, of which a fifth is allowed", more(7), []string{"operators +20%"}, report.GatePassed},
		{"fewer operators", more(5), nil, report.GatePassed},
		{"one run, no rule about times", runsOf("b", 20), nil, report.GatePassed},
		{"one run, a rule about times", runsOf("b", 20), []string{"step +3%"}, report.GateUndecided},
		{"another machine", elsewhere, []string{"step +3%", "operators 0"}, report.GatePassed},
		{"another machine, times alone", elsewhere, []string{"step +3%"}, report.GateUndecided},
		{"what nobody counted", scaledRuns(1), []string{"launches 0"}, report.GateUndecided},
		{"an operator that nobody calls", scaledRuns(1), []string{"op aten::item 0"}, report.GatePassed},
		{"a count that varies", varying, []string{"operators 0"}, report.GateUndecided},
	} {
		b := baseline(t, runsOf("a", steady...))
		if g := gate(t, b, c.side, c.rules...); g.Result != c.result {
			t.Errorf("%s: %s: %s\n%+v", c.name, g.Result, g.Sentence, g.Rules)
		} else if g.OtherMachine != strings.HasPrefix(c.name, "another") ||
			g.OtherMachine != strings.Contains(strings.Join(g.Notes, ""), "another machine") {
			t.Errorf("%s: another machine: %v, %v", c.name, g.OtherMachine, g.Notes)
		}
	}
	if g := gate(t, baseline(t, runsOf("a", steady...)), scaledRuns(0.9)); g.NewBaseline == nil || g.NewBaseline.RunsMs[0] > 9.1 {
		t.Errorf("something got better, and there is no new baseline: %+v", g.NewBaseline)
	}
}

func TestGateNamesTheLine(t *testing.T) {
	a, b := runsOf("a", steady...), scaledRuns(1)
	a.Runs[0].Sources = map[string][]string{"/x/train.py": {"def step():", "    loss = f()", "    return loss"}}
	for _, r := range b.Runs {
		r.Report.Counts.Rows = append(r.Report.Counts.Rows, count("op", "aten::item", 1))
		r.Report.Counts.Rows[0] = count("operators", "", 7)
	}
	b.Runs[0].Sources = map[string][]string{
		"/y/train.py": {"def step():", "", "    loss = f()", "    seen = loss.item()", "    return loss"},
	}
	g := gate(t, baseline(t, a), b)
	var rule *report.GateRule
	for i := range g.Rules {
		if g.Rules[i].Rule == "operators 0" {
			rule = &g.Rules[i]
		}
	}
	if rule == nil || rule.Where == nil || rule.Where.Line != 4 || rule.Text != "seen = loss.item()" ||
		!strings.Contains(rule.Message, "aten::item") {
		t.Errorf("%+v", rule)
	}
}

func TestRules(t *testing.T) {
	for text, want := range map[string]Rule{
		"step +3%":           {What: "step", Share: 0.03},
		"  launches   0 ":    {What: "launches"},
		"peak-memory +10MiB": {What: "peak-memory", More: 10 << 20},
		"op aten::item 2":    {What: "op", Name: "aten::item", More: 2},
		"step 2ms":           {What: "step", More: 2},
		"step 0.1s":          {What: "step", More: 100},
	} {
		r, err := ParseRule(text)
		want.Text, want.Given = strings.Join(strings.Fields(text), " "), true
		if err != nil || r != want {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
	for text, says := range map[string]string{"step": "how much more", "stpe 3%": "rules are about", "op 3": "its name",
		"step -3%": "no percentage", "step x": "no limit", "launches 0 1": "one limit", "step +NaN%": "no percentage",
		"step inf": "no limit"} {
		if _, err := ParseRule(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestBaselineIsSmall: thousands of operators and lines leave a file that is easily kept.
func TestBaselineIsSmall(t *testing.T) {
	s := runsOf("a", steady...)
	var src []string
	for i := range 1900 {
		s.Runs[0].Report.Counts.Rows = append(s.Runs[0].Report.Counts.Rows,
			count("op", fmt.Sprintf("aten::an_operator_with_a_long_name_%d", i), 1))
		src = append(src, fmt.Sprintf("line%d = %s", i, strings.Repeat("x", 300)))
	}
	s.Runs[0].Sources = map[string][]string{"/x/train.py": src}
	p := &report.Python{ScopeS: 10}
	for i := range 100 {
		p.Lines = append(p.Lines, report.LineRow{File: "/x/train.py", Line: i + 1, SelfS: 0.01, Source: src[i]})
	}
	s.Runs[0].Report.Python = p
	var text bytes.Buffer
	if err := report.WriteBaseline(&text, baseline(t, s)); err != nil || text.Len() > maxBaselineBytes {
		t.Errorf("%d bytes, %v", text.Len(), err)
	}
}

func TestBaselinesThatAreNone(t *testing.T) {
	for text, says := range map[string]string{"": "no baseline", "{}": `schema ""`,
		`{"schema":"bottleneck.baseline/1","runs_ms":[-1]}`: "makes no sense", `{"schema": 3}`: "no baseline"} {
		if _, err := ReadBaseline([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestGateFormats(t *testing.T) {
	g := gate(t, baseline(t, runsOf("a", steady...)), scaledRuns(1.1))
	g.Rules[0].Where, g.Rules[0].Text = &report.Place{File: "src/tr,ain.py", Line: 7}, "x = 100 % |y|"
	for i := range 30 {
		r := g.Rules[0]
		r.Rule = fmt.Sprint("rule ", i)
		g.Rules = append(g.Rules, r)
	}
	texts := map[string]string{}
	for _, format := range view.GateFormats() {
		var out bytes.Buffer
		if err := view.WriteGate(&out, g, format, view.DiffTextOptions{}); err != nil {
			t.Fatal(err)
		}
		texts[format] = out.String()
	}
	if n := strings.Count(texts["github"], "::error "); n != 10 {
		t.Errorf("%d annotations, GitHub keeps 10:\n%s", n, texts["github"])
	}
	if !strings.Contains(texts["github"], "::error file=src/tr%2Cain.py,line=7,title=bottleneck%3A step +3%25::") {
		t.Error(texts["github"])
	}
	if !strings.Contains(texts["markdown"], `x = 100 % \|y\|`) {
		t.Error(texts["markdown"])
	}
	var suite struct {
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Failure *struct{} `xml:"failure"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal([]byte(texts["junit"]), &suite); err != nil || suite.Failures != 31 || len(suite.Cases) != len(g.Rules) {
		t.Errorf("%v: %+v", err, suite)
	}
}

func TestBenchfmt(t *testing.T) {
	b, err := Bench(scaledRuns(1))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := view.WriteBenchfmt(&out, b); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"Unit operators/step assume=exact better=lower\n",
		"BenchmarkTrain 180 10000000 ns/step 6 operators/step\n"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("no line %q:\n%s", line, out.String())
		}
	}
}
