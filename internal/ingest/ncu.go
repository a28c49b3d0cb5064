package ingest

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// Columns by which the tables of `ncu --csv` are known: its pages "details" and "raw", and its summary per kernel.
var (
	ncuDetailColumns  = []string{"id", "kernelname", "metricname", "metricvalue"}
	ncuSummaryColumns = []string{"kernelname", "invocations", "metricname", "average"}
	ncuRawColumns     = []string{"id", "kernelname", "blocksize", "gridsize"}
	ncuBareColumns    = []string{"id", "kernelname", "gputimedurationsum"}
)

var ncuColumns = [][]string{ncuDetailColumns, ncuSummaryColumns, ncuRawColumns, ncuBareColumns}

func isNcu(head []byte) bool { return csvHead(head, ncuColumns...) }

// maxMetricRows bounds the counters that are kept, by kernel and name.
const maxMetricRows = 1 << 18

// metricTable sums up counters by kernel.
type metricTable struct {
	index map[[3]string]*metricSum
	list  []*metricSum
	texts map[string]string // what counters mean, where the file says so
	over  bool
}

type metricSum struct {
	kernel, name, unit string
	n, sum, highest    float64
}

func newMetricTable() *metricTable {
	return &metricTable{index: map[[3]string]*metricSum{}, texts: map[string]string{}}
}

// row adds the value that a counter had on average over n launches of a kernel.
func (m *metricTable) row(kernel, name, unit string, n, value float64, ok bool) {
	if !ok || kernel == "" || name == "" {
		return
	}
	key := [3]string{kernel, name, unit} // a throughput is given as a share and as bytes per second
	s := m.index[key]
	if s == nil {
		if len(m.list) >= maxMetricRows {
			m.over = true
			return
		}
		valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
		s = &metricSum{kernel: valid(kernel), name: valid(name), unit: valid(unit), highest: value}
		m.index[key] = s
		m.list = append(m.list, s)
	}
	s.n += n
	s.sum += n * value
	s.highest = max(s.highest, value)
}

func (m *metricTable) describe(name, text string) {
	if text != "" && len(m.texts) < 1<<14 {
		m.texts[name] = strings.ToValidUTF8(text, "\uFFFD")
	}
}

// mean is a counter of a kernel by one of its names.
func (m *metricTable) mean(kernel, unit string, names ...string) (float64, bool) {
	for _, name := range names {
		for _, unit := range []string{unit, ""} { // of a table without units
			if s := m.index[[3]string{kernel, name, unit}]; s != nil && s.n > 0 {
				return s.sum / s.n, true
			}
		}
	}
	return 0, false
}

// table lists the counters: --analysis-metrics prints them.
func (m *metricTable) table(title string) *model.FileTable {
	t := &model.FileTable{Name: tableMetrics, Title: title, Columns: []model.FileColumn{{Name: "kernel"}, {Name: "counter"},
		{Name: "unit"}, {Name: "launches", Unit: model.FileCount}, {Name: "mean", Unit: model.FileNumber},
		{Name: "highest", Unit: model.FileNumber}, {Name: "meaning"}}}
	for _, s := range m.list {
		t.Rows = append(t.Rows, []model.FileCell{fileText(s.kernel), fileText(s.name), fileText(s.unit), fileNumber(s.n),
			fileNumber(s.sum / s.n), fileNumber(s.highest), fileText(m.texts[s.name])})
	}
	t.Sentence = fmt.Sprintf("%s: %d of them, by kernel.", title, len(t.Rows))
	return t
}

// ncuReader reads what Nsight Compute says of kernels. It runs each of them alone and several times, so that its durations are
// no times of the program.
type ncuReader struct {
	*csvFile
	metrics  *metricTable
	kernels  []string           // in the order of the file
	launches map[string]float64 // by kernel
	ids      map[string]bool
	rules    [][]model.FileCell
	units    []string
}

func readNcu(o *opening, src source, r io.Reader) (func() error, error) {
	c, err := openCSV(r, ncuColumns...)
	if err != nil {
		return nil, &UnusableError{Path: src.path, Reason: "a table of Nsight Compute that cannot be read: " + err.Error(), err: err}
	}
	n := &ncuReader{csvFile: c, metrics: newMetricTable(), launches: map[string]float64{}, ids: map[string]bool{}}
	for c.next() {
		if c.has("metricname") {
			n.metric()
		} else {
			n.launch()
		}
	}
	tables := []*model.FileTable{n.table(), n.metrics.table("Counters of Nsight Compute")}
	if len(n.rules) > 0 {
		tables = slices.Insert(tables, 1, n.advice())
	}
	damage := c.damage()
	if n.metrics.over {
		damage = append(damage, model.Diagnostic{Kind: "too-many-rows", Count: 1, FirstOffset: -1,
			Text: "more than 262,144 counters of different kernels; the others were not read"})
	}
	return addTables(o, src, "ncu", tables, c.rows, damage...), nil
}

// kernel notes a launch of a kernel once.
func (n *ncuReader) kernel(name, id string, launches float64) {
	if _, known := n.launches[name]; !known {
		if len(n.kernels) >= maxMetricRows {
			return
		}
		n.kernels = append(n.kernels, name)
	}
	if id = n.text("processid") + " " + id + " " + name; !n.ids[id] && len(n.ids) < maxRowTexts {
		n.ids[id] = true
		n.launches[name] += launches
	}
}

// metric reads a row of one counter of one launch, or of all launches of a kernel.
func (n *ncuReader) metric() {
	kernel, launches, id := n.text("kernelname"), 1.0, n.text("id")
	if v, ok := n.number("invocations"); ok {
		launches = max(v, 1)
	}
	if kernel == "" {
		return
	}
	n.kernel(kernel, id, launches)
	if value, ok := n.number("metricvalue", "average"); ok {
		value, unit := ncuUnit(value, n.text("metricunit"))
		n.metrics.row(kernel, n.text("metricname"), unit, launches, value, true)
	}
	if rule := n.text("rulename"); rule != "" && n.text("ruletype") != "INF" && len(n.rules) < 1<<14 {
		speedup, ok := n.number("estimatedspeedup")
		n.rules = append(n.rules, []model.FileCell{fileText(strings.ToValidUTF8(kernel, "\uFFFD")), fileText(rule),
			numberOr(speedup/100, ok), fileText(strings.ToValidUTF8(n.text("ruledescription"), "\uFFFD"))})
	}
}

// ncuUnit writes times as nanoseconds and bytes as bytes, whatever prefix ncu chose.
func ncuUnit(value float64, unit string) (float64, string) {
	base, per, rate := strings.Cut(unit, "/")
	if scale, ok := map[string]float64{"Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12}[base]; ok {
		value, base = value*scale, "byte"
	}
	switch base {
	case "nsecond", "usecond", "msecond", "second", "ns", "us", "ms", "s":
		if !rate {
			return value * csvUnits[base], "ns"
		}
	}
	if rate {
		base += "/" + per
	}
	return value, base
}

// launch reads a row of the page "raw": one launch with all its counters. The row below the heading holds units.
func (n *ncuReader) launch() {
	if n.rows == 1 && n.text("kernelname") == "" {
		n.units = slices.Clone(n.row)
		return
	}
	kernel := n.text("kernelname")
	if kernel == "" {
		return
	}
	n.kernel(kernel, n.text("id"), 1)
	for i, name := range n.names {
		if !strings.Contains(name, "__") {
			continue
		}
		if value, ok := csvNumber(n.row[i]); ok {
			unit := ""
			if n.units != nil {
				unit = n.units[i]
			}
			value, unit = ncuUnit(value, unit)
			n.metrics.row(kernel, name, unit, 1, value, true)
		}
	}
}

// Names of the counters that say what a kernel is bound by, on the pages "raw" and "details".
var (
	ncuDuration  = []string{"gpu__time_duration.sum", "gpu__time_duration.avg", "Duration"}
	ncuCompute   = []string{"sm__throughput.avg.pct_of_peak_sustained_elapsed", "Compute (SM) Throughput", "Compute (SM) [%]", "SM [%]"}
	ncuMemory    = []string{"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "Memory Throughput", "Memory [%]"}
	ncuDRAM      = []string{"dram__throughput.avg.pct_of_peak_sustained_elapsed", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM Throughput"}
	ncuOccupancy = []string{"sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy"}
	ncuRegisters = []string{"launch__registers_per_thread", "Registers Per Thread"}
)

// ncuBusy is the throughput, in per cent of the peak, from which Nsight Compute's own rule calls a unit the limit of a kernel.
const ncuBusy = 60

// boundBy says what limits a kernel, as the rule of Nsight Compute's first section does: the unit that is busier, or latency
// where neither is busy.
func boundBy(compute, memory float64, known bool) string {
	switch {
	case !known:
		return ""
	case compute < ncuBusy && memory < ncuBusy:
		return "latency"
	case compute > memory:
		return "compute"
	}
	return "memory"
}

func (n *ncuReader) table() *model.FileTable {
	t := &model.FileTable{Name: "ncu", Title: "Kernels of Nsight Compute", Columns: []model.FileColumn{{Name: "kernel"},
		{Name: "launches", Unit: model.FileCount}, {Name: "time", Unit: model.FileTime}, {Name: "share", Unit: model.FileShare},
		{Name: "compute", Unit: model.FileShare}, {Name: "memory", Unit: model.FileShare}, {Name: "DRAM", Unit: model.FileShare},
		{Name: "occupancy", Unit: model.FileShare}, {Name: "registers", Unit: model.FileNumber}, {Name: "bound by"}}}
	total := 0.0
	for _, kernel := range n.kernels {
		launches := n.launches[kernel]
		dur, timed := n.metrics.mean(kernel, "ns", ncuDuration...)
		total += dur * launches
		share := func(names []string) (float64, bool) {
			v, ok := n.metrics.mean(kernel, "%", names...)
			return v / 100, ok
		}
		compute, c := share(ncuCompute)
		memory, m := share(ncuMemory)
		dram, d := share(ncuDRAM)
		occupancy, oc := share(ncuOccupancy)
		registers, r := n.metrics.mean(kernel, "register/thread", ncuRegisters...)
		t.Rows = append(t.Rows, []model.FileCell{fileText(strings.ToValidUTF8(kernel, "\uFFFD")), fileNumber(launches),
			numberOr(dur*launches, timed), noCell, numberOr(compute, c), numberOr(memory, m), numberOr(dram, d), numberOr(occupancy, oc),
			numberOr(registers, r), fileText(boundBy(100*compute, 100*memory, c && m))})
	}
	for _, row := range t.Rows {
		if total > 0 && !row[2].None {
			row[3] = fileNumber(row[2].Number / total)
		}
	}
	slices.SortStableFunc(t.Rows, func(a, b []model.FileCell) int { return cmp.Compare(b[2].Number, a[2].Number) })
	t.Sentence = ncuSentence(t, total)
	return t
}

// ncuSentence says which kernel takes most and what it is bound by.
func ncuSentence(t *model.FileTable, total float64) string {
	if len(t.Rows) == 0 || total <= 0 {
		return fmt.Sprintf("Nsight Compute measured %d kernels, and no durations.", len(t.Rows))
	}
	top := t.Rows[0]
	out := fmt.Sprintf("%.0f %% of the kernels' time is %s", 100*top[3].Number, cutName(top[0].Text))
	if bound := top[9].Text; bound != "" {
		out += fmt.Sprintf(", which reaches %.0f %% of the peak of compute and %.0f %% of the memory's: bound by %s", 100*top[4].Number,
			100*top[5].Number, bound)
		if bound == "latency" && !top[7].None {
			out += fmt.Sprintf(", with %.0f %% of the warps that fit", 100*top[7].Number)
		}
	}
	return out + ". Kernels ran one by one, and price no fix of the program."
}

// advice are the rules of Nsight Compute that found something.
func (n *ncuReader) advice() *model.FileTable {
	t := &model.FileTable{Name: "ncu-rules", Title: "Advice of Nsight Compute", Columns: []model.FileColumn{{Name: "kernel"}, {Name: "rule"},
		{Name: "estimated speedup", Unit: model.FileShare}, {Name: "what it says"}}, Rows: n.rules}
	slices.SortStableFunc(t.Rows, func(a, b []model.FileCell) int { return cmp.Compare(b[2].Number, a[2].Number) })
	t.Sentence = fmt.Sprintf("Nsight Compute has %d pieces of advice; it estimates what they save of a kernel alone.", len(t.Rows))
	return t
}
