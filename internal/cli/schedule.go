package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// defined finds the names that a Python file defines at its top level.
var defined = regexp.MustCompile(`(?m)^(?:(?:async\s+)?def|class)\s+(\w+)|^(\w+)\s*=[^=]|^from\s+[\w.]+\s+import\s+(.+)`)

// checkSchedule completes and judges --schedule and --schedule-py before the program starts.
func (o *runOptions) checkSchedule() error {
	c := &o.config
	if c.Schedule != nil && c.SchedulePy != "" {
		return usage("--schedule and --schedule-py exclude each other")
	}
	if c.Schedule != nil && c.Steps > 0 {
		s := c.Schedule
		first := s.SkipFirst + s.WarmUp
		if s.SkipFirstWait == 0 {
			first += s.Wait
		}
		if int64(first) >= c.Steps {
			return usage(
				"--schedule: nothing would be recorded: its first recorded step is number %d, and --steps %d ends the measuring before it",
				first, c.Steps)
		}
	}
	if c.SchedulePy == "" {
		return nil
	}
	cut := strings.LastIndexByte(c.SchedulePy, ':')
	if cut <= 0 || cut == len(c.SchedulePy)-1 {
		return usage("--schedule-py: %q is not FILE:FUNC", c.SchedulePy)
	}
	file, name := c.SchedulePy[:cut], c.SchedulePy[cut+1:]
	text, err := os.ReadFile(file)
	if err != nil {
		return usage("--schedule-py: read %s: %v", file, cause(err))
	}
	names := definedNames(string(text))
	if !slices.Contains(names, name) && !strings.Contains(string(text), "import *") {
		return usage("--schedule-py: %s defines no %q%s", file, name, didYouMean(name, names))
	}
	whole, err := filepath.Abs(file)
	if err != nil {
		return fmt.Errorf("--schedule-py: %w", err)
	}
	c.SchedulePy = whole + ":" + name
	return nil
}

// definedNames lists what a Python text defines at its top level: functions, classes, assigned and imported names.
func definedNames(text string) []string {
	var names []string
	for _, m := range defined.FindAllStringSubmatch(text, -1) {
		for _, name := range strings.Split(m[1]+m[2]+m[3], ",") {
			fields := strings.Fields(strings.Trim(name, "() "))
			if len(fields) > 0 {
				names = append(names, fields[len(fields)-1]) // of "a as b", b
			}
		}
	}
	return names
}
