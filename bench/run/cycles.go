package main

import (
	"fmt"
	"path/filepath"
	"time"
)

const (
	cycles     = 100
	settled    = 10 // the cycle after which memory may not grow any more
	growth     = 30e6
	cyclesTime = 4 * time.Minute
)

// cycleRows runs a program through 100 windows of tracing and compares its memory, least of a second, after the 10th and
// after the last one.
func cycleRows(s *settings) ([]row, error) {
	e, session := examples[1], filepath.Join(s.scratch, "cycles")
	marks := filepath.Join(s.scratch, "marks-cycles")
	command := []string{s.binary, "run", "--out", session, "--schedule", fmt.Sprintf("wait=1,active=1,repeat=%d", cycles), "--", s.python}
	p, err := startPlayer(append(command, e.counted(marks)...), marks)
	if err != nil {
		return nil, err
	}
	defer p.kill()
	var bytes [2]int64
	for i, wanted := range []int{settled, cycles} {
		reached := func() bool {
			seen, err := readEvents(session)
			return err == nil && seen.windows >= wanted
		}
		if err := p.await(reached, cyclesTime); err != nil {
			return nil, fmt.Errorf("%d windows: %w", wanted, err)
		}
		if bytes[i], err = p.leastMemory(time.Second); err != nil {
			return nil, err
		}
	}
	grown := float64(bytes[1] - bytes[0])
	return []row{{what: fmt.Sprintf("memory of %s, window %d to %d", e.name, settled, cycles), plain: mb(float64(bytes[0])),
		profiled: mb(float64(bytes[1])), value: grown, goal: growth, goalText: fmt.Sprintf("grows ≤ %s", mb(growth))}}, nil
}

// leastMemory is the least that the program's process occupies within a while, in bytes.
func (p *player) leastMemory(while time.Duration) (least int64, err error) {
	for until := time.Now().Add(while); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		pids := p.tree()
		if len(pids) < 2 {
			return 0, fmt.Errorf("the program of %s is gone", p.marks)
		}
		now, err := residentMemory(pids[1])
		if err != nil {
			return 0, err
		}
		if least == 0 || now < least {
			least = now
		}
	}
	return least, nil
}
