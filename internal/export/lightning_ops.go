package export

import (
	"bytes"
	"context"
	"io"
	"strings"

	"bottleneck/internal/analyse/keyaverages"
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/view"
)

// lightningRows is how many operators Lightning prints unless it is told otherwise.
const lightningRows = 20

// writeLightningOperators writes, for each traced process, the operator table of each action of which spans lie in a
// trace: what began within the action, in the traced steps.
func writeLightningOperators(ctx context.Context, s *model.Session, w io.Writer, opt Options) error {
	var out bytes.Buffer
	for i, p := range s.Processes {
		if opt.Rank != model.NoRank && p.Rank != opt.Rank {
			continue
		}
		sections, err := operatorSections(ctx, s, i, opt)
		if err != nil {
			return err
		}
		if len(sections) == 0 {
			continue
		}
		actions, _ := report.LightningActions(p, s.Strings)
		if err := view.LightningSections(&out, view.LightningStage(actions), p.Rank, sections); err != nil {
			return err
		}
		out.WriteByte('\n')
	}
	if out.Len() == 0 {
		return &UnavailableError{
			"lightning-operators", "no action of a trainer (Lightning, Hugging Face, Accelerate, DeepSpeed) lies in a trace",
		}
	}
	_, err := w.Write(out.Bytes())
	return err
}

// operatorSections makes one process's tables, actions in the order in which they first occurred.
func operatorSections(ctx context.Context, s *model.Session, process int, opt Options) ([]view.LightningSection, error) {
	p := s.Processes[process]
	spans := view.ActionSpans(p, s.Strings)
	if len(spans) == 0 {
		return nil, nil
	}
	actions, _ := report.LightningActions(p, s.Strings)
	table := view.NewTorchTableOptions()
	table.SortBy, table.RowLimit = "cpu_time_total", lightningRows
	if opt.SortBy != "" {
		table.SortBy = opt.SortBy
	}
	if opt.RowLimit > 0 {
		table.RowLimit = opt.RowLimit
	}
	keys := keyaverages.Options{ByShapes: opt.GroupByInputShapes, ByStack: opt.GroupByStackN}
	var sections []view.LightningSection
	for _, a := range actions {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var rows []view.TorchRow
		for _, t := range s.Traces {
			if t.Process != process {
				continue
			}
			if inside := spansIn(spans[a.Name], t.From, t.To); len(inside) > 0 {
				rows = view.MergeTorchRows(rows, view.TorchRowsWithin(t, s.Strings, keys, inside))
			}
			table.Memory = table.Memory || t.Features.Memory
			if t.Features.Device {
				table.Device = "cuda"
			}
		}
		if len(rows) == 0 {
			continue
		}
		var text strings.Builder
		if err := view.TorchTable(&text, rows, table); err != nil {
			return nil, err
		}
		sections = append(sections, view.LightningSection{Action: a.Name, Text: text.String()})
	}
	return sections, nil
}

// spansIn keeps the spans that reach into an interval.
func spansIn(spans []view.TimeSpan, from, to model.Time) []view.TimeSpan {
	var inside []view.TimeSpan
	for _, s := range spans {
		if s.End > from && s.Start < to {
			inside = append(inside, s)
		}
	}
	return inside
}
