package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"bottleneck/internal/record"
)

// A sampler is a command that samples a process for a while and leaves a file behind.
type sampler struct {
	name string
	// command samples pid and, with tree, its descendants. seconds 0: until the program ends.
	command func(pid, hz int, seconds float64, tree bool, folder string) []string
	// stacks visits what was recorded: function names, outermost first, and how often they were seen.
	stacks func(folder string, visit func(names []string, n int64)) error
	// cpu, where set, is the CPU time of the process up to the end of its recording; else that of all of it counts.
	cpu func(folder string) (time.Duration, error)
	// set stores a peer's value in a row.
	set func(*row, float64)
}

func (s *sampler) count(folder string) (int64, error) {
	var total int64
	err := s.stacks(folder, func(_ []string, n int64) { total += n })
	return total, err
}

// ours is this project's own sampler; the report that attach prints in the end is no part of sampling.
func (b *bench) ours() *sampler {
	return &sampler{name: "bottleneck",
		command: func(pid, hz int, seconds float64, _ bool, folder string) []string {
			args := []string{b.binary, "attach", "--rate", fmt.Sprint(hz), "--out", filepath.Join(folder, "session"), "-o",
				filepath.Join(folder, "report")}
			if seconds > 0 {
				args = append(args, "--duration", fmt.Sprintf("%gs", seconds))
			}
			return append(args, fmt.Sprint(pid))
		},
		cpu: ownCPU, stacks: ownStacks, set: func(r *row, v float64) { r.value = v }}
}

// samplers are ours and the peers that are installed.
func (b *bench) samplers() []*sampler {
	out := []*sampler{b.ours()}
	if path := filepath.Join(b.peers, "py-spy"); b.peers != "" && executable(path) {
		out = append(out, pySpy(path, true), pySpy(path, false))
	}
	if path := filepath.Join(b.peers, "austin"); b.peers != "" && executable(path) {
		out = append(out, austin(path))
	}
	return out
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o111 != 0
}

func pySpy(path string, nonblocking bool) *sampler {
	name, set := "py-spy", func(r *row, v float64) { r.blocking = v }
	if nonblocking {
		name, set = "py-spy --nonblocking", func(r *row, v float64) { r.pySpy = v }
	}
	return &sampler{name: name, set: set,
		command: func(pid, hz int, seconds float64, tree bool, folder string) []string {
			if seconds == 0 {
				seconds = 3600
			}
			args := []string{path, "record", "-r", fmt.Sprint(hz), "-d", fmt.Sprint(int(seconds + 0.5)), "-f", "raw", "-o",
				filepath.Join(folder, "out"), "-p", fmt.Sprint(pid)}
			if nonblocking {
				args = append(args, "--nonblocking")
			}
			if tree {
				args = append(args, "--subprocesses")
			}
			return args
		},
		stacks: func(folder string, visit func([]string, int64)) error {
			return folded(filepath.Join(folder, "out"), false, visit)
		}}
}

func austin(path string) *sampler {
	return &sampler{name: "austin", set: func(r *row, v float64) { r.au = v },
		command: func(pid, hz int, seconds float64, tree bool, folder string) []string {
			args := []string{path, "-i", fmt.Sprintf("%dus", 1_000_000/hz), "-o", filepath.Join(folder, "out"), "-p", fmt.Sprint(pid)}
			if seconds > 0 {
				args = append(args, "-x", fmt.Sprint(int(seconds+0.5)))
			}
			if tree {
				args = append(args, "-C")
			}
			return args
		},
		stacks: func(folder string, visit func([]string, int64)) error {
			return folded(filepath.Join(folder, "out"), true, visit)
		}}
}

// folded reads "frame;frame;frame N" lines: py-spy's frames are "function (file:line)", N samples; austin's begin with
// "P<pid>;T<thread>", are "file:function:line", and N is microseconds of one sample.
func folded(path string, austin bool, visit func([]string, int64)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(make([]byte, 0, 64<<10), 16<<20)
	for s.Scan() {
		line := s.Text()
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || line[0] == '#' {
			continue
		}
		n, err := strconv.ParseInt(line[at+1:], 10, 64)
		if err != nil {
			continue
		}
		var names []string
		for _, frame := range strings.Split(line[:at], ";") {
			if austin {
				if p := strings.Split(frame, ":"); len(p) >= 3 {
					names = append(names, p[len(p)-2])
				}
				continue
			}
			name, _, _ := strings.Cut(frame, " (")
			names = append(names, name)
		}
		if austin {
			n = 1
		}
		visit(names, n)
	}
	return s.Err()
}

// sampleFile is the sample file of a session folder.
func sampleFile(folder string) (string, error) {
	paths, _ := filepath.Glob(filepath.Join(folder, "session", record.LauncherPrefix+"*", record.SamplesName))
	if len(paths) != 1 {
		return "", fmt.Errorf("%d sample files in %s", len(paths), folder)
	}
	return paths[0], nil
}

// readLauncher reads the account of a session folder.
func readLauncher(folder string) (*record.Launcher, error) {
	path, err := sampleFile(folder)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(filepath.Dir(path), "launcher.json"))
	if err != nil {
		return nil, err
	}
	l := &record.Launcher{}
	return l, json.Unmarshal(data, l)
}

func ownCPU(folder string) (time.Duration, error) {
	l, err := readLauncher(folder)
	if err != nil {
		return 0, err
	}
	return time.Duration(l.Own.CPUNS), nil
}

func ownBatches(folder string, visit func(*record.SampleBatch) error) error {
	path, err := sampleFile(folder)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return record.ReadSamples(f, visit)
}

func ownStacks(folder string, visit func([]string, int64)) error {
	return ownBatches(folder, func(b *record.SampleBatch) error {
		for i := range b.Samples {
			s := &b.Samples[i]
			locations := b.Stacks[s.Stack]
			names := make([]string, len(locations))
			for k, l := range locations {
				names[len(names)-1-k] = b.Locations[l].Function
			}
			n := int64(0)
			s.EachTime(func(int64) { n++ })
			visit(names, n)
		}
		return nil
	})
}
