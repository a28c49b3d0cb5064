package export

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/view"
	"bytes"
	"context"
	"fmt"
	"io"
)

// writeLightning writes the actions table of each process that has actions. Tables of several ranks are told apart by a
// line above them, which Lightning does by writing a file for each.
func writeLightning(_ context.Context, s *model.Session, w io.Writer, opt Options) error {
	var out bytes.Buffer // a table has a line per action: small
	var tables int
	for _, p := range s.Processes {
		actions, elapsed := report.LightningActions(p, s.Strings)
		if len(actions) == 0 || opt.Rank != model.NoRank && p.Rank != opt.Rank {
			continue
		}
		if p.Rank != model.NoRank && p.WorldSize > 1 {
			fmt.Fprintf(&out, "rank: %d\n", p.Rank)
		}
		if err := view.LightningTable(&out, view.LightningStage(actions), actions, elapsed); err != nil {
			return err
		}
		if err := view.LightningNote(&out, actions); err != nil {
			return err
		}
		tables++
	}
	if tables == 0 {
		return &UnavailableError{"lightning", "no process of the session ran a trainer (Lightning, Hugging Face, Accelerate, DeepSpeed)"}
	}
	_, err := w.Write(out.Bytes())
	return err
}
