package report

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Names and versions of the documents of a gate.
const (
	GateSchema     = "bottleneck.gate/1"
	BaselineSchema = "bottleneck.baseline/1"
)

// Results of a gate and of its rules. GateSkipped and GateBetter are of rules only.
const (
	GatePassed    = "passed"
	GateBetter    = "better"
	GateWorse     = "worse"
	GateUndecided = "undecided"
	GateSkipped   = "skipped"
)

// Gate is what the rules say of runs against a baseline. Lists are never null.
type Gate struct {
	Schema       string     `json:"schema"`
	Tool         string     `json:"tool,omitempty"`
	Result       string     `json:"result"` // passed, worse or undecided
	Sentence     string     `json:"sentence"`
	Baseline     string     `json:"baseline"` // its path
	OtherMachine bool       `json:"other_machine"`
	Runs         int        `json:"runs"`
	Rules        []GateRule `json:"rules"`
	Around       []DiffFact `json:"around"`
	Notes        []string   `json:"notes"`
	// NewBaseline is that of these runs, where something got better and nothing worse.
	NewBaseline *Baseline `json:"new_baseline,omitempty"`
}

// GateRule is one rule and what came of it. Times are milliseconds.
type GateRule struct {
	Rule       string   `json:"rule"`
	Result     string   `json:"result"`
	Unit       string   `json:"unit"` // "ms", "calls", "times" or "bytes"
	Per        string   `json:"per"`
	Before     *float64 `json:"before,omitempty"`
	After      *float64 `json:"after,omitempty"`
	Difference *float64 `json:"difference,omitempty"`
	Low        *float64 `json:"low,omitempty"` // of the difference
	High       *float64 `json:"high,omitempty"`
	Allowed    *float64 `json:"allowed,omitempty"`
	Where      *Place   `json:"where,omitempty"`
	Text       string   `json:"text,omitempty"` // of the line
	Message    string   `json:"message"`
}

// Baseline is what a gate compares with: one small file to keep with the sources.
type Baseline struct {
	Schema   string            `json:"schema"`
	Tool     string            `json:"tool,omitempty"`
	Program  string            `json:"program,omitempty"`
	Machine  map[string]string `json:"machine"`  // times of another machine say nothing
	Software map[string]string `json:"software"` // counts can change with it
	Per      string            `json:"per"`      // "step" or "run"
	Basis    string            `json:"basis"`
	RunsMs   []float64         `json:"runs_ms"` // medians, one a run
	Counters []CountRow        `json:"counters"`
	Lines    []BaselineLine    `json:"lines"` // of the user's that take most of the time
	// Known are hashes of the lines of the program's files: which lines are new is told by them. "" where there were too many.
	Known string `json:"known,omitempty"`
}

// BaselineLine is one line of the program with its own time.
type BaselineLine struct {
	File string  `json:"file"`
	Line int     `json:"line"`
	Text string  `json:"text"`
	Ms   float64 `json:"ms"`
}

// WriteGateJSON writes the document, one object, indented, with a final newline.
func WriteGateJSON(w io.Writer, g *Gate) error { return writeDocument(w, g, "gate") }

// WriteBaseline writes the baseline, one counter a line, so that changes of it are read easily.
func WriteBaseline(w io.Writer, b *Baseline) error {
	clean(reflect.ValueOf(b).Elem())
	return writeCompact(w, b)
}

func writeDocument(w io.Writer, doc any, what string) error {
	clean(reflect.ValueOf(doc).Elem())
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	return nil
}

// writeCompact writes an object with one line for each field, and for each entry of a list of objects.
func writeCompact(w io.Writer, b *Baseline) error {
	var fields []string
	v := reflect.ValueOf(b).Elem()
	for i := range v.NumField() {
		name, omit := jsonName(v.Type().Field(i))
		if omit && v.Field(i).IsZero() {
			continue
		}
		value, err := compactValue(v.Field(i))
		if err != nil {
			return fmt.Errorf("write baseline: %w", err)
		}
		fields = append(fields, fmt.Sprintf(" %q: %s", name, value))
	}
	_, err := fmt.Fprintf(w, "{\n%s\n}\n", joinLines(fields))
	return err
}

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
