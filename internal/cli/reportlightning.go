package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bottleneck/internal/model"
	"bottleneck/internal/view"
)

// writeLightning prints the trainer's actions of each process that has some as Lightning's SimpleProfiler does.
func (o *reportOptions) writeLightning(w io.Writer, s *model.Session) error {
	found := false
	for _, p := range s.Processes {
		actions, elapsed := view.LightningActions(p, s.Strings)
		if len(actions) == 0 || len(o.text.Ranks) > 0 && !slices.Contains(o.text.Ranks, p.Rank) {
			continue
		}
		found = true
		if o.reportDir != "" {
			if err := o.lightningFile(p, actions, elapsed); err != nil {
				return err
			}
			continue
		}
		if err := view.LightningTable(w, strings.ToUpper(view.LightningStage(actions)), actions, elapsed); err != nil {
			return err
		}
	}
	if !found {
		return unusable(fmt.Errorf("--style lightning: no trainer's actions were recorded"))
	}
	return nil
}

// lightningFile writes one process's table as Lightning's profilers name theirs with dirpath and filename:
// <stage>-<filename>[-<rank>].txt, the rank where there are several.
func (o *reportOptions) lightningFile(p *model.Process, actions []view.LightningAction, elapsed float64) error {
	stage := view.LightningStage(actions)
	name := strings.NewReplacer(`\`, "_", "/", "_", ":", "_", "*", "_", "?", "_", `"`, "_", "<", "_", ">", "_", "|", "_").Replace(o.filename)
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
	return errors.Join(view.LightningTable(f, strings.ToUpper(stage), actions, elapsed), f.Close())
}
