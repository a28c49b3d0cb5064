package cli

import (
	"fmt"
	"io"
	"slices"

	"bottleneck/internal/analyse/keyaverages"
	"bottleneck/internal/export"
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/view"
)

// writeTorch prints the operator table as torch.profiler's key_averages().table() does: of one trace digit by digit, of
// several their sum.
func (o *reportOptions) writeTorch(w io.Writer, s *model.Session) error {
	if len(s.Traces) == 0 {
		if len(s.Calls) > 0 {
			return o.writeCalls(w, s)
		}
		return unusable(fmt.Errorf("--style torch: there is no trace in the input"))
	}
	rows, options := o.torchTable(s)
	if err := view.TorchTable(w, rows, options); err != nil {
		return usage("--sort-by: %v", err)
	}
	return nil
}

// torchTable makes the rows of torch's table of all traces, none without a trace, and its options as the flags have them.
func (o *reportOptions) torchTable(s *model.Session) ([]view.TorchRow, view.TorchTableOptions) {
	group := keyaverages.Options{ByShapes: o.build.GroupByInputShape, ByStack: o.build.GroupByStack}
	var rows []view.TorchRow
	switch len(s.Traces) {
	case 0:
	case 1:
		rows = view.TorchRows(s.Traces[0], s.Strings, group)
	default:
		rows = view.TorchRowsOf(keyaverages.Of(s.Traces, s.Strings, group), group)
	}
	options := view.NewTorchTableOptions()
	options.SortBy, options.MaxNameWidth, options.TopLevelOnly = o.sortBy, o.maxNameWidth, o.topLevelOnly
	options.MaxSrcWidth, options.MaxShapes, options.Header, options.TimeUnit = o.maxSourceWidth, o.maxShapesWidth, o.header, o.timeUnit
	if o.rowLimit != 0 {
		options.RowLimit = o.rowLimit
	}
	for _, t := range s.Traces {
		options.Memory = options.Memory || t.Features.Memory
		options.Flops = options.Flops || t.Features.Flops
		if options.Device == "" && t.Features.Device {
			options.Device = deviceName(s, t)
		}
	}
	return rows, options
}

// writeClassic prints the four sections of the old torch.utils.bottleneck; calls of all processes are added up.
func (o *reportOptions) writeClassic(w io.Writer, s *model.Session, r *report.Report) error {
	var calls *model.Calls
	if len(s.Calls) > 0 {
		calls = export.MergeCalls(s.Calls)
	}
	rows, options := o.torchTable(s)
	return view.Classic(w, r, s.Environment.TorchDebug, calls, rows, options)
}

// deviceName is torch's name for the traces' kind of device.
func deviceName(s *model.Session, _ *model.Trace) string {
	if s.Environment.HIP == "" && slices.ContainsFunc(s.Environment.GPUs, func(g model.GPU) bool {
		return g.ComputeMajor == 0 && g.Name != ""
	}) {
		return "xpu"
	}
	return "cuda"
}

// writeCalls prints exact call counts as pstats does.
func (o *reportOptions) writeCalls(w io.Writer, s *model.Session) error {
	for _, calls := range s.Calls {
		if len(calls.Functions) == 0 {
			continue // lines alone
		}
		if err := view.CallsTable(w, calls, view.CallsTableOptions{SortBy: o.sortBy, RowLimit: max(0, o.rowLimit)}); err != nil {
			return usage("--sort-by: %v", err)
		}
	}
	return nil
}
