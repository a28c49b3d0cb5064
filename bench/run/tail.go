package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	measureFor = "15s"                  // --duration of the measured program
	measureMax = 3 * time.Minute        // after which the session must have said that measuring is over
	settle     = 300 * time.Millisecond // of each slice that does not count: caches and clock rates come back
	fewest     = 8                      // steps that a slice has to see
)

// tailRows lets two plain programs and one whose measuring is over take turns and compares their times per step.
func tailRows(s *settings, e example) ([]row, error) {
	players, err := startPlayers(s, e)
	defer func() {
		for _, p := range players {
			p.kill()
		}
	}()
	if err != nil {
		return nil, err
	}
	var plain, again, measured, both []float64
	order := rand.New(rand.NewPCG(1, uint64(len(e.name))))
	for i := range s.pairs {
		var took [3]float64
		for _, turn := range order.Perm(len(took)) {
			if took[turn], err = players[turn].turn(s.slice); err != nil {
				return nil, err
			}
		}
		plain, again, measured = append(plain, took[0]), append(again, took[1]), append(measured, took[2])
		both = append(both, math.Sqrt(took[0]*took[1]))
		if i%5 == 4 || i == s.pairs-1 {
			fmt.Fprintf(os.Stderr, "%s tail %d/%d: %s, plain against plain %s\n", e.name, i+1, s.pairs, pairedRatio(both, measured), pairedRatio(plain, again))
		}
	}
	return tailNumbers(e.name, plain, again, measured), nil
}

// tailNumbers are the rows for the times per step, in seconds: of two plain programs and of the measured one.
func tailNumbers(name string, plain, again, measured []float64) []row {
	both := make([]float64, len(plain))
	for i := range plain {
		both[i] = math.Sqrt(plain[i] * again[i])
	}
	ratio, control := pairedRatio(both, measured), pairedRatio(plain, again)
	return []row{
		{what: name + ": step, measuring over", plain: ms(median(both)), profiled: ms(median(measured)), ratio: ratio.String(),
			value: ratio.high, goal: 1.02, goalText: fmt.Sprintf("upper end ≤ 1.02, %d pairs", len(plain))},
		{what: name + ": plain against plain", plain: ms(median(plain)), profiled: ms(median(again)), ratio: control.String(),
			value: math.Abs(control.mid - 1), goal: 0.01, goalText: "1.00 ± 0.01"},
	}
}

// startPlayers starts two plain programs and one under `run`, waits until each is at work and the last one's measuring is
// over, and leaves all of them stopped. What was started is returned with an error, too.
func startPlayers(s *settings, e example) ([]*player, error) {
	var players []*player
	session := filepath.Join(s.scratch, "tail-"+e.name)
	for i, prefix := range [][]string{nil, nil, {s.binary, "run", "--out", session, "--duration", measureFor, "--"}} {
		marks := filepath.Join(s.scratch, fmt.Sprintf("marks-%s-%d", e.name, i))
		command := append(append(prefix, s.python), e.counted(marks)...)
		p, err := startPlayer(command, marks)
		if err != nil {
			return players, err
		}
		players = append(players, p)
		over := func() bool { return p.steps() >= fewest }
		if i == 2 {
			over = func() bool {
				events, err := readEvents(session)
				return err == nil && events.measured >= e.ranks
			}
		}
		if err := p.await(over, measureMax); err != nil {
			return players, err
		}
		if i == 2 {
			time.Sleep(2 * time.Second) // its last traces are being compressed
		}
		if err := p.pause(); err != nil {
			return players, err
		}
	}
	return players, nil
}

// turn lets a stopped program run for about slice seconds, longer where its steps are, and gives its seconds per step.
func (p *player) turn(slice float64) (float64, error) {
	if err := p.resume(); err != nil {
		return 0, err
	}
	began := monotonic()
	time.Sleep(time.Duration(slice * float64(time.Second)))
	counted := func() []int64 { return p.between(began+int64(settle), monotonic()) }
	for extra := 0.0; len(counted()) < fewest && extra < 10*slice; extra += slice / 4 {
		time.Sleep(time.Duration(slice / 4 * float64(time.Second)))
	}
	times := counted()
	if err := p.pause(); err != nil {
		return 0, err
	}
	if len(times) < 2 {
		return 0, fmt.Errorf("%s: %d steps in a turn, need 2: %s", strings.Join(p.cmd.Args, " "), len(times), cmp.Or(p.words(), "it printed no error"))
	}
	return float64(times[len(times)-1]-times[0]) / float64(len(times)-1) / 1e9, nil
}
