package rerun

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

//go:embed py/isolate.py
var isolating string

// Alone is an operator that a script runs alone, with what is known of its work.
type Alone struct {
	Op
	Flops   int64  // floating-point operations of a call; 0 unknown
	Formula string // how they were counted
	// Peaks of the device, per second; 0 unknown.
	PeakFlops, PeakBytes float64
	PeakOf               string // whose they are
}

// ScriptOptions are what a script says of its recording.
type ScriptOptions struct {
	Torch   string  // version; "" unknown
	Threads int     // of an operator; 0 unknown
	Others  float64 // cores that other programs kept busy meanwhile; 0 unknown
}

// IsolateTolerance is how far an isolated operator's time may be from the recorded one, as a share of it.
const IsolateTolerance = 0.15

// mostOthers bounds what a recording can say of cores.
const mostOthers = 1e4

// Script is a Python program that runs operators alone and needs PyTorch only. All that comes from a recording is a literal in it.
func Script(ops []Alone, o ScriptOptions) (string, error) {
	var calls callTable
	var data strings.Builder
	data.WriteString("OPERATORS = [\n")
	for i := range ops {
		if !name.MatchString(ops[i].Name) {
			return "", fmt.Errorf("%q is no operator's name", ops[i].Name)
		}
		text, err := ops[i].literal(&calls)
		if err != nil {
			return "", fmt.Errorf("%s: %w", ops[i].Name, err)
		}
		data.WriteString(text)
	}
	data.WriteString("]\nCALLS = [\n" + strings.Join(calls.lines, "") + "]\n")
	fmt.Fprintf(&data, "RECORDED_TORCH = %s\nRECORDED_THREADS = %d\nRECORDED_OTHERS = %.2f\nTOLERANCE = %g\n", quoted(o.Torch),
		max(o.Threads, 0), min(max(o.Others, 0), mostOthers), IsolateTolerance)
	before, rest, _ := strings.Cut(isolating, "# RECORDED\n")
	_, after, _ := strings.Cut(rest, "# END OF RECORDED\n")
	return with(before + data.String() + after), nil
}

// callTable numbers what operators were called with, each once: a program's steps call the same again and again.
type callTable struct {
	lines   []string // of a list of Python
	numbers map[string]int
}

func (t *callTable) number(c *Call) (int, error) {
	if !name.MatchString(c.Name) {
		return 0, fmt.Errorf("%q is no operator's name", c.Name)
	}
	entries, err := c.entries()
	if err != nil {
		return 0, err
	}
	line := "    {" + strings.Join(entries, ", ") + "},\n"
	n, ok := t.numbers[line]
	if !ok {
		if t.numbers == nil {
			t.numbers = map[string]int{}
		}
		n = len(t.lines)
		t.numbers[line], t.lines = n, append(t.lines, line)
	}
	return n, nil
}

// entries are what a call took as entries of a dictionary of Python.
func (c *Call) entries() ([]string, error) {
	return entries([]entry{{"name", c.Name}, {"shapes", orList(c.Shapes)}, {"strides", orList(c.Strides)}, {"types", orList(c.Types)},
		{"concrete", orList(c.Concrete)}, {"inside", c.Inside}})
}

type entry struct {
	key   string
	value any
}

func entries(list []entry) ([]string, error) {
	out := make([]string, len(list))
	for i, one := range list {
		text, err := json.Marshal(one.value)
		if err != nil {
			return nil, err
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		var plain any
		if err := decoder.Decode(&plain); err != nil {
			return nil, err
		}
		literal, err := python(plain)
		if err != nil {
			return nil, err
		}
		out[i] = quoted(one.key) + ": " + literal
	}
	return out, nil
}

// literal is the operator as a dictionary of Python.
func (a *Alone) literal(calls *callTable) (string, error) {
	c := Call{a.Name, a.Shapes, a.Strides, a.Types, a.Concrete, a.Inside}
	took, err := c.entries()
	if err != nil {
		return "", err
	}
	place := a.Place
	if place == nil {
		place = &Place{}
	}
	rest, err := entries([]entry{{"recorded_us", a.RecordedUs}, {"recorded_low_us", a.LowUs}, {"recorded_high_us", a.HighUs},
		{"recorded_calls", a.Calls}, {"device", a.Device}, {"flops", a.Flops}, {"formula", a.Formula}, {"peak_flops", a.PeakFlops},
		{"peak_bytes", a.PeakBytes}, {"peak_of", a.PeakOf}, {"place_us", place.Us}, {"caller", place.Caller},
		{"neighbours", append([]float64{}, place.Neighbours...)},
		{"gap", []float64{place.Gap.Busy, place.Gap.Asleep}}})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("    {\n")
	for _, entry := range append(took, rest...) {
		b.WriteString("        " + entry + ",\n")
	}
	b.WriteString("        \"before\": [")
	for i := range place.Before {
		number, err := calls.number(&place.Before[i].Call)
		if err != nil {
			return "", err
		}
		if i%beforeInLine == 0 {
			b.WriteString("\n           ")
		}
		fmt.Fprintf(&b, " (%d, %.0f, %.0f),", number, place.Before[i].Gap.Busy, place.Before[i].Gap.Asleep)
	}
	b.WriteString("],\n    },\n")
	return b.String(), nil
}

// beforeInLine is how many calls before an operator stand in a line of its script.
const beforeInLine = 8

func orList(text json.RawMessage) json.RawMessage {
	if !strings.HasPrefix(string(text), "[") { // no list at all
		return json.RawMessage("[]")
	}
	return text
}

// python writes a value of JSON as a literal of Python: text never ends a literal early.
func python(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "None", nil
	case bool:
		if v {
			return "True", nil
		}
		return "False", nil
	case json.Number:
		return v.String(), nil // a number of JSON is one of Python
	case string:
		return quoted(v), nil
	case []any:
		parts := make([]string, len(v))
		for i, one := range v {
			text, err := python(one)
			if err != nil {
				return "", err
			}
			parts[i] = text
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	case map[string]any:
		var parts []string
		for _, key := range []string{"name", "shapes", "types", "concrete"} {
			if one, ok := v[key]; ok {
				text, err := python(one)
				if err != nil {
					return "", err
				}
				parts = append(parts, quoted(key)+": "+text)
			}
		}
		return "{" + strings.Join(parts, ", ") + "}", nil
	}
	return "", fmt.Errorf("no literal for %T", value)
}

// quoted is a text as a literal of Python in ASCII. Go's escapes are among Python's.
func quoted(text string) string { return strconv.QuoteToASCII(strings.ToValidUTF8(text, "?")) }
