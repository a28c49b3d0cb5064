package view

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"fmt"
	"io"
	"slices"
	"strings"
)

// LightningNote writes, under LightningTable, which calls its times are of; nothing where that is not known.
func LightningNote(w io.Writer, actions []report.LightningAction) error {
	var calls, undistorted int64
	var none []string
	for _, a := range actions {
		if a.Undistorted < 0 {
			continue
		}
		calls += a.Count
		undistorted += a.Undistorted
		if a.Undistorted == 0 {
			none = append(none, a.Name)
		}
	}
	if calls == 0 || calls == undistorted {
		return nil
	}
	slices.Sort(none)
	text := fmt.Sprintf("Means are of the %s of %s calls outside of the profiler's windows, totals are means times all calls",
		units.Count(undistorted), units.Count(calls))
	if len(none) > 0 {
		text += "; no call lay outside, and all count, for: " + strings.Join(none, ", ")
	}
	_, err := io.WriteString(w, text+".\n")
	return err
}

// LightningFunctions gives the functions of each action of the process with this number, as Lightning's AdvancedProfiler prints
// them: by cumulative time, file names without folders, 15 rows, if opt says nothing else; none where no calls were counted.
func LightningFunctions(s *model.Session, process int, opt CallsTableOptions) (sections []LightningSection, err error) {
	if opt.SortBy == "" {
		opt.SortBy = "cumtime"
	}
	if opt.RowLimit == 0 {
		opt.RowLimit = report.LightningCallRows
	}
	opt.StripDirs = true
	actions, _ := report.LightningActions(s.Processes[process], s.Strings)
	for _, a := range report.ActionCalls(s, process) {
		var text strings.Builder
		if at := slices.IndexFunc(actions, func(l report.LightningAction) bool { return l.Name == a.Name }); at >= 0 &&
			actions[at].Count > a.Measured {
			fmt.Fprintf(&text, "         of %d of %d calls\n", a.Measured, actions[at].Count)
		}
		if err := CallsTable(&text, &model.Calls{Functions: a.Functions}, opt); err != nil {
			return nil, err
		}
		sections = append(sections, LightningSection{Action: a.Name, Text: text.String()})
	}
	return sections, nil
}
