package view

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// GateFormats are the forms in which a gate's answer can be written.
func GateFormats() []string { return []string{"text", "json", "markdown", "junit", "github"} }

func jsonName(f reflect.StructField) (name string, omitempty bool) {
	name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name, opts == "omitempty"
}

func joinLines(lines []string) string { return strings.Join(lines, ",\n") }

// compactValue is a value as JSON on one line, a list of objects with one line for each.
func compactValue(v reflect.Value) (string, error) {
	if v.Kind() != reflect.Slice || v.Type().Elem().Kind() != reflect.Struct || v.Len() == 0 {
		text, err := json.Marshal(v.Interface())
		return string(text), err
	}
	var rows []string
	for i := range v.Len() {
		text, err := json.Marshal(v.Index(i).Interface())
		if err != nil {
			return "", err
		}
		rows = append(rows, "  "+string(text))
	}
	return "[\n" + joinLines(rows) + "\n ]", nil
}

// WriteGate writes a gate's answer in one of GateFormats.
func WriteGate(w io.Writer, g *Gate, format string, opt DiffTextOptions) error {
	var text string
	switch format {
	case "json":
		return WriteGateJSON(w, g)
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

func gateText(g *Gate, opt DiffTextOptions) string {
	p := newPrinter(&Report{}, TextOptions{Width: opt.Width, Color: opt.Color, All: opt.All})
	colour := map[string]style{GatePassed: green, GateWorse: red}[g.Result]
	if colour == "" {
		colour = yellow
	}
	p.wrapStyled(colour, "", "  ", capital(g.Sentence))
	p.heading("Rules", fmt.Sprintf("against %s, %s", g.Baseline, counted(g.Runs, "run")))
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

func ruleLine(r *GateRule) string {
	if r.Where == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%s:%d  %s", r.Where.File, r.Where.Line, r.Text))
}

func gateMarkdown(g *Gate) string {
	cell := strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;", "`", "'")
	var b strings.Builder
	fmt.Fprintf(&b, "**bottleneck: %s**\n\n| | rule | |\n|---|---|---|\n", cell.Replace(printable(g.Sentence)))
	for i := range g.Rules {
		r := &g.Rules[i]
		text := cell.Replace(printable(r.Message))
		if line := ruleLine(r); line != "" {
			text += "<br>`" + cell.Replace(printable(line)) + "`"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", r.Result, cell.Replace(printable(r.Rule)), text)
	}
	if len(g.Around) > 0 {
		b.WriteString("\n| differs around it | before | after |\n|---|---|---|\n")
		for _, f := range g.Around {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cell.Replace(printable(f.What)), cell.Replace(printable(cmp.Or(f.Before, unknown))), cell.Replace(printable(cmp.Or(f.After, unknown))))
		}
	}
	for _, n := range g.Notes {
		fmt.Fprintf(&b, "\n%s\n", cell.Replace(printable(n)))
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
func gateJUnit(g *Gate) (string, error) {
	s := junitSuite{Name: "bottleneck gate", Tests: len(g.Rules)}
	for i := range g.Rules {
		r := &g.Rules[i]
		c := junitCase{Class: "bottleneck", Name: printable(r.Rule)}
		if r.Where != nil {
			c.File, c.Line = printable(r.Where.File), r.Where.Line
		}
		switch r.Result {
		case GateWorse:
			s.Failures++
			c.Failure = &junitWhy{printable(r.Message)}
		case GateUndecided, GateSkipped:
			s.Skipped++
			c.Skipped = &junitWhy{printable(r.Message)}
		default:
			c.Out = printable(r.Message)
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
func gateGitHub(g *Gate) string {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	var b strings.Builder
	for _, kind := range [][2]string{{GateWorse, "error"}, {GateUndecided, "warning"}, {GateBetter, "notice"}} {
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
				at = fmt.Sprintf("file=%s,line=%d,", property.Replace(printable(r.Where.File)), r.Where.Line)
			}
			fmt.Fprintf(&b, "::%s %stitle=%s::%s\n", kind[1], at, property.Replace("bottleneck: "+printable(r.Rule)), data.Replace(printable(r.Message)))
		}
	}
	fmt.Fprintf(&b, "%s\n", printable(g.Sentence))
	return b.String()
}
