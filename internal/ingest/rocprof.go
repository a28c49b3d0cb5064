package ingest

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"bottleneck/internal/kineto"
	"bottleneck/internal/model"
)

// Columns by which tables of rocprofv3 and of rocprof are known (ROCm/rocm-systems, rocprofiler-sdk and rocprofiler).
var (
	rocKernelColumns  = []string{"kernelname", "starttimestamp", "endtimestamp"}
	rocCopyColumns    = []string{"direction", "starttimestamp", "endtimestamp"}
	rocCallColumns    = []string{"function", "threadid", "starttimestamp", "endtimestamp"}
	rocCounterColumns = []string{"kernelname", "countername", "countervalue"}
	rocOldColumns     = []string{"kernelname", "beginns", "endns"}
	rocStatsColumns   = []string{"name", "calls", "totaldurationns"}
)

var rocColumns = [][]string{rocKernelColumns, rocCopyColumns, rocCallColumns, rocCounterColumns, rocOldColumns}

func isRocprofCSV(head []byte) bool { return csvHead(head, rocColumns...) }

func isRocprofStats(head []byte) bool { return csvHead(head, rocStatsColumns) }

// rocRow is one row of rocprof's tables, with texts by number.
type rocRow struct {
	start, end, correlation int64
	pid, lane, device       int64 // the lane is a stream, or a thread
	name                    model.Str
	args                    int32
	kind                    model.Kind
}

// rocCounter is one hardware counter of one kernel.
type rocCounter struct {
	dispatch, start int64
	kernel, counter model.Str
	value           float64
}

// rocRows are the rows of one run of rocprof, which writes a table of each kind into a file of its own.
type rocRows struct {
	names    model.Strings
	rows     rows[rocRow]
	args     argTable[model.DeviceArgs]
	counters rows[rocCounter]
	threads  map[int64]string
	gpus     []model.GPU
	host     string
}

func (r *rocRows) add(kind model.Kind, pid, device, lane, start, end, correlation int64, name string, args *model.DeviceArgs) {
	row := rocRow{kind: kind, pid: pid, device: device, lane: lane, start: start, end: end, correlation: correlation,
		name: r.names.Intern(strings.ToValidUTF8(name, "\uFFFD")), args: -1}
	if args != nil {
		row.args = int32(r.args.intern(args, hashDeviceArgs(args)))
	}
	r.rows.add(row)
}

// rocKernelName is a kernel's name without what rocprof's compiler puts behind it.
func rocKernelName(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(name), " [clone .kd]"), ".kd")
}

// rocCopyNames are Kineto's words for rocprof's directions of copies.
var rocCopyNames = map[string]string{"HOST_TO_DEVICE": "HtoD", "DEVICE_TO_HOST": "DtoH", "DEVICE_TO_DEVICE": "DtoD", "HOST_TO_HOST": "HtoH"}

func rocCopyName(direction string) string {
	direction = strings.ToUpper(direction)
	for from, to := range rocCopyNames {
		if strings.HasSuffix(direction, from) {
			return "Memcpy " + to
		}
	}
	return "Memcpy Unknown"
}

// perWorkGroup is how many work groups a grid of so many work items has: rocprof counts grids in work items.
func perWorkGroup(grid, group [3]int64) (groups [3]int64) {
	for i := range grid {
		groups[i] = grid[i]
		if group[i] > 0 && grid[i] > 0 {
			groups[i] = (grid[i]-1)/group[i] + 1
		}
	}
	return groups
}

func readRocprofCSV(o *opening, src source, r io.Reader) (func() error, error) {
	c, err := openCSV(r, rocColumns...)
	if err != nil {
		return nil, &UnusableError{Path: src.path, Reason: "a table of rocprof that cannot be read: " + err.Error(), err: err}
	}
	rows := newRocRows()
	for c.next() {
		switch {
		case c.has("countername"):
			rows.counter(c)
		case c.has("beginns"):
			rows.oldKernel(c)
		case c.has("direction"):
			rows.copy(c)
		case c.has("kernelname"):
			rows.kernel(c)
		default:
			rows.call(c)
		}
	}
	return o.addRocprof(src, rocRun(src.path), rows, c.rows, c.damage()), nil
}

func newRocRows() *rocRows { return &rocRows{threads: map[int64]string{}} }

func (r *rocRows) kernel(c *csvFile) {
	group := [3]int64{c.int("workgroupsizex", "workgroupsize"), c.int("workgroupsizey"), c.int("workgroupsizez")}
	grid := [3]int64{c.int("gridsizex", "gridsize"), c.int("gridsizey"), c.int("gridsizez")}
	device, stream := c.int("agentid"), c.int("streamid", "queueid")
	args := kernelArgs(device, stream, perWorkGroup(grid, group), group, c.int("vgprcount"), c.int("ldsblocksize", "groupsegmentsize"), 0)
	r.add(model.KindKernel, c.int("processid"), device, stream, c.int("starttimestamp"), c.int("endtimestamp"), c.int("correlationid"),
		rocKernelName(c.text("kernelname")), &args)
}

func (r *rocRows) copy(c *csvFile) {
	direction := c.text("direction")
	device := c.int("destinationagentid")
	if strings.HasSuffix(direction, "DEVICE_TO_HOST") {
		device = c.int("sourceagentid")
	}
	args := noWork(device, c.int("streamid", "queueid"))
	r.add(model.KindMemcpy, c.int("processid"), device, args.Stream, c.int("starttimestamp"), c.int("endtimestamp"),
		c.int("correlationid"), rocCopyName(direction), &args)
}

func (r *rocRows) call(c *csvFile) {
	domain := strings.ToUpper(c.text("domain", "kind"))
	kind := rocCallKind(domain)
	r.add(kind, c.int("processid"), 0, c.int("threadid"), c.int("starttimestamp"), c.int("endtimestamp"), c.int("correlationid"),
		c.text("function"), nil)
}

// rocCallKind says what calls of a domain are: HIP's launch work, ROCTX' are marks of the program.
func rocCallKind(domain string) model.Kind {
	switch {
	case strings.HasPrefix(domain, "HIP"):
		return model.KindRuntime
	case strings.HasPrefix(domain, "MARKER"), strings.HasPrefix(domain, "ROCTX"):
		return model.KindAnnotation
	}
	return model.KindOther
}

// counter reads a row of counter_collection.csv: one counter of one kernel. Newer versions say when the kernel ran.
func (r *rocRows) counter(c *csvFile) {
	value, ok := c.number("countervalue")
	if !ok {
		return
	}
	r.counters.add(rocCounter{c.int("dispatchid"), c.int("starttimestamp"), r.names.Intern(rocKernelName(c.text("kernelname"))),
		r.names.Intern(c.text("countername")), value})
}

// oldKernel reads a row of the results.csv of rocprof's first two versions: columns behind the times are counters.
func (r *rocRows) oldKernel(c *csvFile) {
	device, queue := c.int("gpuid"), c.int("queueid")
	group, grid := [3]int64{c.int("wgr"), 1, 1}, [3]int64{c.int("grd"), 1, 1}
	args := kernelArgs(device, queue, perWorkGroup(grid, group), group, c.int("archvgpr", "vgpr"), c.int("lds"), 0)
	name := rocKernelName(c.text("kernelname"))
	begin, end := c.int("beginns"), c.int("endns")
	r.add(model.KindKernel, c.int("pid"), device, queue, begin, end, 0, name, &args)
	for i := c.columns["kernelname"]; i < len(c.names); i++ {
		if rocOldColumn[csvName(c.names[i])] {
			continue
		}
		if v, ok := csvNumber(c.row[i]); ok {
			r.counters.add(rocCounter{c.rows, begin, r.names.Intern(name), r.names.Intern(c.names[i]), v})
		}
	}
}

// rocOldColumn are the columns of results.csv that are no counters.
var rocOldColumn = func() map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields("kernelname gpuid queueid queueindex pid tid grd wgr lds scr vgpr archvgpr accumvgpr sgpr " +
		"wavesize fbar sig obj dispatchns beginns endns completens durationns") {
		out[name] = true
	}
	return out
}()

// rocTables are how rocprofv3 calls its tables, behind the name that all of a process have in common.
var rocTables = []string{"_kernel_trace.csv", "_memory_copy_trace.csv", "_hip_api_trace.csv", "_hip_trace.csv", "_hip_runtime_api_trace.csv",
	"_hip_compiler_api_trace.csv", "_hsa_api_trace.csv", "_hsa_trace.csv", "_marker_api_trace.csv", "_rccl_api_trace.csv",
	"_counter_collection.csv"}

// rocRun is what the tables of one process have in common; a file of another name stands for itself.
func rocRun(path string) string {
	name := filepath.ToSlash(path)
	for _, packed := range []string{".gz", ".zst", ".xz", ".bz2"} {
		name = strings.TrimSuffix(name, packed)
	}
	for _, table := range rocTables {
		if run, ok := strings.CutSuffix(name, table); ok {
			return run
		}
	}
	return name
}

// rocGroup collects the tables of one run until all of them are read.
type rocGroup struct {
	input int
	parts []*rocRows
}

// addRocprof keeps rows until all files are read: a kernel's launch stands in another file than the kernel.
func (o *opening) addRocprof(src source, run string, r *rocRows, events int64, damage []model.Diagnostic) func() error {
	return func() error {
		if o.rocprof == nil {
			o.rocprof = map[string]*rocGroup{}
		}
		g := o.rocprof[run]
		if g == nil {
			g = &rocGroup{input: len(o.s.Inputs)}
			o.rocprof[run] = g
		}
		g.parts = append(g.parts, r)
		o.s.Inputs = append(o.s.Inputs, model.Input{Path: src.path, Format: "rocprof", Bytes: src.size, Events: events,
			Rank: model.NoRank, Diagnostics: damage})
		return nil
	}
}

// storeRocprof makes a trace of each run's tables.
func (o *opening) storeRocprof() {
	groups := make([]*rocGroup, 0, len(o.rocprof))
	for _, g := range o.rocprof {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b *rocGroup) int { return cmp.Compare(a.input, b.input) })
	for _, g := range groups {
		b := newRowBuilder()
		for i, r := range g.parts {
			r.into(b, int64(i)<<32)
		}
		if b.builder.events.n+b.builder.ranges.n == 0 {
			o.s.Inputs[g.input].Note = FormatText("rocprof") + ": it holds no call, kernel or copy; record with `rocprofv3 " +
				"--hip-trace --kernel-trace --memory-copy-trace` and report that"
			continue
		}
		b.finish()
		t := b.store(o.s, o.s.Inputs[g.input].Path)
		last := len(o.s.Inputs) - 1
		made := o.s.Inputs[last]
		o.s.Inputs = o.s.Inputs[:last]
		in := &o.s.Inputs[g.input]
		in.Counts, in.Diagnostics = made.Counts, append(in.Diagnostics, made.Diagnostics...)
		in.Rank, in.World, t.Input = made.Rank, made.World, g.input
	}
}

// into adds rows to a trace. Numbers of dispatches count from first, since those of another file begin anew.
func (r *rocRows) into(b *rowBuilder, first int64) {
	texts := map[model.Str]kineto.Text{}
	text := func(id model.Str) kineto.Text {
		if _, known := texts[id]; !known {
			texts[id] = b.text(r.names.Text(id))
		}
		return texts[id]
	}
	b.builder.header.model.Devices = append(b.builder.header.model.Devices, r.gpus...)
	if r.host != "" {
		b.builder.header.model.Host = r.host
	}
	r.rows.drain(func(chunk []rocRow) {
		for i := range chunk {
			row := &chunk[i]
			switch name := text(row.name); row.kind {
			case model.KindKernel:
				b.event("kernel", row.kind, b.stream(row.device, row.lane), row.start, row.end, name,
					b.work(row.correlation, r.args.rows[row.args]))
			case model.KindMemcpy:
				b.event("gpu_memcpy", row.kind, b.stream(row.device, row.lane), row.start, row.end, name,
					b.work(row.correlation, r.args.rows[row.args]))
			case model.KindRuntime:
				b.event("cuda_runtime", row.kind, b.thread(row.pid, row.lane), row.start, row.end, name, b.call(row.correlation))
			case model.KindAnnotation:
				b.nvtxRange(b.thread(row.pid, row.lane), row.start, row.end, r.names.Text(row.name))
			default:
				b.event("hsa_api", model.KindOther, b.aside(row.pid, row.lane), row.start, row.end, name, -1)
			}
		}
	})
	numbers := map[int64]int64{}
	r.counters.drain(func(chunk []rocCounter) {
		for i := range chunk {
			c := &chunk[i]
			if _, known := numbers[c.dispatch]; !known {
				numbers[c.dispatch] = int64(len(numbers))
			}
			b.builder.ranges.add(rawCounter{c.start, text(c.kernel), text(c.counter), kineto.ID{Num: first>>12 + numbers[c.dispatch],
				Set: true}, c.value})
		}
	})
}
