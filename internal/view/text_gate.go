package view

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// GateFormats are the forms in which a gate's answer can be written.
func GateFormats() []string { return []string{"text", "json", "markdown", "junit", "github"} }

// WriteGate writes a gate's answer in one of GateFormats.
func WriteGate(w io.Writer, g *report.Gate, format string, opt DiffTextOptions) error {
	var text string
	switch format {
	case "json":
		return report.WriteGateJSON(w, g)
	case "markdown":
		text = gateMarkdown(g)
	case "junit":
		var err error
		if text, err = gateJUnit(g); err != nil {
			return err
		}
	case "github":
		text = gateGitHub(g)
	default:
		text = gateText(g, opt)
	}
	_, err := io.WriteString(w, text)
	return err
}

func gateText(g *report.Gate, opt DiffTextOptions) string {
	p := newPrinter(&report.Report{}, TextOptions{Width: opt.Width, Color: opt.Color, All: opt.All})
	colour := map[string]style{report.GatePassed: green, report.GateWorse: red}[g.Result]
	if colour == "" {
		colour = yellow
	}
	p.wrapStyled(colour, "", "  ", capital(g.Sentence))
	p.heading("Rules", fmt.Sprintf("against %s, %s", g.Baseline, units.Counted(g.Runs, "run")))
	const indent = "             "
	for i := range g.Rules {
		r := &g.Rules[i]
		p.wrap("  "+pad(r.Result, len(indent)-2), indent, r.Rule+": "+r.Message)
		if line := ruleLine(r); line != "" {
			p.wrap(indent, indent, line)
		}
	}
	p.diffFacts("Differs around it", g.Around)
	for _, n := range g.Notes {
		p.wrap("  ! ", "    ", n)
	}
	return p.out.String()
}

func ruleLine(r *report.GateRule) string {
	if r.Where == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%s:%d  %s", r.Where.File, r.Where.Line, r.Text))
}

func gateMarkdown(g *report.Gate) string {
	cell := strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;", "`", "'")
	var b strings.Builder
	fmt.Fprintf(&b, "**bottleneck: %s**\n\n| | rule | |\n|---|---|---|\n", cell.Replace(units.Printable(g.Sentence)))
	for i := range g.Rules {
		r := &g.Rules[i]
		text := cell.Replace(units.Printable(r.Message))
		if line := ruleLine(r); line != "" {
			text += "<br>`" + cell.Replace(units.Printable(line)) + "`"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", r.Result, cell.Replace(units.Printable(r.Rule)), text)
	}
	if len(g.Around) > 0 {
		b.WriteString("\n| differs around it | before | after |\n|---|---|---|\n")
		for _, f := range g.Around {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cell.Replace(units.Printable(f.What)),
				cell.Replace(units.Printable(cmp.Or(f.Before, unknown))), cell.Replace(units.Printable(cmp.Or(f.After, unknown))))
		}
	}
	for _, n := range g.Notes {
		fmt.Fprintf(&b, "\n%s\n", cell.Replace(units.Printable(n)))
	}
	return b.String()
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string    `xml:"classname,attr"`
	Name    string    `xml:"name,attr"`
	File    string    `xml:"file,attr,omitempty"`
	Line    int       `xml:"line,attr,omitempty"`
	Failure *junitWhy `xml:"failure,omitempty"`
	Skipped *junitWhy `xml:"skipped,omitempty"`
	Out     string    `xml:"system-out,omitempty"`
}

type junitWhy struct {
	Message string `xml:"message,attr"`
}

// gateJUnit is the form that CI systems read as test results: a rule is a test; what cannot be said is skipped.
func gateJUnit(g *report.Gate) (string, error) {
	s := junitSuite{Name: "bottleneck gate", Tests: len(g.Rules)}
	for i := range g.Rules {
		r := &g.Rules[i]
		c := junitCase{Class: "bottleneck", Name: units.Printable(r.Rule)}
		if r.Where != nil {
			c.File, c.Line = units.Printable(r.Where.File), r.Where.Line
		}
		switch r.Result {
		case report.GateWorse:
			s.Failures++
			c.Failure = &junitWhy{units.Printable(r.Message)}
		case report.GateUndecided, report.GateSkipped:
			s.Skipped++
			c.Skipped = &junitWhy{units.Printable(r.Message)}
		default:
			c.Out = units.Printable(r.Message)
		}
		s.Cases = append(s.Cases, c)
	}
	text, err := xml.MarshalIndent(s, "", " ")
	if err != nil {
		return "", fmt.Errorf("write gate: %w", err)
	}
	return xml.Header + string(text) + "\n", nil
}

// mostAnnotations is how many annotations of a kind GitHub keeps of one step of a workflow (GitHub Docs, "Usage limits for annotations").
const mostAnnotations = 10

// gateGitHub is workflow commands: an error for each rule that is worse, at its line; a warning where nothing can be said.
func gateGitHub(g *report.Gate) string {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	var b strings.Builder
	for _, kind := range [][2]string{{report.GateWorse, "error"}, {report.GateUndecided, "warning"}, {report.GateBetter, "notice"}} {
		n, left := 0, 0
		for i := range g.Rules {
			if g.Rules[i].Result == kind[0] {
				left++
			}
		}
		for i := range g.Rules {
			r := &g.Rules[i]
			if r.Result != kind[0] {
				continue
			}
			if n++; n == mostAnnotations && left > mostAnnotations {
				fmt.Fprintf(&b, "::%s title=bottleneck::and %d more rules\n", kind[1], left-n+1)
				break
			}
			at := ""
			if r.Where != nil {
				at = fmt.Sprintf("file=%s,line=%d,", property.Replace(units.Printable(r.Where.File)), r.Where.Line)
			}
			fmt.Fprintf(&b, "::%s %stitle=%s::%s\n", kind[1], at, property.Replace("bottleneck: "+units.Printable(r.Rule)),
				data.Replace(units.Printable(r.Message)))
		}
	}
	fmt.Fprintf(&b, "%s\n", units.Printable(g.Sentence))
	return b.String()
}
