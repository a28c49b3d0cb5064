package view

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ErrNoDeviceWork says that no trace holds kernels, copies or sets.
var ErrNoDeviceWork = errors.New("the input holds no work of a device")

// ErrNoDeviceCalls says that no trace holds calls of a device's runtime or driver.
var ErrNoDeviceCalls = errors.New("the input holds no calls of a device's runtime")

// deviceRow is a kernel, copy or set of one of the traces.
type deviceRow struct {
	trace *model.Trace
	of    int // the trace's number
	id    model.EventID
	start model.Time
}

func (r *deviceRow) args() *model.DeviceArgs {
	return r.trace.Events.DeviceArgsOf(r.trace.Events.Detail[r.id])
}

func (r *deviceRow) dur() model.Dur { return r.trace.Events.Dur[r.id] }

func (r *deviceRow) lane() *model.Lane { return &r.trace.Lanes[r.trace.Events.Lane[r.id]] }

// GPUTrace writes one row for each kernel, copy and set in the order of their beginning, with what nvprof's --print-gpu-trace has:
// times count from the start of the earliest trace.
func GPUTrace(w io.Writer, s *model.Session, opt TextOptions) error {
	rows, begin := deviceRows(s)
	if len(rows) == 0 {
		return ErrNoDeviceWork
	}
	shown := rows[:rowLimit(len(rows), opt)]
	p := newPrinter(&report.Report{}, TextOptions{Width: wholeNames})
	writeKnown(p, []column[deviceRow]{
		{"start", func(r *deviceRow) string { return fmt.Sprintf("%.4f ms", r.start.Sub(begin).Ms()) }, number},
		{"duration", func(r *deviceRow) string { return units.Milliseconds(r.dur().Ms()) }, number},
		{"grid", func(r *deviceRow) string {
			return r.ofKernel(func(a *model.DeviceArgs) string { return triple(a.Grid) })
		}, number},
		{"block", func(r *deviceRow) string {
			return r.ofKernel(func(a *model.DeviceArgs) string { return triple(a.Block) })
		}, number},
		{"regs", func(r *deviceRow) string {
			return r.ofKernel(func(a *model.DeviceArgs) string { return fmt.Sprint(a.Registers) })
		}, number},
		{"shared", func(r *deviceRow) string {
			return r.ofKernel(func(a *model.DeviceArgs) string { return units.Bytes(float64(a.SharedBytes)) })
		}, number},
		{"size", (*deviceRow).size, number},
		{"throughput", (*deviceRow).rate, number},
		{"device", func(r *deviceRow) string { return fmt.Sprint(r.lane().Device) }, number},
		{"stream", func(r *deviceRow) string { return fmt.Sprint(r.lane().Stream) }, number},
		{"rank", (*deviceRow).rank, number},
		{"name", func(r *deviceRow) string { return wholeName(s.Strings.Text(r.trace.Events.Name[r.id]), opt) }, 0},
	}, shown)
	if more := len(rows) - len(shown); more > 0 {
		p.line("  … and %s more", units.Count(int64(more)))
	}
	return p.flush(w)
}

// ofKernel is a text about how a kernel was launched, where that was recorded.
func (r *deviceRow) ofKernel(text func(*model.DeviceArgs) string) string {
	if args := r.args(); r.trace.Events.Kind[r.id] == model.KindKernel && args.Grid != [3]int32{} {
		return text(args)
	}
	return unknown
}

func (r *deviceRow) size() string {
	if r.args().Bytes < 0 {
		return unknown
	}
	return units.Bytes(float64(r.args().Bytes))
}

func (r *deviceRow) rate() string {
	if r.args().Bytes < 0 || r.dur() <= 0 {
		return unknown
	}
	return units.Bytes(float64(r.args().Bytes)/r.dur().Seconds()) + "/s"
}

func (r *deviceRow) rank() string {
	if r.trace.Rank == model.NoRank {
		return unknown
	}
	return fmt.Sprint(r.trace.Rank)
}

// rowLimit is how many of n rows the options let through: all, unless they say otherwise.
func rowLimit(n int, opt TextOptions) int {
	if opt.RowLimit > 0 {
		return min(n, opt.RowLimit)
	}
	return n
}

// longName is how much of a name is shown; with All the whole. Those of templates have thousands of characters.
const longName = 160

func wholeName(name string, opt TextOptions) string {
	if opt.All {
		return units.Printable(name)
	}
	return units.Clip(units.Printable(name), longName)
}

// wholeNames is a width that no name reaches.
const wholeNames = 1 << 20

func (p *printer) flush(w io.Writer) error {
	return p.writeTo(w, "report")
}

func deviceRows(s *model.Session) (rows []deviceRow, begin model.Time) {
	for n, t := range s.Traces {
		if begin == 0 || t.From < begin {
			begin = t.From
		}
		for i, kind := range t.Events.Kind {
			if kind.Device() {
				rows = append(rows, deviceRow{t, n, model.EventID(i), t.Events.Start[i]})
			}
		}
	}
	slices.SortFunc(rows, func(a, b deviceRow) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.of, b.of), cmp.Compare(a.id, b.id))
	})
	return rows, begin
}

func triple(v [3]int32) string { return fmt.Sprintf("(%d %d %d)", v[0], v[1], v[2]) }

// callSum adds up work or calls of one name.
type callSum struct {
	name            string
	calls           int64
	total, min, max model.Dur
}

// GPUSummary writes the table of nvprof's --print-gpu-summary: kernels, copies and sets by name.
func GPUSummary(w io.Writer, s *model.Session, opt TextOptions) error {
	return summary(w, s, "GPU activities", model.Kind.Device, opt, ErrNoDeviceWork)
}

// APISummary writes the table of nvprof's --print-api-summary: calls of the device's runtime and driver by name.
func APISummary(w io.Writer, s *model.Session, opt TextOptions) error {
	return summary(w, s, "API calls", func(k model.Kind) bool { return k == model.KindRuntime }, opt, ErrNoDeviceCalls)
}

func summary(w io.Writer, s *model.Session, title string, wanted func(model.Kind) bool, opt TextOptions, none error) error {
	sums := callSums(s, wanted)
	sums = append(sums, fileSums(s, wanted(model.KindRuntime))...)
	if len(sums) == 0 {
		return none
	}
	slices.SortStableFunc(sums, func(a, b callSum) int { return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.name, b.name)) })
	total := model.Dur(0)
	for i := range sums {
		total += sums[i].total
	}
	shown := sums[:rowLimit(len(sums), opt)]
	p := newPrinter(&report.Report{}, TextOptions{Width: wholeNames})
	p.heading(title, fmt.Sprintf("%s in %d names", units.Milliseconds(total.Ms()), len(sums)))
	writeTable(p, []column[callSum]{
		{"time(%)", func(c *callSum) string { return units.Percent(float64(c.total) / max(float64(total), 1)) }, number},
		{"time", func(c *callSum) string { return units.Milliseconds(c.total.Ms()) }, number},
		{"calls", func(c *callSum) string { return units.Count(c.calls) }, number},
		{"avg", func(c *callSum) string { return units.Milliseconds(c.total.Ms() / float64(c.calls)) }, number},
		{"min", func(c *callSum) string { return c.extreme(c.min) }, number},
		{"max", func(c *callSum) string { return c.extreme(c.max) }, number},
		{"name", func(c *callSum) string { return wholeName(c.name, opt) }, 0},
	}, shown)
	if more := len(sums) - len(shown); more > 0 {
		p.line("  … and %s more names", units.Count(int64(more)))
	}
	return p.flush(w)
}

func callSums(s *model.Session, wanted func(model.Kind) bool) []callSum {
	index := map[model.Str]int{}
	var sums []callSum
	for _, t := range s.Traces {
		for i, kind := range t.Events.Kind {
			if !wanted(kind) {
				continue
			}
			at, known := index[t.Events.Name[i]]
			dur := t.Events.Dur[i]
			if !known {
				at = len(sums)
				index[t.Events.Name[i]] = at
				sums = append(sums, callSum{name: s.Strings.Text(t.Events.Name[i]), min: dur, max: dur})
			}
			c := &sums[at]
			c.calls++
			c.total += dur
			c.min, c.max = min(c.min, dur), max(c.max, dur)
		}
	}
	return sums
}

// extreme is the shortest or longest call, which tables of some tools do not have.
func (c *callSum) extreme(d model.Dur) string {
	if d < 0 {
		return unknown
	}
	return units.Milliseconds(d.Ms())
}

// fileSums are the sums of tables that other tools printed, of calls or of work.
func fileSums(s *model.Session, calls bool) (sums []callSum) {
	for _, t := range s.FileTables {
		count, at := 3, 2
		switch {
		case calls && t.Name == "api-summary", !calls && t.Name == "gpu-summary":
		case !calls && t.Name == "ncu":
			count = 1
		default:
			continue
		}
		for _, row := range t.Rows {
			c := callSum{name: row[0].Text, calls: max(int64(row[count].Number), 1), total: model.Dur(row[at].Number), min: -1, max: -1}
			if count == 3 && !row[5].None && !row[6].None {
				c.min, c.max = model.Dur(row[5].Number), model.Dur(row[6].Number)
			}
			sums = append(sums, c)
		}
	}
	return sums
}
