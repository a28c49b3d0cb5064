package cli

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/view"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// writeLightning prints the trainer's actions of each process that has some as Lightning's SimpleProfiler does, and the
// functions within each, where they were counted, as its AdvancedProfiler does.
func (o *reportOptions) writeLightning(w io.Writer, s *model.Session) error {
	found := false
	for i, p := range s.Processes {
		actions, _ := report.LightningActions(p, s.Strings)
		if len(actions) == 0 || len(o.text.Ranks) > 0 && !slices.Contains(o.text.Ranks, p.Rank) {
			continue
		}
		found = true
		if o.reportDir != "" {
			if err := o.lightningFile(s, i); err != nil {
				return err
			}
			continue
		}
		if err := o.lightningTables(w, s, i); err != nil {
			return err
		}
	}
	if !found {
		return unusable(fmt.Errorf("--style lightning: no trainer's actions were recorded"))
	}
	return nil
}

// lightningTables writes what there is of one process.
func (o *reportOptions) lightningTables(w io.Writer, s *model.Session, process int) error {
	p := s.Processes[process]
	actions, elapsed := report.LightningActions(p, s.Strings)
	stage := view.LightningStage(actions)
	functions, err := view.LightningFunctions(s, process, view.CallsTableOptions{SortBy: o.sortBy, RowLimit: o.rowLimit})
	if err != nil {
		return usage("--style lightning: %v", err)
	}
	if err := view.LightningTable(w, stage, actions, elapsed); err != nil {
		return err
	}
	if err := view.LightningNote(w, actions); err != nil || len(functions) == 0 {
		return err
	}
	return view.LightningSections(w, stage, max(p.Rank, 0), functions)
}

// lightningFile writes one process's table as Lightning's profilers name theirs with dirpath and filename:
// <stage>-<filename>[-<rank>].txt, the rank where there are several.
func (o *reportOptions) lightningFile(s *model.Session, process int) error {
	p := s.Processes[process]
	actions, _ := report.LightningActions(p, s.Strings)
	stage := view.LightningStage(actions)
	name := strings.NewReplacer(`\`, "_", "/", "_", ":", "_", "*", "_", "?", "_", `"`, "_", "<", "_", ">", "_", "|",
		"_").Replace(o.filename)
	if stage != "" {
		name = stage + "-" + name
	}
	if p.WorldSize > 1 {
		name += fmt.Sprintf("-%d", p.Rank)
	}
	if err := os.MkdirAll(o.reportDir, 0o777); err != nil {
		return unusable(fmt.Errorf("--report-dir: %w", err))
	}
	f, err := os.Create(filepath.Join(o.reportDir, name+".txt"))
	if err != nil {
		return unusable(fmt.Errorf("--report-dir: %w", err))
	}
	return errors.Join(o.lightningTables(f, s, process), f.Close())
}
