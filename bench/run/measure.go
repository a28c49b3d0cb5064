package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// outcome is one run of an example, plain or profiled.
type outcome struct {
	wall     float64 // seconds, of the whole command
	program  float64 // seconds until the program's end; wall for a plain run
	tail     float64 // seconds of the second half of what the program printed; 0 where it printed too little
	peak     int64   // bytes, of the largest process of the program
	pause    float64 // seconds, longest pause put into the program
	launcher int64   // bytes, peak of bottleneck itself
	traced   int     // steps
	baseline int     // steps
}

// measured are all runs of one example.
type measured struct {
	name            string
	plain, profiled []outcome
}

// measure finds the length that gives the wanted seconds, then alternates plain and profiled runs, each first in turn.
func measure(s *settings, e example) (*measured, error) {
	fmt.Fprintf(os.Stderr, "%s: calibrating\n", e.name)
	probe, err := plainRun(s, e, 1)
	if err != nil {
		return nil, err
	}
	factor := s.seconds / probe.wall
	m := &measured{name: e.name}
	for i := range s.alternations {
		for turn := range 2 {
			if (i+turn)%2 == 0 {
				o, err := plainRun(s, e, factor)
				if err != nil {
					return nil, err
				}
				m.plain = append(m.plain, o)
				continue
			}
			o, err := profiledRun(s, e, factor, i)
			if err != nil {
				return nil, err
			}
			m.profiled = append(m.profiled, o)
		}
		fmt.Fprintf(os.Stderr, "%s %d/%d: plain %.2f s, profiled %.2f s\n", e.name, i+1, s.alternations, m.plain[i].wall, m.profiled[i].wall)
	}
	return m, nil
}

func plainRun(s *settings, e example, factor float64) (outcome, error) {
	o, _, err := timed(exec.Command(s.python, e.args(factor)...))
	o.program = o.wall
	return o, err
}

func profiledRun(s *settings, e example, factor float64, number int) (outcome, error) {
	session := filepath.Join(s.scratch, fmt.Sprintf("%s-%d", e.name, number))
	defer os.RemoveAll(session)
	args := append([]string{"run", "--out", session, "--", s.python}, e.args(factor)...)
	o, ended, err := timed(exec.Command(s.binary, args...))
	if err != nil {
		return o, err
	}
	return o, o.readSession(s.binary, session, ended)
}

// timed runs a command to its end; the program's output is read line by line for its times.
func timed(cmd *exec.Cmd) (outcome, time.Time, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return outcome{}, time.Time{}, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return outcome{}, time.Time{}, err
	}
	lines := lineTimes(stdout, began)
	err = cmd.Wait()
	ended := time.Now()
	if err != nil {
		return outcome{}, ended, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.Bytes())
	}
	return outcome{wall: ended.Sub(began).Seconds(), tail: tail(lines), peak: peakMemory(cmd.ProcessState)}, ended, nil
}

// lineTimes reads lines to the end and gives the time of each, in seconds.
func lineTimes(r io.Reader, began time.Time) []float64 {
	var times []float64
	for scanner := bufio.NewScanner(r); scanner.Scan(); {
		times = append(times, time.Since(began).Seconds())
	}
	return times
}

// tail is the time from the middle line to the last one; 0 for fewer than four lines.
func tail(lines []float64) float64 {
	if len(lines) < 4 {
		return 0
	}
	return lines[len(lines)-1] - lines[(len(lines)-1)/2]
}

// readSession takes from a finished session what the launcher and the report say of the cost.
func (o *outcome) readSession(binary, session string, ended time.Time) error {
	folders, err := filepath.Glob(filepath.Join(session, "launcher-*", "launcher.json"))
	if err != nil || len(folders) != 1 {
		return fmt.Errorf("session %s: want one launcher.json, have %d (%v)", session, len(folders), err)
	}
	var launcher struct {
		Exit *struct {
			UnixNS int64 `json:"unix_ns"`
			MaxRSS int64 `json:"max_rss_bytes"`
		}
		Own struct {
			PeakRSS int64 `json:"peak_rss_bytes"`
		}
	}
	text, err := os.ReadFile(folders[0])
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &launcher); err != nil {
		return fmt.Errorf("%s: %w", folders[0], err)
	}
	if launcher.Exit == nil {
		return errors.New(folders[0] + " does not say how the program ended")
	}
	o.program = o.wall - ended.Sub(time.Unix(0, launcher.Exit.UnixNS)).Seconds()
	o.peak, o.launcher = launcher.Exit.MaxRSS, launcher.Own.PeakRSS
	return o.readReport(binary, session)
}

// readReport takes the pause and the counts of steps from the report document.
func (o *outcome) readReport(binary, session string) error {
	out, err := exec.Command(binary, "report", "--json", "-", session).Output()
	if err != nil {
		return fmt.Errorf("report --json - %s: %w", session, err)
	}
	var report struct {
		Run struct {
			Own struct {
				LongestPauseMS float64 `json:"longest_pause_ms"`
			}
		}
		Steps []struct {
			Baseline, Traced struct{ Count int }
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return fmt.Errorf("report --json - %s: %w", session, err)
	}
	o.pause = report.Run.Own.LongestPauseMS / 1e3
	if len(report.Steps) > 0 {
		o.traced, o.baseline = report.Steps[0].Traced.Count, report.Steps[0].Baseline.Count
	}
	return nil
}

// timeHelp is the median time of `bottleneck --help` in seconds.
func timeHelp(binary string) (float64, error) {
	var times []float64
	for range 21 {
		began := time.Now()
		if err := exec.Command(binary, "--help").Run(); err != nil {
			return 0, fmt.Errorf("%s --help: %w", binary, err)
		}
		times = append(times, time.Since(began).Seconds())
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}
