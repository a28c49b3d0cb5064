package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"bottleneck/internal/collect"
	"bottleneck/internal/record"
)

// otherTool is a profiler of another maker that a program can be run under.
type otherTool struct {
	name     string
	programs []string // the first that is installed counts
	emit     string   // ranges that the agent makes for it
	get      string   // how to get it
	gpus     string   // which devices it supports
	// command is the tool's command line before the program's; file is the name of its results without an ending.
	command func(program, file string, metrics bool) []string
	// after turns results into a file that report reads; nil where the tool writes one itself.
	after func(program, file string) (argv []string, output string)
}

// otherTools are the profilers that --with knows. Each starts with its collection off and follows cudaProfilerStart, which the agent
// calls for the steps that it would trace itself, where the tool can do that.
var otherTools = []otherTool{
	{name: "nvprof", programs: []string{"nvprof"}, emit: "nvtx",
		get:  "it is part of CUDA 12 and older (cuda-nvprof), and of none since",
		gpus: "it supports GPUs below compute capability 8.0 (up to Volta and Turing); for newer ones take --with nsys",
		command: func(program, file string, metrics bool) []string {
			if metrics {
				return []string{program, "--profile-child-processes", "--profile-from-start", "off", "--csv", "--metrics", "all", "--log-file",
					file + "-%p.csv"}
			}
			return []string{program, "--profile-child-processes", "--profile-from-start", "off", "-f", "-o", file + "-%p.sqlite"}
		}},
	{name: "nsys", programs: []string{"nsys"}, emit: "nvtx",
		get:  "install NVIDIA Nsight Systems (nsight-systems-cli of NVIDIA's package repositories, or developer.nvidia.com/nsight-systems)",
		gpus: "it supports NVIDIA GPUs from Pascal on (compute capability 6.0; newest releases from 7.0)",
		command: func(program, file string, _ bool) []string {
			return []string{program, "profile", "-t", "cuda,nvtx,osrt,cudnn,cublas", "-s", "none", "--capture-range=cudaProfilerApi",
				"--capture-range-end=stop", "--stats=false", "-f", "true", "-o", file}
		},
		after: func(program, file string) ([]string, string) {
			return []string{program, "export", "-t", "sqlite", "-f", "true", "-o", file + ".sqlite", file + ".nsys-rep"}, ""
		}},
	{name: "ncu", programs: []string{"ncu", "nv-nsight-cu-cli"}, emit: "nvtx",
		get:  "install NVIDIA Nsight Compute (part of the CUDA toolkit, or developer.nvidia.com/nsight-compute)",
		gpus: "it supports NVIDIA GPUs from Volta on (compute capability 7.0), and needs the permission to read performance counters",
		command: func(program, file string, metrics bool) []string {
			set := "basic"
			if metrics {
				set = "full"
			}
			return []string{program, "--set", set, "--profile-from-start", "off", "--nvtx", "--target-processes", "all", "-f", "-o", file}
		},
		after: func(program, file string) ([]string, string) {
			return []string{program, "-i", file + ".ncu-rep", "--csv", "--page", "raw", "--print-units", "base"}, file + ".csv"
		}},
	{name: "rocprof", programs: []string{"rocprofv3", "rocprof"}, emit: "nvtx",
		get:  "install ROCm's profiler (rocprofiler-sdk, or rocprofiler of ROCm before 6.2)",
		gpus: "it supports the AMD GPUs that ROCm supports",
		command: func(program, file string, _ bool) []string {
			if strings.HasSuffix(filepath.Base(program), "v3") {
				return []string{program, "--hip-trace", "--kernel-trace", "--memory-copy-trace", "--marker-trace", "--output-format", "csv",
					"-d", filepath.Dir(file), "-o", filepath.Base(file) + "-%pid%", "--"}
			}
			return []string{program, "--timestamp", "on", "-o", file + ".csv"}
		}},
	{name: "vtune", programs: []string{"vtune"}, emit: "itt",
		get:  "install Intel VTune Profiler (intel-oneapi-vtune of Intel's package repositories)",
		gpus: "it supports Intel's CPUs and GPUs",
		command: func(program, file string, _ bool) []string {
			return []string{program, "-collect", "hotspots", "-result-dir", file, "--"}
		},
		after: func(program, file string) ([]string, string) {
			return []string{program, "-report", "hotspots", "-result-dir", file, "-format", "csv", "-csv-delimiter", "comma",
				"-report-output", file + ".csv"}, ""
		}},
}

// withTool is the tool that a run asks for, nil for none; the error says how to get one that is not installed.
func withTool(name string) (*otherTool, string, error) {
	if name == "" {
		return nil, "", nil
	}
	var names []string
	for i := range otherTools {
		t := &otherTools[i]
		names = append(names, t.name)
		if t.name != name {
			continue
		}
		for _, program := range t.programs {
			if path, err := exec.LookPath(program); err == nil {
				if path, err = filepath.Abs(path); err == nil {
					return t, path, nil
				}
			}
		}
		return nil, "", usage("--with %s: %s is not installed: %s; %s", name, strings.Join(t.programs, " or "), t.get, t.gpus)
	}
	return nil, "", oneOf("--with", name, names...)
}

// The tool's own words go to standard error: standard output is the program's, which the tool hands on as descriptor 3. The program's
// exit status goes into a file, since tools end with one of their own.
const (
	outerShell = `exec 3>&1 1>&2; exec "$@"`
	innerShell = `status="$1"; shift; if { : >&3; } 2>/dev/null; then exec 1>&3 3>&-; fi; "$@"; code=$?; echo $code >"$status"; exit $code`
)

// under is the command line that runs a program under a tool, with results in the launcher's folder.
func (t *otherTool) under(program, folder string, metrics bool, c collect.Command) collect.Command {
	argv := []string{"sh", "-c", outerShell, "sh"}
	argv = append(argv, t.command(program, filepath.Join(folder, record.WithPrefix+t.name), metrics)...)
	argv = append(argv, "/bin/sh", "-c", innerShell, "sh", filepath.Join(folder, withStatus), c.Path)
	return collect.Command{Path: "/bin/sh", Argv: append(argv, c.Argv[1:]...), Interpreter: c.Interpreter}
}

// withStatus is the file with the exit status of a program that ran under a tool.
const withStatus = ".with-status"

// underTool ends a run under another tool: what it wrote is turned into files that report reads, and the outcome is the program's
// own again.
func (l *launch) underTool(ctx context.Context, outcome *collect.Outcome) {
	if l.with == nil || l.session == nil {
		return
	}
	status := filepath.Join(l.session.folder, withStatus)
	text, err := os.ReadFile(status)
	_ = os.Remove(status)
	if code, bad := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && bad == nil {
		if code != outcome.Code {
			outcome.Code, outcome.Number = code, 0
		}
	} else {
		l.warn("--with %s: it ended with status %d before the program did; what it said stands above", l.with.name, outcome.Code)
	}
	file := filepath.Join(l.session.folder, record.WithPrefix+l.with.name)
	if l.with.after != nil {
		if err := l.convert(ctx, file); err != nil {
			l.session.launcher.AddNote("with", fmt.Sprintf("%s wrote nothing that can be read: %v", l.with.name, err))
		}
	}
	if found, _ := filepath.Glob(file + "*"); len(found) == 0 {
		l.session.launcher.AddNote("with", l.with.name+" wrote no file: it recorded nothing; "+l.with.gpus)
	}
}

// maxConversion is how long a tool may take to write its results in a form that can be read.
const maxConversion = 10 * time.Minute

// convert runs the tool once more over its own results.
func (l *launch) convert(ctx context.Context, file string) error {
	ctx, cancel := context.WithTimeout(ctx, maxConversion)
	defer cancel()
	argv, output := l.with.after(l.withPath, file)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	if output != "" {
		out, err := os.OpenFile(output, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, record.FileMode)
		if err != nil {
			return err
		}
		defer out.Close()
		cmd.Stdout = out
		return cmd.Run()
	}
	said, err := cmd.CombinedOutput()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(said)), "\n")
		return errors.Join(err, errors.New(lines[len(lines)-1]))
	}
	return nil
}
