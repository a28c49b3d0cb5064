package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bottleneck/bench/paired"
)

const (
	measureFor = "6s"                   // --duration of the measured program
	measureMax = 3 * time.Minute        // after which the session must have said that measuring is over
	settle     = 200 * time.Millisecond // of each slice that does not count: caches and clock rates come back
	fewest     = 8                      // steps that a slice has to see
)

// launches is how many times the programs are started anew, for where their memory happens to lie can make one a few percent
// faster than the other for as long as it lives.
const launches = 10

// tailRows lets two plain programs and one whose measuring is over take turns and compares their times per step.
func tailRows(s *settings, e example) ([]row, error) {
	var turns turns
	for launch := range launches {
		pairs := s.pairs*(launch+1)/launches - s.pairs*launch/launches
		if pairs == 0 {
			continue
		}
		if err := takeTurns(s, e, launch, pairs, &turns); err != nil {
			return nil, err
		}
		fmt.Fprintf(os.Stderr, "%s tail %d/%d: %s, plain against plain %s\n", e.name, len(turns.wall.plain), s.pairs, turns.wall.ratio(),
			turns.wall.control())
	}
	return tailNumbers(e.name, &turns), nil
}

// takeTurns starts the programs and adds what they did in so many turns each.
func takeTurns(s *settings, e example, launch, pairs int, to *turns) error {
	players, err := startPlayers(s, e, launch)
	defer func() {
		for _, p := range players {
			p.kill()
		}
	}()
	if err != nil {
		return err
	}
	order := rand.New(rand.NewPCG(uint64(launch), uint64(len(e.name))))
	for range pairs {
		var took [3]step
		for _, turn := range order.Perm(len(took)) {
			if took[turn], err = players[turn].turn(s.slice); err != nil {
				return err
			}
		}
		to.add(took)
	}
	return nil
}

// step is what one step took, of all processes together with bottleneck's: seconds by the clock and of the CPU, minor page faults.
type step struct{ wall, cpu, faults float64 }

// turns are what steps of two plain programs and of the measured one took, turn by turn.
type turns struct{ wall, cpu, faults rounds }

func (t *turns) add(took [3]step) {
	t.wall.add(took[0].wall, took[1].wall, took[2].wall)
	t.cpu.add(took[0].cpu, took[1].cpu, took[2].cpu)
	t.faults.add(took[0].faults, took[1].faults, took[2].faults)
}

// rounds are times per step of two plain programs and of the measured one, and the geometric mean of the plain ones.
type rounds struct{ plain, again, measured, both []float64 }

func (r *rounds) add(plain, again, measured float64) {
	r.plain, r.again, r.measured = append(r.plain, plain), append(r.again, again), append(r.measured, measured)
	r.both = append(r.both, math.Sqrt(plain*again))
}

// ratio is the measured program's time over the plain ones'; control that of the plain ones.
func (r *rounds) ratio() paired.Interval   { return paired.Ratio(r.both, r.measured) }
func (r *rounds) control() paired.Interval { return paired.Ratio(r.plain, r.again) }

// tailNumbers are the rows of the part tail.
func tailNumbers(name string, t *turns) []row {
	wall, cpu, faults := &t.wall, &t.cpu, &t.faults
	ratio, control, used, usedControl := wall.ratio(), wall.control(), cpu.ratio(), cpu.control()
	return []row{
		{what: name + ": step, measuring over", plain: ms(paired.Median(wall.both)), profiled: ms(paired.Median(wall.measured)),
			ratio: ratio.String(), value: ratio.High, goal: 1.02, goalText: fmt.Sprintf("upper end ≤ 1.02, %d pairs", len(wall.plain))},
		{what: name + ": plain against plain", plain: ms(paired.Median(wall.plain)), profiled: ms(paired.Median(wall.again)),
			ratio: control.String(), value: math.Abs(control.Mid - 1), goal: 0.01, goalText: "1.00 ± 0.01"},
		{what: name + ": CPU time of a step, measuring over", plain: ms(paired.Median(cpu.both)), profiled: ms(paired.Median(cpu.measured)),
			ratio: used.String()},
		{what: name + ": CPU time, plain against plain", plain: ms(paired.Median(cpu.plain)), profiled: ms(paired.Median(cpu.again)),
			ratio: usedControl.String()},
		{what: name + ": page faults of a step, measuring over", plain: number(paired.Median(faults.both)),
			profiled: number(paired.Median(faults.measured))},
	}
}

// startPlayers starts two plain programs and one under `run`, waits until each is at work and the last one's measuring is
// over, and leaves all of them stopped. What was started is returned with an error, too.
func startPlayers(s *settings, e example, launch int) ([]*player, error) {
	var players []*player
	session := filepath.Join(s.scratch, fmt.Sprintf("tail-%s-%d", e.name, launch))
	run := slices.Concat([]string{s.binary, "run", "--out", session, "--duration", measureFor}, s.flags, []string{"--"})
	for i, prefix := range [][]string{nil, nil, run} {
		marks := filepath.Join(s.scratch, fmt.Sprintf("marks-%s-%d-%d", e.name, launch, i))
		p, err := startPlayer(slices.Concat(prefix, []string{s.python}, e.counted(marks)), marks)
		if err != nil {
			return players, err
		}
		players = append(players, p)
	}
	for i, p := range players {
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
	}
	time.Sleep(2 * time.Second) // the last traces are being compressed
	for _, p := range players { // all at the same age: what they keep grows with their steps
		if err := p.pause(); err != nil {
			return players, err
		}
	}
	return players, nil
}

// turn lets a stopped program run for about slice seconds, longer where its steps are, and says what a step took.
func (p *player) turn(slice float64) (step, error) {
	before, faultsBefore := p.used()
	if err := p.resume(); err != nil {
		return step{}, err
	}
	began := monotonic()
	time.Sleep(time.Duration(slice * float64(time.Second)))
	for extra := 0.0; len(p.between(began+int64(settle), monotonic())) < fewest && extra < 10*slice; extra += slice / 4 {
		time.Sleep(time.Duration(slice / 4 * float64(time.Second)))
	}
	if err := p.pause(); err != nil {
		return step{}, err
	}
	ended := monotonic()
	used, faults := p.used()
	all, times := p.between(began, ended), p.between(began+int64(settle), ended)
	if len(times) < 2 {
		return step{}, fmt.Errorf("%s: %d steps in a turn, need 2: %s", strings.Join(p.cmd.Args, " "), len(times),
			cmp.Or(p.words(), "it printed no error"))
	}
	return step{
		wall:   float64(times[len(times)-1]-times[0]) / float64(len(times)-1) / 1e9,
		cpu:    (used - before).Seconds() / float64(len(all)),
		faults: float64(faults-faultsBefore) / float64(len(all)),
	}, nil
}
