package report

import (
	"bottleneck/internal/units"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
)

// WriteJSON writes the report document, one object, indented, with a final newline.
func WriteJSON(w io.Writer, r *Report) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("write report document: %w", err)
	}
	return nil
}

// sanitise replaces numbers that JSON cannot hold by 0, and nil lists and maps without omitempty by empty ones.
func (r *Report) sanitise() { clean(reflect.ValueOf(r).Elem()) }

func clean(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			clean(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			clean(v.Field(i))
		}
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			clean(v.Index(i))
		}
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			v.SetFloat(0)
		}
	}
}

// PrintableCopy is a deep copy of a report whose texts hold no control characters: they come from the program, its file
// names and its traces, and must not steer the reader's terminal.
func PrintableCopy(r *Report) *Report {
	out := copyPrintable(reflect.ValueOf(r).Elem()).Interface().(Report)
	return &out
}

func copyPrintable(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		out.SetString(units.Printable(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			p := reflect.New(v.Type().Elem())
			p.Elem().Set(copyPrintable(v.Elem()))
			out.Set(p)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(copyPrintable(v.Field(i)))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
		for i := range v.Len() {
			out.Index(i).Set(copyPrintable(v.Index(i)))
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMap(v.Type()))
		}
		for _, k := range v.MapKeys() {
			out.SetMapIndex(copyPrintable(k), copyPrintable(v.MapIndex(k)))
		}
	default:
		out.Set(v)
	}
	return out
}
