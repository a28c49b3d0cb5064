package page

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write internal/ui/src/payload.ts anew")

// payloadTypes are the roots of what goes to the page.
var payloadTypes = []any{Summary{}, Table{}, Flame{}, Sources{}, Source{}, Timeline{}, Tile{}, Found{}, Panels{}, Switches{},
	Answer{}, Critical{}, Shared{}}

const payloadFile = "../ui/src/payload.ts"

// TestPayload holds the page's types to the ones here: payload.ts is made of them.
func TestPayload(t *testing.T) {
	want := "// Made from the types of package page by its TestPayload: go test ./internal/page -run Payload -update\n\n" + typeScript()
	if *update {
		if err := os.WriteFile(payloadFile, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(payloadFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("payload.ts differs from the Go types: go test ./internal/page -run Payload -update")
	}
}

func typeScript() string {
	known := map[string]string{}
	clear(owners)
	for _, v := range payloadTypes {
		addInterface(known, reflect.TypeOf(v))
	}
	names := []string{}
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		b.WriteString(known[name])
	}
	return b.String()
}

// owners tells types of one name apart.
var owners = map[string]reflect.Type{}

func addInterface(known map[string]string, t reflect.Type) {
	if of, done := owners[t.Name()]; done {
		if of != t {
			panic(fmt.Sprintf("%v and %v have one name in TypeScript", of, t))
		}
		return
	}
	owners[t.Name()] = t
	var b strings.Builder
	fmt.Fprintf(&b, "export interface %s {\n", t.Name())
	addFields(&b, known, t)
	b.WriteString("}\n\n")
	known[t.Name()] = b.String()
}

func addFields(b *strings.Builder, known map[string]string, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			addFields(b, known, f.Type)
		case f.IsExported() && name != "-":
			mark := ""
			if strings.Contains(options, "omitempty") {
				mark = "?"
			}
			fmt.Fprintf(b, "  %s%s: %s;\n", name, mark, typeName(known, f.Type, mark != ""))
		}
	}
}

// typeName is a type in TypeScript; what is absent rather than null is optional already.
func typeName(known map[string]string, t reflect.Type, optional bool) string {
	switch t.Kind() {
	case reflect.Pointer:
		if optional {
			return typeName(known, t.Elem(), false)
		}
		return typeName(known, t.Elem(), false) + " | null"
	case reflect.Slice:
		if name := typeName(known, t.Elem(), false); strings.Contains(name, " ") {
			return "(" + name + ")[]"
		} else {
			return name + "[]"
		}
	case reflect.Map:
		return "Record<string, " + typeName(known, t.Elem(), false) + ">"
	case reflect.Struct:
		addInterface(known, t)
		return t.Name()
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	}
	return "number"
}
