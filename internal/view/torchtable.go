package view

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// TorchRow is one row of torch's operator table. Times are microseconds in float64, added up in the order in which torch
// adds them, because the last printed digit depends on it.
type TorchRow struct {
	Name, Overload     string
	SelfCPU, CPU       float64
	SelfDevice, Device float64
	SelfCPUBytes       int64
	CPUBytes           int64
	SelfDeviceBytes    int64
	DeviceBytes        int64
	Count              int64
	Flops              int64
	NodeID             int      // -1 outside torch.distributed.rpc
	InputShapes        string   // as Python prints the list; "" or "[]" where there are none
	Stack              []string // innermost first
	Module             string   // path in its model; torch's table has no such column
	OnDevice           bool     // a kernel, copy or set, or an annotation's span on the device
	Legacy             bool     // of the profiler before Kineto: device times stand in the operators' rows
	Async              bool
	UserAnnotation     bool
	TopLevel           bool // the first of the row's events has no caller
}

// TorchTableOptions are the arguments of torch's table(), with its words. NewTorchTableOptions gives torch's defaults.
type TorchTableOptions struct {
	SortBy       string // "" keeps the order of appearance
	RowLimit     int    // -1: all
	MaxSrcWidth  int    // -1: no limit
	MaxNameWidth int    // -1: no limit
	MaxShapes    int    // -1: no limit
	Header       string // "": none
	TopLevelOnly bool
	TimeUnit     string // "s", "ms", "us", or "" for the fitting one
	Device       string // "cuda", "xpu", …; "" without a device
	Memory       bool   // the profile was made with profile_memory
	Flops        bool   // the profile was made with with_flops
}

// NewTorchTableOptions gives the defaults of torch 2.15.
func NewTorchTableOptions() TorchTableOptions {
	return TorchTableOptions{RowLimit: 100, MaxSrcWidth: 75, MaxNameWidth: 55, MaxShapes: 80}
}

// torchSortKeys are the attributes that torch sorts by, after the names of devices became "device".
var torchSortKeys = map[string]func(*TorchRow) float64{
	"cpu_time":                 func(r *TorchRow) float64 { return average(r.CPU, r.Count) },
	"device_time":              func(r *TorchRow) float64 { return average(r.Device, r.Count) },
	"cpu_time_total":           func(r *TorchRow) float64 { return r.CPU },
	"device_time_total":        func(r *TorchRow) float64 { return r.Device },
	"self_cpu_time_total":      func(r *TorchRow) float64 { return r.SelfCPU },
	"self_device_time_total":   func(r *TorchRow) float64 { return r.SelfDevice },
	"cpu_memory_usage":         func(r *TorchRow) float64 { return float64(r.CPUBytes) },
	"device_memory_usage":      func(r *TorchRow) float64 { return float64(r.DeviceBytes) },
	"self_cpu_memory_usage":    func(r *TorchRow) float64 { return float64(r.SelfCPUBytes) },
	"self_device_memory_usage": func(r *TorchRow) float64 { return float64(r.SelfDeviceBytes) },
	"count":                    func(r *TorchRow) float64 { return float64(r.Count) },
	"flops":                    func(r *TorchRow) float64 { return float64(r.Flops) },
}

// TorchSortKeys lists the keys that TorchTable sorts by; each with "cuda", "xpu", "privateuse1", "mtia" or "hpu" in place
// of "device" is accepted too.
func TorchSortKeys() []string {
	keys := make([]string, 0, len(torchSortKeys))
	for k := range torchSortKeys {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

var deviceWord = strings.NewReplacer("cuda", "device", "xpu", "device", "privateuse1", "device", "mtia", "device", "hpu", "device")

// SortTorchRows orders rows by one of TorchSortKeys, largest first, equal ones in the order given; it reports an unknown
// key together with the known ones.
func SortTorchRows(rows []TorchRow, key string) error {
	value, ok := torchSortKeys[deviceWord.Replace(key)]
	if !ok {
		return fmt.Errorf("sort operators by %q: no such key; there are %s (also with cuda, xpu … for device)", key,
			strings.Join(TorchSortKeys(), ", "))
	}
	slices.SortStableFunc(rows, func(a, b TorchRow) int {
		va, vb := value(&a), value(&b)
		switch {
		case va > vb:
			return -1
		case va < vb:
			return 1
		}
		return 0
	})
	return nil
}

// TorchTable writes the rows as torch 2.15's table() prints them, character by character, its quirks included (with
// stacks and FLOPs together the two headers are exchanged). No rows write nothing.
// Layout: torch/autograd/profiler_util.py, _build_table.
func TorchTable(w io.Writer, rows []TorchRow, opt TorchTableOptions) error {
	if len(rows) == 0 {
		return nil
	}
	rows = slices.Clone(rows)
	for i := range rows {
		if !opt.Flops { // torch has none then, even where the shapes would tell them
			rows[i].Flops = 0
		}
	}
	if opt.SortBy != "" {
		if err := SortTorchRows(rows, opt.SortBy); err != nil {
			return err
		}
	}
	t := newTorchTable(rows, opt)
	t.head()
	limit := opt.RowLimit
	for i := range rows {
		if limit == 0 {
			break
		}
		if opt.TopLevelOnly && !rows[i].TopLevel {
			continue
		}
		limit--
		t.row(&rows[i])
	}
	t.foot()
	_, err := io.WriteString(w, t.out.String())
	return err
}

// torchTable holds what the rows decide about the columns, and the text so far.
type torchTable struct {
	opt                                TorchTableOptions
	headers                            []string
	widths                             []int
	left                               int // column that is left-aligned; -1 none
	overload, deviceTime, deviceMemory bool
	node, shapes, stacks, flops        bool
	shapesWidth, srcWidth              int
	flopsScale                         float64
	sumCPU, sumDevice                  float64
	out                                strings.Builder
}

const torchColumn = 12

func newTorchTable(rows []TorchRow, opt TorchTableOptions) *torchTable {
	t := &torchTable{opt: opt, left: -1}
	name, longestShapes, longestSrc := 0, 0, 0
	var minFlops int64
	for i := range rows {
		r := &rows[i]
		t.overload = t.overload || r.Overload != ""
		t.deviceTime = t.deviceTime || r.SelfDevice > 0
		t.deviceMemory = t.deviceMemory || r.SelfDeviceBytes > 0
		t.node = t.node || r.NodeID != -1
		t.shapes = t.shapes || (r.InputShapes != "" && r.InputShapes != "[]")
		t.stacks = t.stacks || len(r.Stack) > 0
		name = max(name, utf8.RuneCountInString(r.Name))
		longestShapes = max(longestShapes, utf8.RuneCountInString(r.InputShapes))
		for _, entry := range r.Stack {
			longestSrc = max(longestSrc, utf8.RuneCountInString(entry))
		}
		if r.Flops > 0 && (minFlops == 0 || r.Flops < minFlops) {
			minFlops = r.Flops
		}
		t.sumCPU += r.SelfCPU
		if (r.OnDevice && !r.UserAnnotation) || (!r.OnDevice && r.Legacy) {
			t.sumDevice += r.SelfDevice
		}
	}
	t.flops = opt.Flops && minFlops > 0
	t.shapesWidth = capWidth(longestShapes+4, opt.MaxShapes)
	t.srcWidth = capWidth(longestSrc+4, opt.MaxSrcWidth)
	t.columns(capWidth(name+4, opt.MaxNameWidth), minFlops)
	return t
}

func capWidth(width, limit int) int {
	if limit >= 0 {
		return min(width, limit)
	}
	return width
}

func (t *torchTable) column(header string, width int) {
	t.headers, t.widths = append(t.headers, header), append(t.widths, width)
}

func (t *torchTable) columns(nameWidth int, minFlops int64) {
	t.column("Name", nameWidth)
	if t.overload {
		t.column("Overload Name", nameWidth)
	}
	add := func(headers ...string) {
		for _, h := range headers {
			t.column(h, torchColumn)
		}
	}
	device := t.device()
	add("Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg")
	if t.deviceTime {
		add("Self "+device, "Self "+device+" %", device+" total", device+" time avg")
	}
	if t.opt.Memory {
		add("CPU Mem", "Self CPU Mem")
		if t.opt.Device != "" && t.deviceMemory {
			add(device+" Mem", "Self "+device+" Mem")
		}
	}
	add("# of Calls")
	if t.node {
		add("Node ID")
	}
	if t.shapes {
		t.column("Input Shapes", t.shapesWidth)
	}
	if t.stacks {
		t.left = len(t.headers)
		t.column("Source Location", t.srcWidth)
	}
	if t.flops {
		prefix := 0
		for f := minFlops; f >= 1000 && prefix < 5; f /= 1000 {
			prefix++
		}
		t.flopsScale = [...]float64{1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15}[prefix]
		add("Total " + [...]string{"", "K", "M", "G", "T", "P"}[prefix] + "FLOPs")
	}
}

// device is the device's name in headers.
func (t *torchTable) device() string {
	if t.opt.Device == "" {
		return "None"
	}
	return strings.ToUpper(t.opt.Device)
}

// line writes cells under their columns; every column is followed by two blanks.
func (t *torchTable) line(cells []string) {
	for i, cell := range cells {
		pad := t.widths[i] - utf8.RuneCountInString(cell)
		if pad > 0 && i != t.left {
			t.out.WriteString(strings.Repeat(" ", pad))
		}
		t.out.WriteString(cell)
		if pad > 0 && i == t.left {
			t.out.WriteString(strings.Repeat(" ", pad))
		}
		t.out.WriteString("  ")
	}
	t.out.WriteByte('\n')
}

func (t *torchTable) separator() {
	for _, width := range t.widths {
		t.out.WriteString(strings.Repeat("-", width) + "  ")
	}
	t.out.WriteByte('\n')
}

func (t *torchTable) head() {
	length := -2
	for _, width := range t.widths {
		length += width + 2
	}
	rule := strings.Repeat("=", length) + "\n"
	if t.opt.Header != "" {
		t.out.WriteString(rule + t.opt.Header + "\n")
	}
	if t.opt.TopLevelOnly {
		t.out.WriteString(rule + "This report only display top-level ops statistics\n")
	}
	t.separator()
	t.line(t.headers)
	t.separator()
}

func (t *torchTable) row(r *TorchRow) {
	cells := t.timeCells(r)
	if t.opt.Memory {
		cells = append(cells, torchBytes(r.CPUBytes), torchBytes(r.SelfCPUBytes))
		if t.opt.Device != "" && t.deviceMemory {
			cells = append(cells, torchBytes(r.DeviceBytes), torchBytes(r.SelfDeviceBytes))
		}
	}
	cells = append(cells, strconv.FormatInt(r.Count, 10))
	if t.node {
		cells = append(cells, strconv.Itoa(r.NodeID))
	}
	if t.shapes {
		cells = append(cells, firstRunes(r.InputShapes, t.shapesWidth))
	}
	if t.flops { // before the source, although the headers stand the other way round
		cell := "--"
		if r.Flops > 0 {
			cell = fmt.Sprintf("%8.3f", float64(r.Flops)*t.flopsScale)
		}
		cells = append(cells, cell)
	}
	if !t.stacks {
		t.line(cells)
		return
	}
	source := ""
	if len(r.Stack) > 0 {
		source = trimPath(r.Stack[0], t.srcWidth)
	}
	t.line(append(cells, source))
	blank := make([]string, len(t.headers))
	for _, entry := range r.Stack[min(1, len(r.Stack)):] {
		blank[len(blank)-1] = trimPath(entry, t.srcWidth)
		t.line(blank)
	}
	blank[len(blank)-1] = ""
	t.line(blank)
}

func (t *torchTable) timeCells(r *TorchRow) []string {
	cells := []string{t.shorten(r.Name)}
	if t.overload {
		cells = append(cells, t.shorten(r.Overload))
	}
	total := "0"
	if !r.Async {
		total = torchShare(r.CPU, t.sumCPU)
	}
	cells = append(cells, torchShare(r.SelfCPU, t.sumCPU), t.time(r.SelfCPU), total, t.time(r.CPU), t.time(average(r.CPU, r.Count)))
	if t.deviceTime {
		cells = append(cells, t.time(r.SelfDevice), torchShare(r.SelfDevice, t.sumDevice), t.time(r.Device),
			t.time(average(r.Device, r.Count)))
	}
	return cells
}

func (t *torchTable) foot() {
	t.separator()
	t.out.WriteString("Self CPU time total: " + t.time(t.sumCPU) + "\n")
	if t.deviceTime {
		t.out.WriteString("Self " + t.device() + " time total: " + t.time(t.sumDevice) + "\n")
	}
}

// shorten cuts a name that does not fit its column, marking the cut.
func (t *torchTable) shorten(name string) string {
	limit := t.opt.MaxNameWidth
	if limit < 0 || utf8.RuneCountInString(name) < limit-3 {
		return name
	}
	return firstRunes(name, limit-3) + "..."
}
