package turns

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// order runs as long as the options say, and tells the runs as "a1 b1 …".
func order(t *testing.T, o Options, fails func(side, n int) bool, decideAt int) (string, Outcome[string]) {
	t.Helper()
	var made []string
	out, err := Run(context.Background(), o, func(_ context.Context, side, n int) (string, error) {
		name := fmt.Sprintf("%c%d", 'a'+side, n)
		made = append(made, name)
		if fails(side, n) {
			return "", errors.New("exit status 1")
		}
		return name, nil
	}, func(pairs [][2]string) (bool, error) { return len(pairs) == decideAt, nil })
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(made, " "), out
}

func never(int, int) bool { return false }

func TestOrderIsBalanced(t *testing.T) {
	made, out := order(t, Options{Pairs: 4}, never, 0)
	if made != "a1 b1 b2 a2 b3 a3 a4 b4" || out.Stopped != Runs {
		t.Errorf("%s, stopped by %s", made, out.Stopped)
	}
	for i, p := range out.Pairs {
		if want := [2]string{fmt.Sprint("a", i+1), fmt.Sprint("b", i+1)}; p != want {
			t.Errorf("pair %d is %v", i+1, p)
		}
	}
	// A drift that grows by the same from run to run takes nothing from either side over whole fours.
	at, sums := 0, [2]int{}
	for _, name := range strings.Fields(made) {
		sums[name[0]-'a'] += at
		at++
	}
	if sums[0] != sums[1] {
		t.Errorf("positions of the sides sum to %v", sums)
	}
}

func TestStops(t *testing.T) {
	if made, out := order(t, Options{Pairs: 9}, never, 2); made != "a1 b1 b2 a2" || out.Stopped != Decided {
		t.Errorf("%s, %s", made, out.Stopped)
	}
	if made, out := order(t, Options{Pairs: 9, Budget: time.Nanosecond}, never, 0); made != "a1 b1" || out.Stopped != Budget {
		t.Errorf("%s, %s", made, out.Stopped)
	}
	made, out := order(t, Options{Pairs: 9}, func(side, n int) bool { return side == After && n == 1 }, 0)
	if made != "a1 b1" || out.Stopped != Failed || len(out.Pairs) != 0 || out.Failures[0].Side != After {
		t.Errorf("%s, %+v", made, out)
	}
	made, out = order(t, Options{Pairs: 5}, func(side, n int) bool { return side == After && n == 3 }, 0)
	if made != "a1 b1 b2 a2 b3 a4 b4 a5 b5" || out.Stopped != Runs || len(out.Pairs) != 4 {
		t.Errorf("%s, %+v", made, out)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	out, err := Run(ctx, Options{Pairs: 9}, func(_ context.Context, side, n int) (int, error) {
		if n == 2 {
			stop()
			return 0, errors.New("ended by SIGINT")
		}
		return 0, nil
	}, func([][2]int) (bool, error) { return false, nil })
	if err != nil || out.Stopped != Interrupted || len(out.Pairs) != 1 || len(out.Failures) != 0 {
		t.Errorf("%+v, %v", out, err)
	}
}
