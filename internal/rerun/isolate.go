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
	Torch   string // version; "" unknown
	Threads int    // of an operator; 0 unknown
}

// IsolateTolerance is how far an isolated operator's time may be from the recorded one, as a share of it.
const IsolateTolerance = 0.15

// Script is a Python program that runs operators alone and needs PyTorch only. All that comes from a recording is a literal in it.
func Script(ops []Alone, o ScriptOptions) (string, error) {
	var data strings.Builder
	data.WriteString("OPERATORS = [\n")
	for i := range ops {
		if !name.MatchString(ops[i].Name) {
			return "", fmt.Errorf("%q is no operator's name", ops[i].Name)
		}
		text, err := ops[i].literal()
		if err != nil {
			return "", fmt.Errorf("%s: %w", ops[i].Name, err)
		}
		data.WriteString(text)
	}
	data.WriteString("]\n")
	fmt.Fprintf(&data, "RECORDED_TORCH = %s\nRECORDED_THREADS = %d\nTOLERANCE = %g\n", quoted(o.Torch), max(o.Threads, 0), IsolateTolerance)
	before, rest, _ := strings.Cut(isolating, "# RECORDED\n")
	_, after, _ := strings.Cut(rest, "# END OF RECORDED\n")
	return with(before + data.String() + after), nil
}

// literal is the operator as a dictionary of Python.
func (a *Alone) literal() (string, error) {
	var b strings.Builder
	b.WriteString("    {\n")
	write := func(key string, value any) error {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		var plain any
		if err := decoder.Decode(&plain); err != nil {
			return err
		}
		literal, err := python(plain)
		fmt.Fprintf(&b, "        %s: %s,\n", quoted(key), literal)
		return err
	}
	for _, field := range []struct {
		key   string
		value any
	}{
		{"name", a.Name}, {"shapes", orList(a.Shapes)}, {"strides", orList(a.Strides)}, {"types", orList(a.Types)},
		{"concrete", orList(a.Concrete)}, {"inside", a.Inside}, {"recorded_us", a.RecordedUs},
		{"device", a.Device}, {"flops", a.Flops}, {"formula", a.Formula},
		{"peak_flops", a.PeakFlops}, {"peak_bytes", a.PeakBytes}, {"peak_of", a.PeakOf},
	} {
		if err := write(field.key, field.value); err != nil {
			return "", err
		}
	}
	b.WriteString("    },\n")
	return b.String(), nil
}

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
