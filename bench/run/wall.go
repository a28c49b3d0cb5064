package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bottleneck/bench/paired"
)

// outcome is one run of an example, plain or profiled.
type outcome struct {
	wall     float64 // seconds, of the whole command
	program  float64 // seconds until the program's end; wall for a plain run
	peak     int64   // bytes, of the largest process of the program
	pause    float64 // seconds, longest pause put into the program
	launcher int64   // bytes, peak of bottleneck itself
	traced   int     // steps
	baseline int     // steps
	windows  int     // traces
	spent    bool    // the budget was used up before the program's end
}

// runs are all runs of one example.
type runs struct {
	name            string
	plain, profiled []outcome
}

// wallRows finds the length that gives the wanted seconds, then alternates plain and profiled runs, each first in turn.
func wallRows(s *settings, e example) ([]row, error) {
	factor, err := calibrate(s, e)
	if err != nil {
		return nil, err
	}
	r := &runs{name: e.name}
	for i := range s.alternations {
		for turn := range 2 {
			if (i+turn)%2 == 0 {
				o, err := plainRun(s, e, factor)
				if err != nil {
					return nil, err
				}
				r.plain = append(r.plain, o)
				continue
			}
			o, err := profiledRun(s, e, factor, i)
			if err != nil {
				return nil, err
			}
			r.profiled = append(r.profiled, o)
		}
		fmt.Fprintf(os.Stderr, "%s %d/%d: plain %.2f s, profiled %.2f s\n", e.name, i+1, s.alternations,
			r.plain[i].wall, r.profiled[i].wall)
	}
	return r.rows(s.seconds), nil
}

// calibrate finds the factor with which a plain run takes the wanted seconds and a little more, from two short runs: their
// difference leaves start-up out.
func calibrate(s *settings, e example) (float64, error) {
	fmt.Fprintf(os.Stderr, "%s: calibrating\n", e.name)
	short, err := plainRun(s, e, 0.5)
	if err != nil {
		return 0, err
	}
	long, err := plainRun(s, e, 1.5)
	if err != nil {
		return 0, err
	}
	return max(0.5, 1+(1.1*s.seconds-(short.wall+long.wall)/2)/max(long.wall-short.wall, long.wall/10)), nil
}

func plainRun(s *settings, e example, factor float64) (outcome, error) {
	o, _, err := timed(exec.Command(s.python, e.args(factor)...))
	o.program = o.wall
	return o, err
}

func profiledRun(s *settings, e example, factor float64, number int) (outcome, error) {
	session := filepath.Join(s.scratch, fmt.Sprintf("%s-%d", e.name, number))
	defer os.RemoveAll(session)
	args := slices.Concat([]string{"run", "--out", session}, s.flags, []string{"--", s.python}, e.args(factor))
	o, ended, err := timed(exec.Command(s.binary, args...))
	if err != nil {
		return o, err
	}
	return o, o.readSession(s.binary, session, ended)
}

// timed runs a command to its end.
func timed(cmd *exec.Cmd) (outcome, time.Time, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := time.Now()
	err := cmd.Run()
	ended := time.Now()
	if err != nil {
		return outcome{}, ended, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.Bytes())
	}
	return outcome{wall: ended.Sub(began).Seconds(), peak: peakMemory(cmd.ProcessState)}, ended, nil
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
	events, err := readEvents(session)
	if err != nil {
		return err
	}
	o.windows, o.spent = events.windows, events.measured > 0
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

// rows are the numbers of one example; shortest is how long a plain run has to be, in seconds.
func (r *runs) rows(shortest float64) []row {
	plain, profiled := column(r.plain, wall), column(r.profiled, wall)
	most := 1.05*paired.Median(plain) + 2
	pause := slices.Max(column(r.profiled, func(o outcome) float64 { return o.pause }))
	extra := paired.Median(column(r.profiled, peak)) - paired.Median(column(r.plain, peak))
	report := paired.Median(column(r.profiled, func(o outcome) float64 { return o.wall - o.program }))
	launcher := slices.Max(column(r.profiled, func(o outcome) float64 { return float64(o.launcher) }))
	traced := slices.Min(column(r.profiled, func(o outcome) float64 { return float64(o.traced) }))
	baseline := slices.Min(column(r.profiled, func(o outcome) float64 { return float64(o.baseline) }))
	budget := fmt.Sprintf("%d windows, budget left", r.profiled[0].windows)
	if r.profiled[0].spent {
		budget = fmt.Sprintf("%d windows, budget spent", r.profiled[0].windows)
	}
	return []row{
		{what: r.name + ": wall time", plain: seconds(paired.Median(plain)), profiled: seconds(paired.Median(profiled)),
			ratio: paired.Ratio(plain, profiled).String(), value: paired.Median(profiled), goal: most,
			goalText: fmt.Sprintf("≤ 1.05 × plain + 2 s = %.1f s", most)},
		{what: r.name + ": length of the plain run", plain: seconds(slices.Min(plain)), value: slices.Min(plain), goal: shortest,
			goalText: fmt.Sprintf("≥ %.0f s", shortest), atLeast: true},
		{what: r.name + ": longest pause", profiled: ms(pause), value: pause, goal: 0.5, goalText: "≤ 500 ms"},
		{what: r.name + ": memory of the program", plain: mb(paired.Median(column(r.plain, peak))),
			profiled: mb(paired.Median(column(r.profiled, peak))), value: extra, goal: 100e6, goalText: "≤ plain + 100 MB"},
		{what: r.name + ": memory of bottleneck", profiled: mb(launcher), value: launcher, goal: 100e6, goalText: "≤ 100 MB"},
		{what: r.name + ": end to report", profiled: ms(report), value: report, goal: 1, goalText: "≤ 1 s"},
		{what: r.name + ": traced steps", profiled: fmt.Sprintf("%.0f (%s)", traced, budget), value: traced, goal: 3,
			goalText: "≥ 3", atLeast: true},
		{what: r.name + ": baseline steps", profiled: fmt.Sprint(baseline), value: baseline, goal: 20, goalText: "≥ 20", atLeast: true},
	}
}

func wall(o outcome) float64 { return o.wall }
func peak(o outcome) float64 { return float64(o.peak) }

func column(outcomes []outcome, get func(outcome) float64) []float64 {
	values := make([]float64, len(outcomes))
	for i, o := range outcomes {
		values[i] = get(o)
	}
	return values
}

// helpRows times `bottleneck --help`.
func helpRows(binary string) ([]row, error) {
	var times []float64
	for range 21 {
		began := time.Now()
		if err := exec.Command(binary, "--help").Run(); err != nil {
			return nil, fmt.Errorf("%s --help: %w", binary, err)
		}
		times = append(times, time.Since(began).Seconds())
	}
	took := paired.Median(times)
	return []row{{what: "bottleneck --help", profiled: ms(took), value: took, goal: 0.020, goalText: "≤ 20 ms"}}, nil
}
