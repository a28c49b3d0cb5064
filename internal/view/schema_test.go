package view

import (
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

// TestSchemaMatchesTypes keeps docs/report.schema.json in step with Report; -update rewrites it.
func TestSchemaMatchesTypes(t *testing.T) {
	defs := map[string]any{}
	schemaOf(reflect.TypeFor[Report](), defs)
	share := map[string]any{"type": "number", "minimum": 0, "maximum": 1}
	defs["Part"].(map[string]any)["properties"].(map[string]any)["share"] = share
	root := defs["Report"].(map[string]any)
	delete(defs, "Report")
	root["properties"].(map[string]any)["schema"] = map[string]any{"const": Schema}
	defs["Confidence"].(map[string]any)["properties"].(map[string]any)["level"] = map[string]any{"enum": []string{"high", "medium", "low"}}
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Report document of bottleneck, version 1"
	root["$defs"] = defs
	want, err := json.MarshalIndent(root, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s does not describe view.Report; run go test ./internal/view -run Schema -update", schemaFile)
	}
}
