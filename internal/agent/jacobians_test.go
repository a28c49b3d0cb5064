package agent

import (
	"fmt"
	"slices"
	"testing"
)

// TestJacobiansAreTold: what a function gives and takes whose Jacobian is computed backward, at once (0) or row by row (1), and where.
func TestJacobiansAreTold(t *testing.T) {
	for _, generation := range generations() {
		t.Run(generation, func(t *testing.T) {
			t.Parallel()
			interpreter := python(t, generation)
			plain := startPlain(t, interpreter, "jacobians.py")
			agent, dir := withAgent(t, interpreter, Config{}, nil, "jacobians.py")
			same(t, plain, agent)
			var got []string
			for _, row := range only(t, dir, "main").of("jacobian") {
				if called, began, ended := row[1].(float64), row[2].(float64), row[3].(float64); called > began || began >= ended {
					t.Errorf("%v", row)
				}
				got = append(got, fmt.Sprint(row[4:7], row[8]))
			}
			want := []string{"[1 10 3] 18", "[0 10 3] 19", "[1 3 3] 20"}
			if generation == "newest" || len(got) > 3 {
				want = append(want, "[0 10 3] 27", "[0 10 3] 28", "[0 1 3] 30")
			}
			if monitors := generation == "newest" || len(got) > 0; monitors && !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
