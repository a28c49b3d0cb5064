package ingest

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/model"
)

// Columns by which the tables of `nvprof --csv` and `nsys stats --format csv` are known.
var (
	nvprofTraceColumns   = []string{"start", "duration", "name"}
	nvprofSummaryColumns = []string{"type", "time%", "time", "calls", "avg", "name"}
	nvprofMetricColumns  = []string{"device", "kernel", "invocations", "min", "max", "avg"}
	nsysStatsColumns     = []string{"time%", "totaltimens", "name"}
	nsysStatsRanges      = []string{"time%", "totaltimens", "range"}
	nsysStatsOperations  = []string{"time%", "totaltimens", "operation"}
)

var nvprofColumns = [][]string{nvprofTraceColumns, nvprofSummaryColumns, nvprofMetricColumns}

var nsysColumns = [][]string{nsysStatsColumns, nsysStatsRanges, nsysStatsOperations}

func isNvprofCSV(head []byte) bool { return csvHead(head, nvprofColumns...) }

func isNsysStats(head []byte) bool { return csvHead(head, nsysColumns...) }

// csvUnits are what a column's unit multiplies its numbers with: times become nanoseconds, sizes bytes. nvprof's kilobytes have
// 1,024 bytes.
var csvUnits = map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "nsecond": 1, "usecond": 1e3, "msecond": 1e6, "second": 1e9,
	"µs": 1e3, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "B/s": 1, "KB/s": 1 << 10, "MB/s": 1 << 20, "GB/s": 1 << 30}

// scaled is a cell in its column's unit.
func (c *csvFile) scaled(units []string, column string) (float64, bool) {
	v, ok := c.number(column)
	at, has := c.columns[column]
	if !ok || !has {
		return 0, false
	}
	if scale := csvUnits[strings.TrimSpace(units[at])]; scale != 0 {
		v *= scale
	}
	return v, true
}

// readNvprofCSV reads what `nvprof --csv` prints: one row per kernel, copy and call, sums of them, or counters of kernels.
func readNvprofCSV(o *opening, src source, r io.Reader) (func() error, error) {
	c, err := openCSV(r, nvprofColumns...)
	if err != nil {
		return nil, &UnusableError{Path: src.path, Reason: "a table of nvprof that cannot be read: " + err.Error(), err: err}
	}
	switch {
	case c.has("invocations"):
		return readNvprofMetrics(o, src, c), nil
	case c.has("calls"):
		return readNvprofSummary(o, src, c), nil
	}
	return readNvprofTrace(o, src, c)
}

// readNvprofTrace reads the tables of --print-gpu-trace and --print-api-trace. Threads are not in them.
func readNvprofTrace(o *opening, src source, c *csvFile) (func() error, error) {
	b, units := newRowBuilder(), make([]string, len(c.names))
	devices := map[string]bool{}
	for c.next() {
		if c.rows == 1 && csvUnits[c.text("start")] != 0 {
			units = slices.Clone(c.row)
			continue
		}
		start, ok := c.scaled(units, "start")
		dur, timed := c.scaled(units, "duration")
		name := strings.ToValidUTF8(c.text("name"), "\uFFFD")
		if !ok || !timed || start > 1e18 || dur > 1e18 || name == "" {
			c.damaged(c.offset)
			continue
		}
		from, to := int64(start), int64(start+dur)
		device, stream, correlation := nvprofDevice(c.text("device")), c.int("stream"), c.int("correlationid")
		if text := c.text("device"); text != "" && !devices[text] && len(devices) < 1024 {
			devices[text] = true
			b.builder.header.model.Devices = append(b.builder.header.model.Devices, model.GPU{Index: int(device),
				Name: strings.TrimSuffix(text, fmt.Sprintf(" (%d)", device))})
		}
		switch {
		case strings.HasPrefix(name, "[CUDA memcpy"), strings.HasPrefix(name, "[CUDA memset"):
			kind, category := model.KindMemcpy, "gpu_memcpy"
			if name[6:12] == "memset" {
				kind, category = model.KindMemset, "gpu_memset"
			}
			size, _ := c.scaled(units, "size")
			b.event(category, kind, b.stream(device, stream), from, to, b.text(nvprofCopyName(name, c)),
				b.work(correlation, b.copied(device, stream, int64(min(size, 1e18)), to-from)))
		case c.has("gridx"):
			static, _ := c.scaled(units, "staticsmem")
			dynamic, _ := c.scaled(units, "dynamicsmem")
			args := kernelArgs(device, stream, [3]int64{c.int("gridx"), c.int("gridy"), c.int("gridz")},
				[3]int64{c.int("blockx"), c.int("blocky"), c.int("blockz")}, c.int("registersperthread"), int64(min(static+dynamic, 1e9)), 0)
			b.event("kernel", model.KindKernel, b.stream(device, stream), from, to, b.text(name), b.work(correlation, args))
		default:
			b.event("cuda_runtime", model.KindRuntime, b.thread(0, 0), from, to, b.text(name), b.call(correlation))
		}
	}
	b.finish()
	return storeRows(o, src, "nvprof-csv", []*rowBuilder{b}, c.damage()), nil
}

// nvprofDevice is the number at the end of "Tesla V100 (0)".
func nvprofDevice(text string) int64 {
	if open := strings.LastIndexByte(text, '('); open >= 0 {
		n, _ := strconv.ParseInt(strings.TrimSuffix(text[open+1:], ")"), 10, 32)
		return n
	}
	return 0
}

// nvprofCopyName is what Kineto calls a copy or set that nvprof calls "[CUDA memcpy HtoD]".
func nvprofCopyName(name string, c *csvFile) string {
	from, to := c.text("srcmemtype"), c.text("dstmemtype")
	if name[6:12] == "memset" {
		return "Memset (" + orUnknown(from) + ")"
	}
	direction := strings.TrimSuffix(strings.TrimPrefix(name, "[CUDA memcpy "), "]")
	return "Memcpy " + direction + " (" + orUnknown(from) + " -> " + orUnknown(to) + ")"
}

func orUnknown(text string) string {
	if text == "" {
		return "Unknown"
	}
	return text
}

// Names of tables that hold sums: --gpu-summary and --api-summary print them.
const (
	tableGPUSummary = "gpu-summary"
	tableAPISummary = "api-summary"
	tableSummary    = "summary"
	tableMetrics    = "metrics"
)

// summaryTable is a table of sums by name.
func summaryTable(name, title string) *model.FileTable {
	return &model.FileTable{Name: name, Title: title, Columns: []model.FileColumn{{Name: "name"}, {Name: "share", Unit: model.FileShare},
		{Name: "time", Unit: model.FileTime}, {Name: "calls", Unit: model.FileCount}, {Name: "mean", Unit: model.FileTime},
		{Name: "shortest", Unit: model.FileTime}, {Name: "longest", Unit: model.FileTime}}}
}

// readNvprofSummary reads the tables of --print-gpu-summary and --print-api-summary, which stand in one file.
func readNvprofSummary(o *opening, src source, c *csvFile) func() error {
	work, calls := summaryTable(tableGPUSummary, "Kernels and copies of nvprof"), summaryTable(tableAPISummary, "CUDA calls of nvprof")
	units := make([]string, len(c.names))
	for c.next() {
		if c.rows == 1 && strings.TrimSpace(c.text("time%")) == "%" {
			units = slices.Clone(c.row)
			continue
		}
		row := []model.FileCell{fileText(strings.ToValidUTF8(c.text("name"), "\uFFFD"))}
		share, ok := c.number("time%")
		row = append(row, numberOr(share/100, ok))
		for _, column := range []string{"time", "calls", "avg", "min", "max"} {
			row = append(row, numberOr(c.scaled(units, column)))
		}
		if strings.HasPrefix(c.text("type"), "GPU") {
			work.Rows = append(work.Rows, row)
		} else {
			calls.Rows = append(calls.Rows, row)
		}
	}
	tables := make([]*model.FileTable, 0, 2)
	for _, t := range []*model.FileTable{work, calls} {
		if t.Sentence = summarySentence(t); len(t.Rows) > 0 {
			tables = append(tables, t)
		}
	}
	return addTables(o, src, "nvprof-csv", tables, c.rows, c.damage()...)
}

func numberOr(v float64, ok bool) model.FileCell {
	if !ok {
		return noCell
	}
	return fileNumber(v)
}

// summarySentence says what takes most of a table of sums.
func summarySentence(t *model.FileTable) string {
	if len(t.Rows) == 0 {
		return t.Title + ": no row."
	}
	total := 0.0
	top := t.Rows[0]
	for _, row := range t.Rows {
		total += row[2].Number
		if row[2].Number > top[2].Number {
			top = row
		}
	}
	if total <= 0 {
		return t.Title + ": no times."
	}
	return fmt.Sprintf("%s: %.3g ms in %d names, %.0f %% of it in %s. Sums hold no time stamps, and price no fix.", t.Title, total/1e6,
		len(t.Rows), 100*top[2].Number/total, cutName(top[0].Text))
}

// cutName shortens a name for a sentence.
func cutName(name string) string {
	if runes := []rune(name); len(runes) > 80 {
		return string(runes[:79]) + "…"
	}
	return name
}

// readNvprofMetrics reads the table of `nvprof --csv --metrics` and --analysis-metrics: counters by kernel.
func readNvprofMetrics(o *opening, src source, c *csvFile) func() error {
	m := newMetricTable()
	for c.next() {
		name, text := c.text("metricname", "eventname"), c.text("avg")
		unit := strings.TrimLeft(text, "0123456789.,eE+-")
		value, ok := csvNumber(strings.TrimSuffix(text, unit))
		if scale := csvUnits[unit]; scale != 0 {
			value, unit = value*scale, map[bool]string{true: "B/s", false: ""}[strings.HasSuffix(unit, "/s")]
		}
		n, _ := c.number("invocations")
		m.row(c.text("kernel"), name, unit, max(n, 1), value, ok)
		m.describe(name, c.text("metricdescription"))
	}
	return addTables(o, src, "nvprof-csv", []*model.FileTable{m.table("Counters of nvprof")}, c.rows, c.damage()...)
}

// readNsysStats reads a table of `nsys stats --format csv`.
func readNsysStats(o *opening, src source, r io.Reader) (func() error, error) {
	c, err := openCSV(r, nsysColumns...)
	if err != nil {
		return nil, &UnusableError{Path: src.path, Reason: "a table of nsys stats that cannot be read: " + err.Error(), err: err}
	}
	name, title := tableSummary, "Sums of Nsight Systems"
	switch {
	case c.has("operation"), c.has("instances") && !c.has("range"):
		name, title = tableGPUSummary, "Kernels and copies of Nsight Systems"
	case c.has("numcalls"):
		name, title = tableAPISummary, "Calls of Nsight Systems"
	}
	t := summaryTable(name, title)
	for c.next() {
		row := []model.FileCell{fileText(strings.ToValidUTF8(c.text("name", "range", "operation"), "\uFFFD"))}
		share, ok := c.number("time%")
		row = append(row, numberOr(share/100, ok))
		for _, columns := range [][]string{{"totaltimens"}, {"numcalls", "instances", "count"}, {"avgns"}, {"minns"}, {"maxns"}} {
			row = append(row, numberOr(c.number(columns...)))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Sentence = summarySentence(t)
	return addTables(o, src, "nsys-csv", []*model.FileTable{t}, c.rows, c.damage()...), nil
}

// readRocprofStats reads the *_stats.csv of rocprof and rocprofv3.
func readRocprofStats(o *opening, src source, r io.Reader) (func() error, error) {
	c, err := openCSV(r, rocStatsColumns)
	if err != nil {
		return nil, &UnusableError{Path: src.path, Reason: "a table of rocprof that cannot be read: " + err.Error(), err: err}
	}
	var rows [][]model.FileCell
	calls := false
	for c.next() {
		name := strings.ToValidUTF8(rocKernelName(c.text("name")), "\uFFFD")
		calls = calls || strings.HasPrefix(name, "hip") || strings.HasPrefix(name, "hsa_")
		row := []model.FileCell{fileText(name)}
		share, ok := c.number("percentage")
		row = append(row, numberOr(share/100, ok))
		for _, column := range []string{"totaldurationns", "calls", "averagens", "minns", "maxns"} {
			row = append(row, numberOr(c.number(column)))
		}
		rows = append(rows, row)
	}
	t := summaryTable(tableGPUSummary, "Kernels and copies of rocprof")
	if calls {
		t = summaryTable(tableAPISummary, "Calls of rocprof")
	}
	t.Rows = rows
	t.Sentence = summarySentence(t)
	return addTables(o, src, "rocprof", []*model.FileTable{t}, c.rows, c.damage()...), nil
}
