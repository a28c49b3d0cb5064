package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	binary := flag.String("binary", "./bottleneck", "what is asked for reports")
	traces := flag.String("traces", "../shared/traces", "folder of real traces")
	python := flag.String("python", "", "interpreter of programs; none are run without")
	sessions := flag.String("sessions", "", "folder that keeps the programs' sessions, and whose sessions are not measured again")
	check := flag.Bool("check", false, "write nothing, and fail where a report of a trace is another today")
	flag.Parse()
	pages, err := filepath.Glob("docs/causes/*.md")
	if err != nil || len(pages) == 0 {
		fail(fmt.Errorf("no pages in docs/causes: %v", err))
	}
	stale := 0
	if *binary, err = filepath.Abs(*binary); err != nil {
		fail(err)
	}
	m := maker{binary: *binary, traces: *traces, python: *python, sessions: *sessions}
	for _, page := range pages {
		old, err := os.ReadFile(page)
		if err != nil {
			fail(err)
		}
		text, err := m.page(strings.TrimSuffix(filepath.Base(page), ".md"), string(old))
		if err != nil {
			fail(fmt.Errorf("%s: %w", page, err))
		}
		if text == string(old) {
			continue
		}
		stale++
		fmt.Println(page)
		if !*check {
			if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
				fail(err)
			}
		}
	}
	if *check && stale > 0 {
		fail(fmt.Errorf("%d pages show another report than today's: make causes", stale))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "causes:", err)
	os.Exit(1)
}

// maker makes reports.
type maker struct{ binary, traces, python, sessions string }

// block is a report on a page, with the line that says how it was made.
var block = regexp.MustCompile("(?s)(<!-- (trace|run): ([^\n]+) -->\n+)```text\n(.*?)```")

// page is a page's text with its reports made anew.
func (m maker) page(cause, text string) (string, error) {
	var failed error
	out := block.ReplaceAllStringFunc(text, func(old string) string {
		part := block.FindStringSubmatch(old)
		report, err := m.report(part[2], part[3])
		if err != nil {
			failed = err
		}
		if report == "" {
			return old
		}
		found := finding(report, tag(part[4], cause), cause)
		if found == "" {
			fmt.Fprintf(os.Stderr, "causes: today's report of %s has no finding of %s: the old one stays\n", part[3], cause)
			return old
		}
		return part[1] + "```text\n" + found + "```"
	})
	return out, failed
}

// report is the findings of what a page names; empty where it is not made this time.
func (m maker) report(kind, of string) (string, error) {
	if kind == "trace" {
		return m.ask("report", "--section", "findings", filepath.Join(m.traces, of))
	}
	folder := m.sessions
	if folder == "" {
		temporary, err := os.MkdirTemp("", "causes")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(temporary)
		folder = temporary
	}
	session := filepath.Join(folder, strings.NewReplacer("/", "_", " ", "_").Replace(of))
	if _, err := os.Stat(session); err != nil {
		if m.python == "" {
			return "", nil
		}
		args := append([]string{"run", "--out", session, "-o", os.DevNull, "--", m.python}, strings.Fields(of)...)
		if _, err := m.ask(args...); err != nil {
			return "", err
		}
	}
	return m.ask("report", "--section", "findings", session)
}

// ask gives what the binary prints, with places named from the checkout on.
func (m maker) ask(args ...string) (string, error) {
	cmd := exec.Command(m.binary, args...)
	cmd.Stderr = os.Stderr
	if slow := filepath.Join(filepath.Dir(args[len(args)-1]), "slow"); isFolder(slow) {
		cmd.Env = append(os.Environ(), "PYTHONPATH="+slow) // the modules of a zoo program that its twin has otherwise
	}
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("bottleneck %s: %w", strings.Join(args, " "), err)
	}
	here, err := os.Getwd()
	return strings.ReplaceAll(string(out), here+string(filepath.Separator), ""), err
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

var tags = regexp.MustCompile(`\[([a-z-]+(?:/[a-z-]+)?)\]`)

// tag is the name that an old report's finding has.
func tag(old, cause string) string {
	if found := tags.FindStringSubmatch(old); found != nil && (found[1] == cause || strings.HasPrefix(found[1], cause+"/")) {
		return found[1]
	}
	return cause
}

var starts = regexp.MustCompile(`(?m)^ *\d+\. `)

// finding is the first finding of a report with a tag, else the first of the cause.
func finding(report, tag, cause string) string {
	at := starts.FindAllStringIndex(report, -1)
	for _, wanted := range []string{"[" + tag + "]", "[" + cause} {
		for i, from := range at {
			to := len(report)
			if i+1 < len(at) {
				to = at[i+1][0]
			}
			text, _, _ := strings.Cut(report[from[0]:to], "\n\n")
			if strings.Contains(text, wanted) {
				return strings.TrimRight(text, "\n") + "\n"
			}
		}
	}
	return ""
}
