package cli

import (
	"encoding/json"
	"fmt"
	"strings"
)

// parseMetadata reads KEY=VALUE, a string, and KEY:=JSON.
func parseMetadata(pairs []string) (texts map[string]string, values map[string]json.RawMessage, err error) {
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		name, isJSON := strings.CutSuffix(key, ":")
		switch {
		case !ok || name == "":
			return nil, nil, fmt.Errorf("%q is not KEY=VALUE or KEY:=JSON", pair)
		case !isJSON:
			if texts == nil {
				texts = map[string]string{}
			}
			texts[key] = value
			continue
		case !json.Valid([]byte(value)):
			return nil, nil, fmt.Errorf("%s: %q is not JSON; a string needs its quotes, or KEY=VALUE", name, value)
		}
		if values == nil {
			values = map[string]json.RawMessage{}
		}
		values[name] = json.RawMessage(value)
	}
	return texts, values, nil
}

// parseSettings reads KEY=VALUE, where VALUE is JSON or, if it is not, a string; a bare KEY is true. "True" and "False" are
// Python's.
func parseSettings(pairs []string) (map[string]any, error) {
	var out map[string]any
	for _, pair := range pairs {
		key, text, valued := strings.Cut(pair, "=")
		if key == "" {
			return nil, fmt.Errorf("%q is not KEY=VALUE", pair)
		}
		var value any = true
		if valued {
			if text == "True" || text == "False" {
				text = strings.ToLower(text)
			}
			if json.Unmarshal([]byte(text), &value) != nil {
				value = text
			}
		}
		if out == nil {
			out = map[string]any{}
		}
		out[key] = value
	}
	return out, nil
}
