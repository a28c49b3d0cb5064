package arguments

import "testing"

func TestFlatObject(t *testing.T) {
	got := Object(`{"a": "x\"y", "b": 12, "c": [1, "]"], "d": {"e": 1}, "Seq":7}`)
	for key, want := range map[string]string{"a": `x\"y`, "b": "12", "c": `[1, "]"]`, "d": `{"e": 1}`, "Seq": "7"} {
		if got[key] != want {
			t.Errorf("%s: %q, want %q", key, got[key], want)
		}
	}
	for _, damaged := range []string{"", "{", `{"a`, `{"a":`, `{"a": "b`, `{"a": [1`, "[]", `{"a": 1`} {
		if got := Object(damaged); got["a"] != "" && got["a"] != "1" && got["a"] != "[1" {
			t.Errorf("%s gives %v", damaged, got)
		}
	}
}
