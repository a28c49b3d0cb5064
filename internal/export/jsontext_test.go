package export

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a\"b\\c\n\t\x00\x7f", "\xff\xfe", "é\u2028</script>", "\U0001F600"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := appendString(nil, s)
		var back string
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatalf("%q gives %s: %v", s, out, err)
		}
		if utf8.ValidString(s) && back != s {
			t.Fatalf("%q became %q", s, back)
		}
		if strings.ContainsAny(string(out), "<\n\u2028") {
			t.Fatalf("%q gives %s, which cannot stand in a page's script", s, out)
		}
	})
}

func TestAppendMicros(t *testing.T) {
	for ns, want := range map[int64]string{0: "0.000", 1: "0.001", 1234567: "1234.567", -1: "-0.001", -1 << 63: "-9223372036854775.808"} {
		if got := string(appendMicros(nil, ns)); got != want {
			t.Errorf("%d: %s, want %s", ns, got, want)
		}
	}
}
