package report

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/traced"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/collectives"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/analyse/keyaverages"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/units"
)

// maxOpRows bounds the operator and kernel tables of the document; a session by input shapes can have very many.
const maxOpRows = 5000

// table is a part of the report that nothing else of it depends on while it is made.
type table struct {
	name string
	make func()
	// sections are those that show it; it is made if one of them is wanted.
	sections []string
}

// manyEvents is a trace so large that what the analyses need while they run counts: they then run one by one.
const manyEvents = 4 << 20

// tables starts filling what traces give, on all cores, and returns what waits for the end.
func (b *Builder) tables() (wait func()) {
	traces := b.S.Traces
	list := []table{{"calls", b.callRows, []string{"calls"}}, {"lines", b.countedLines, []string{"lines"}}, {"actions", b.Actions, nil}, {"counts", b.counts, []string{SectionCounts}}}
	if len(b.S.FileTables) > 0 {
		list = append(list, table{"contents", b.fileTables, nil})
	}
	if len(b.S.Snapshots) > 0 {
		list = append(list, table{"memory snapshots", b.snapshots, nil})
	}
	if len(traces) > 0 {
		list = append([]table{{"key averages", func() { b.largest(traces) }, nil}}, list...)
		list = append(list, []table{
			{"gpu", b.gpuRows, nil},
			{"kernels", b.kernelRows, []string{"kernels"}},
			{"communication", func() { b.commRows(traces) }, []string{"communication", "ranks"}},
		}...)
		if b.merged == nil {
			list = append(list, table{"critical path", func() { b.criticalPath(traces) }, []string{"critical-path"}})
			list = append(list, b.ownTables(traces)...)
		} else {
			b.mergedTables()
		}
	}
	list = slices.DeleteFunc(list, func(t table) bool { return !b.wanted(t.sections) })
	broken := make([]string, len(list))
	var group sync.WaitGroup
	group.Go(func() {
		beside(len(list), b.workers(), func(i int) { broken[i] = guarded(list[i].name, list[i].make) })
	})
	return func() {
		group.Wait()
		b.R.Tables = slices.DeleteFunc(b.R.Tables, func(t Table) bool { return len(t.Rows) == 0 })
		b.R.Unread = append(b.R.Unread, slices.DeleteFunc(broken, func(text string) bool { return text == "" })...)
	}
}

// largest makes, one after the other, the two that need most memory: what operators did, and the graph that the findings on
// traces from elsewhere are priced by.
func (b *Builder) largest(traces []*model.Trace) {
	if b.wanted([]string{"operators"}) {
		b.keyAverages(traces)
	}
	if b.merged == nil && b.S.Run == nil && len(b.S.Processes) == 0 {
		guarded("replay", func() { b.replay() }) // the findings, which ask for it, say what went wrong
	}
}

// ownTables have rows of one trace each.
func (b *Builder) ownTables(traces []*model.Trace) []table {
	return append(b.generalTables(traces), []table{
		{"sequences", func() { b.sequenceRows(traces) }, []string{"sequences"}},
		{"memory", func() { b.memoryRows(traces) }, []string{"memory"}},
		{"roofline", func() { b.rooflines(traces) }, []string{"roofline", "gpu"}},
		{"copies", func() { b.copyRows(traces) }, []string{"copies", "gpu"}},
		{"streams", func() { b.streamRows(traces) }, []string{"streams"}},
		{"step parts", func() { b.stepParts(traces) }, []string{"step-parts"}},
	}...)
}

// wanted says whether one of the sections that show a table will be shown; none stands for every report.
func (b *Builder) wanted(sections []string) bool {
	return len(b.opt.Sections) == 0 || len(sections) == 0 ||
		slices.ContainsFunc(sections, func(name string) bool { return slices.Contains(b.opt.Sections, name) })
}

// allDevices analyses the devices of every trace, the traces beside each other.
func (b *Builder) allDevices() *devices {
	if b.merged != nil {
		return &devices{b.merged.gpus, b.merged.parts}
	}
	n := len(b.S.Traces)
	out := &devices{make([][]device.GPU, n), make([]traced.TracePart, n)}
	beside(n, b.workers(), func(i int) {
		w := device.NewWork(b.S.Traces[i], b.S.Strings)
		out.gpus[i], out.parts[i] = w.GPUs(), traced.PartOf(w)
	})
	return out
}

// workers is how many analyses run beside each other.
func (b *Builder) workers() int {
	if slices.ContainsFunc(b.S.Traces, func(t *model.Trace) bool { return t.Events.Len() > manyEvents }) {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

// beside calls f with 0 … n − 1 on so many goroutines. A panic in one of them becomes the caller's.
func beside(n, workers int, f func(i int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	var broken atomic.Pointer[any]
	for range min(workers, n) {
		group.Go(func() {
			defer func() {
				if e := recover(); e != nil {
					broken.Store(&e)
				}
			}()
			for i := next.Add(1) - 1; int(i) < n; i = next.Add(1) - 1 {
				f(int(i))
			}
		})
	}
	group.Wait()
	if e := broken.Load(); e != nil {
		panic(*e)
	}
}

// us is a duration in microseconds.
func us(d model.Dur) float64 { return float64(d) / 1e3 }

// operators are the sums of operators over the traces.
func (b *Builder) operators(traces []*model.Trace) []keyaverages.Row {
	if b.merged != nil {
		return b.merged.opRows
	}
	return keyaverages.Of(traces, b.S.Strings, keyaverages.Options{ByShapes: b.opt.GroupByInputShape, ByStack: b.opt.GroupByStack,
		ByModule: b.opt.GroupByModule})
}

func (b *Builder) keyAverages(traces []*model.Trace) {
	traces, b.R.KeyAveragesOf = b.tracedOf(traces)
	rows := b.operators(traces)
	slices.SortStableFunc(rows, func(x, y keyaverages.Row) int {
		return cmp.Compare(y.SelfCPU+y.SelfDevice, x.SelfCPU+x.SelfDevice)
	})
	for i := range rows[:min(len(rows), maxOpRows)] {
		k := &rows[i]
		row := OpRow{Name: k.Name, Count: k.Count, SelfCPUUs: us(k.SelfCPU), CPUUs: us(k.CPU), SelfDeviceUs: us(k.SelfDevice),
			DeviceUs: us(k.Device), SelfCPUBytes: k.SelfCPUBytes, CPUBytes: k.CPUBytes, SelfDeviceBytes: k.SelfDeviceBytes,
			DeviceBytes: k.DeviceBytes, Flops: k.Flops, InputShapes: k.InputShapes, IsUserAnnotation: k.IsUserAnnotation, DeviceType: "cpu"}
		if k.DeviceType == keyaverages.OnDevice {
			row.DeviceType = "device"
		}
		row.Stack, row.Module = strings.Join(k.Stack, "; "), k.Module
		b.R.KeyAverages = append(b.R.KeyAverages, row)
	}
}

func (b *Builder) allKernels() []device.Kernel {
	if b.merged != nil {
		return b.merged.kernelsByTime()
	}
	return device.Kernels(b.S.Traces, b.S.Strings)
}

func (b *Builder) kernelRows() {
	rows := b.kernels()
	for i := range rows[:min(len(rows), maxOpRows)] {
		k := &rows[i]
		row := KernelRow{Name: k.Name, Count: k.Count, DeviceUs: float64(k.Dur) / 1e3, MeanUs: float64(k.Mean()) / 1e3,
			MinUs: float64(k.Min) / 1e3, MaxUs: float64(k.Max) / 1e3, Category: k.Class.String(), Launcher: traceWhere(k.Where),
			Tensor: k.TensorCores}
		if row.Launcher.Op == "" {
			row.Launcher.Op = k.Launcher
		}
		if k.Stream >= 0 {
			row.Stream = ptr(k.Stream)
		}
		b.R.Kernels = append(b.R.Kernels, row)
	}
}

func traceWhere(w code.Where) Where {
	return Where{File: w.File, Line: int(w.Line), Function: w.Function, Op: w.Op, Module: w.Module}
}

func (b *Builder) gpuRows() {
	for i, gpus := range b.gpus() {
		steps, time := b.stepsOf(i)
		for _, g := range gpus {
			row := GPURow{Rank: RankPtr(g.Rank), Device: int(g.Device), Steps: steps, StepsUs: time,
				SpanUs: us(g.Span), BusyUs: us(g.Busy), ComputeUs: us(g.Compute), CommunicationUs: us(g.Communication),
				OverlapUs: us(g.Overlap), CopyUs: us(g.Copy),
				ExposedCommUs: us(g.ExposedCommunication), ExposedCopyUs: us(g.ExposedCopy), IdleUs: us(g.Idle), IdleByCause: []IdleRow{}}
			for _, c := range g.IdleBy {
				row.IdleByCause = append(row.IdleByCause, IdleRow{c.Cause, us(c.Dur), int64(c.Gaps), traceWhere(c.Where)})
			}
			if n := g.Launches.Count; n > 0 {
				row.Launches = &LaunchRow{Count: int64(n), MedianDelayUs: us(g.Launches.MedianDelay), P90DelayUs: us(g.Launches.P90Delay),
					Short: int64(g.Launches.Short), SlowCalls: int64(g.Launches.SlowCalls),
					QueueEmptyShare: ptr(float64(g.Launches.QueueEmpty) / float64(n))}
			}
			for _, use := range []struct {
				to    **float64
				value float64
			}{{&row.SMEfficiency, g.SMEfficiency}, {&row.Occupancy, g.Occupancy}, {&row.TensorCores, g.TensorCores}} {
				if use.value >= 0 {
					*use.to = ptr(use.value)
				}
			}
			b.R.GPU = append(b.R.GPU, row)
		}
	}
}

// stepsOf counts the steps after the warm-up that the nth trace of a run of ours covers, and gives their time in µs.
func (b *Builder) stepsOf(n int) (steps int, time float64) {
	if b.merged != nil || n >= len(b.S.Traces) {
		return 0, 0
	}
	t := b.S.Traces[n]
	if t.Process < 0 || t.Process >= len(b.S.Processes) {
		return 0, 0
	}
	var covered []times.Interval
	for i := range b.S.Processes[t.Process].Steps {
		st := &b.S.Processes[t.Process].Steps[i]
		if st.Phase != model.PhaseWarmup && account.Covers(t, st) {
			steps += st.Count()
			covered = append(covered, times.Interval{Start: st.Start, End: st.End})
		}
	}
	return steps, times.Covered(covered) / 1e3
}

func (b *Builder) communications(traces []*model.Trace) []collectives.Communication {
	if b.merged != nil {
		return collectives.JoinCalls(b.merged.calls)
	}
	return collectives.Communications(traces, b.S.Strings)
}

// SumWindows adds up the rows of one rank's traces, of which a session has one for each traced stretch: collectives of the same
// kind stand once. Those whose bytes the trace does not tell stay apart, so that no bandwidth is that of half of the calls.
func SumWindows(rows []collectives.Communication) []collectives.Communication {
	type kind struct {
		rank             int
		device           int32
		op, group, dtype string
	}
	at := map[kind]int{}
	out := rows[:0:0]
	for _, r := range rows {
		key := kind{r.Rank, r.Device, r.Op, r.Group, r.DType}
		i, known := at[key]
		if !known || r.Matched > 0 || out[i].Matched > 0 {
			if !known {
				at[key] = len(out)
			}
			out = append(out, r)
			continue
		}
		sum := &out[i]
		factor := 0.0
		if sum.AlgBW > 0 {
			factor = sum.BusBW / sum.AlgBW
		}
		sum.Count, sum.Dur, sum.Bytes, sum.Exposed = sum.Count+r.Count, sum.Dur+r.Dur, sum.Bytes+r.Bytes, sum.Exposed+r.Exposed
		if sum.AlgBW > 0 && sum.Dur > 0 {
			sum.AlgBW = float64(sum.Bytes) / float64(sum.Dur)
			sum.BusBW = sum.AlgBW * factor
		}
	}
	slices.SortStableFunc(out, func(a, b collectives.Communication) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(b.Dur, a.Dur))
	})
	return out
}

func (b *Builder) commRows(traces []*model.Trace) {
	for _, c := range SumWindows(b.communications(traces)) {
		row := CommRow{Rank: RankPtr(c.Rank), Op: c.Op, Group: c.Group, Count: c.Count, DeviceUs: float64(c.Dur) / 1e3,
			Bytes: max(c.Bytes, 0), Dtype: c.DType, ExposedUs: ptr(float64(c.Exposed) / 1e3)}
		if c.AlgBW > 0 {
			row.AlgBW, row.BusBW = ptr(c.AlgBW), ptr(c.BusBW)
		}
		if c.Matched > 0 {
			row.WaitUs, row.LateRank = ptr(float64(c.Wait)/1e3), RankPtr(c.LateRank)
		}
		b.R.Communication = append(b.R.Communication, row)
	}
}

func laneName(s *model.Session, t *model.Trace, id model.LaneID) string {
	if id < 0 || int(id) >= len(t.Lanes) {
		return ""
	}
	l := &t.Lanes[id]
	if l.Kind == model.LaneStream {
		return "device " + units.Count(int64(l.Device)) + " stream " + units.Count(l.Stream)
	}
	if name := s.Strings.Text(l.Name); name != "" {
		return name
	}
	return "thread " + s.Strings.Text(l.TID)
}

// DeviceName names a device by its DeviceType of torch and its number, whoever made it.
func DeviceName(kind, index int8) string {
	switch {
	case kind == 0:
		return "CPU"
	case index >= 0:
		return "device " + units.Count(int64(index))
	}
	return "device"
}

func (b *Builder) callRows() {
	var functions []model.CallFunction
	for _, calls := range b.S.Calls {
		functions = append(functions, calls.Functions...)
	}
	b.R.Calls = callRows(functions, "tottime", maxOpRows)
	for _, calls := range b.S.Calls {
		for i := range calls.Lines {
			l := &calls.Lines[i]
			b.R.Lines = append(b.R.Lines, CallRow{File: l.File, Line: int(l.Line), Function: l.Function, Hits: l.Hits,
				SelfS: l.Time.Seconds(), TotalS: l.Time.Seconds()})
		}
	}
	slices.SortStableFunc(b.R.Lines, func(x, y CallRow) int { return cmp.Compare(y.SelfS, x.SelfS) })
	b.R.Lines = b.R.Lines[:min(len(b.R.Lines), maxOpRows)]
}
