package agent

import (
	"fmt"
	"strings"
	"testing"
)

// Batches of sequences that are filled up are seen at either end, by a mask, and of fractions by lengths beside them; tables and full
// sequences have no filling, other batches are not looked at, and the program goes on as without the agent.
func TestFillingIsSeen(t *testing.T) {
	for _, generation := range generations() {
		t.Run(generation, func(t *testing.T) {
			t.Parallel()
			interpreter := python(t, generation)
			plain := start(t, interpreter, environment(), "padding.py")
			got, dir := withAgent(t, interpreter, Config{}, nil, "padding.py")
			same(t, plain, got)
			seen := map[float64][]string{}
			for _, row := range only(t, dir, "main").of("padding") {
				seen[row[2].(float64)] = append(seen[row[2].(float64)], fmt.Sprint(row[3:]...))
			}
			// Batches 1, 2, 4 and 8 of each: places 0 to 7, 8 to 15, 24 to 31 and 56 to 63 have lengths of (number mod 7) + 3.
			const filled, full = "8 16 45 9,8 16 46 9,8 16 48 9,8 16 45 9", "8 16 128 16,8 16 128 16,8 16 128 16,8 16 128 16"
			want := map[int]string{0: filled, 1: filled, 2: filled, 3: full, 4: full, 5: full, 10: filled, 11: filled, 12: filled}
			for loader, want := range want {
				if got := strings.Join(seen[float64(loader)], ","); got != want {
					t.Errorf("loader %d: %s, want %s", loader, got, want)
				}
				delete(seen, float64(loader))
			}
			if len(seen) > 0 {
				t.Errorf("also %v", seen)
			}
		})
	}
}

// Where no DataLoader hands out sequences, what models are called with is looked at, with the line that calls; a model whose text grows
// computes no filling, and classes are left as they were.
func TestFillingOfCalls(t *testing.T) {
	const line, named, texts = `model(*batch)`, `model(input_ids=TOKENS[i`, `model(TOKENS[numbers]`
	for _, generation := range generations() {
		for _, c := range []struct{ program, line string }{{"trained", line}, {"asked", named}, {"texts", texts}, {"writes", ""},
			{"pictures", ""}} {
			t.Run(generation+"/"+c.program, func(t *testing.T) {
				t.Parallel()
				interpreter := python(t, generation)
				plain := start(t, interpreter, environment(), "padding_calls.py", c.program)
				got, dir := withAgent(t, interpreter, Config{}, nil, "padding_calls.py", c.program)
				same(t, plain, got)
				rows := only(t, dir, "main").of("padding")
				if c.line == "" || c.program == "trained" && generation == "torch-2.4" { // its optimizers load Dynamo, before any call here
					if len(rows) > 0 {
						t.Errorf("%v", rows)
					}
					return
				}
				before, _, _ := strings.Cut(content(t, "testdata/padding_calls.py"), c.line)
				number := float64(strings.Count(before, "\n") + 1)
				filled := fmt.Sprint([]float64{45, 46, 47}) // of the first three batches: lengths are (number mod 7) + 3
				seen := []float64{}
				for _, row := range rows {
					if row[2] != nil || row[3] != 8.0 || row[4] != 16.0 || !strings.HasSuffix(row[7].(string), "padding_calls.py") ||
						row[8] != number {
						t.Errorf("%v", row)
					}
					seen = append(seen, row[5].(float64))
				}
				if len(seen) < 9 || fmt.Sprint(seen[:3]) != filled {
					t.Errorf("%v places of %d batches", seen, len(rows))
				}
			})
		}
	}
}
