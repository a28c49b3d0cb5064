package view

import (
	"bottleneck/internal/report"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
)

const schemaFile = "../../docs/report.schema.json"

var update = flag.Bool("update", false, "rewrite golden files and the schema's structure")

// schemaOf describes a Go type as JSON Schema: a struct's fields are required unless they are omitted when empty, and no
// other fields are allowed, so that the document and its schema cannot drift apart.
func schemaOf(t reflect.Type, defs map[string]any) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), defs)
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem(), defs)}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem(), defs)}
	case reflect.Struct:
		if _, ok := defs[t.Name()]; !ok {
			defs[t.Name()] = nil // known before its fields are: Finding holds a Finding
			defs[t.Name()] = structSchema(t, defs)
		}
		return map[string]any{"$ref": "#/$defs/" + t.Name()}
	}
	panic("no schema for " + t.String())
}

func structSchema(t reflect.Type, defs map[string]any) map[string]any {
	props, required := map[string]any{}, []string{}
	for i := range t.NumField() {
		name, opts, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		props[name] = schemaOf(t.Field(i).Type, defs)
		if opts != "omitempty" {
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "properties": props, "required": required, "additionalProperties": false}
}

// enums are the fields that hold one of a few words, by the types that they are of.
var enums = map[string]map[string][]string{
	"Confidence": {"level": {"high", "medium", "low"}},
	"Diff": {"verdict": {report.Slower, report.Faster, report.Equal, report.Undecided, report.Unlike},
		"per": {"step", "item", "token", "run"}},
	"DiffTurns": {"stopped": {"decided", "runs", "budget", "interrupted", "failed"}},
	"Proof": {"verdict": {report.ProofSaves, report.ProofCosts, report.ProofNothing, report.ProofUndecided, report.ProofFails},
		"outputs": {report.OutputsSame, report.OutputsDiffer, report.OutputsUnknown}, "per": {"step", "run"}},
	"Gate":     {"result": {report.GatePassed, report.GateWorse, report.GateUndecided}},
	"GateRule": {"result": {report.GatePassed, report.GateBetter, report.GateWorse, report.GateUndecided, report.GateSkipped}},
}

// TestSchemaMatchesTypes keeps the schemas of docs in step with the documents; -update rewrites them.
func TestSchemaMatchesTypes(t *testing.T) {
	for _, d := range []struct {
		file, title, schema string
		of                  reflect.Type
	}{
		{schemaFile, "Report document of bottleneck, version 1", report.Schema, reflect.TypeFor[report.Report]()},
		{"../../docs/diff.schema.json", "Comparison document of bottleneck, version 1", report.DiffSchema, reflect.TypeFor[report.Diff]()},
		{"../../docs/gate.schema.json", "Gate document of bottleneck, version 1", report.GateSchema, reflect.TypeFor[report.Gate]()},
		{"../../docs/proof.schema.json", "Proof document of bottleneck, version 1", report.ProofSchema, reflect.TypeFor[report.Proof]()},
	} {
		want := documentSchema(t, d.of, d.schema, d.title)
		if *update {
			if err := os.WriteFile(d.file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(d.file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s does not describe %s; run go test ./internal/view -run Schema -update", d.file, d.of)
		}
	}
}

func documentSchema(t *testing.T, of reflect.Type, schema, title string) []byte {
	t.Helper()
	defs := map[string]any{}
	schemaOf(of, defs)
	for name, fields := range enums {
		if def, ok := defs[name].(map[string]any); ok {
			for field, words := range fields {
				def["properties"].(map[string]any)[field] = map[string]any{"enum": words}
			}
		}
	}
	if part, ok := defs["Part"].(map[string]any); ok {
		part["properties"].(map[string]any)["share"] = map[string]any{"type": "number", "minimum": 0, "maximum": 1}
	}
	root := defs[of.Name()].(map[string]any)
	delete(defs, of.Name())
	root["properties"].(map[string]any)["schema"] = map[string]any{"const": schema}
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = title
	root["$defs"] = defs
	text, err := json.MarshalIndent(root, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}
