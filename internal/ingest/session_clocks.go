package ingest

import (
	"fmt"
	"path/filepath"
	"time"

	"bottleneck/internal/model"
	"bottleneck/internal/record"
)

// clockTolerance is how far steps may lie outside of their run before its clocks are said to disagree.
const clockTolerance = 10 * time.Second

// clocks says of each process whose steps lie outside of the run, as its launcher timed that, that their clocks disagree: the launcher's
// samples are then not those of the steps. Other hosts' clocks are their own.
func (r *sessionReader) clocks() {
	run := r.s.Run
	if run == nil || len(r.starts) == 0 || run.Start <= 0 || run.End <= run.Start {
		return
	}
	for i, p := range r.added() {
		if len(p.Steps) == 0 || p.Host != r.starts[0].Host || i >= len(r.folders) {
			continue
		}
		off := max(p.Steps[len(p.Steps)-1].End.Sub(run.End), run.Start.Sub(p.Steps[0].Start))
		if off <= model.Dur(clockTolerance) {
			continue
		}
		r.diagnose(filepath.Join(r.folders[i], record.ProcessName), "clock", 1,
			fmt.Sprintf(
				"its steps lie %s outside of the run: its clock and the launcher's disagree, and samples are not those of its steps",
				time.Duration(off).Round(time.Second)))
	}
}
