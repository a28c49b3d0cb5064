package arguments

import (
	"strconv"
	"strings"
)

// Object reads the top level of a JSON object into texts: strings without their quotes (escapes left as written), numbers
// and nested values as written. Damaged text gives what came before the damage.
func Object(text string) map[string]string {
	out := map[string]string{}
	rest := strings.TrimSpace(text)
	if rest == "" || rest[0] != '{' {
		return out
	}
	rest = rest[1:]
	for {
		rest = strings.TrimLeft(rest, " \t\r\n,")
		key, after, ok := flatString(rest)
		if !ok {
			return out
		}
		after = strings.TrimLeft(after, " \t\r\n")
		if after == "" || after[0] != ':' {
			return out
		}
		after = strings.TrimLeft(after[1:], " \t\r\n")
		value, next, ok := flatValue(after)
		if !ok {
			return out
		}
		out[key], rest = value, next
	}
}

// flatString reads a quoted string at the beginning of text.
func flatString(text string) (value, rest string, ok bool) {
	if text == "" || text[0] != '"' {
		return "", text, false
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[1:i], text[i+1:], true
		}
	}
	return "", text, false
}

// flatValue reads a value at the beginning of text; nested ones up to their closing bracket.
func flatValue(text string) (value, rest string, ok bool) {
	if value, rest, ok = flatString(text); ok {
		return value, rest, true
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			_, after, ok := flatString(text[i:])
			if !ok {
				return "", "", false
			}
			i = len(text) - len(after) - 1
		case '[', '{':
			depth++
		case ']', '}':
			if depth == 0 {
				return strings.TrimSpace(text[:i]), text[i:], true
			}
			depth--
		case ',':
			if depth == 0 {
				return strings.TrimSpace(text[:i]), text[i:], true
			}
		}
	}
	return "", "", false
}

// Int64 is an integer in text, or what stands for a missing one.
func Int64(text string, missing int64) int64 {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return missing
	}
	return v
}
