package ingest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/model"
	"bottleneck/internal/sqlite"
)

// Bounds of databases of profilers.
const (
	maxRowTraces = 1 << 12 // processes
	maxRowTexts  = 1 << 24
)

// nsysReader reads a database that `nsys export -t sqlite` wrote (NVIDIA Nsight Systems, "SQLite Export Schema Reference"). Each
// process with work of a device, or with NVTX ranges where none has any, becomes a trace. Columns differ by version: they are
// looked up by name.
type nsysReader struct {
	db        *sqlite.DB
	strings   rowStrings
	processes map[int64]*rowBuilder
	header    header
	sms       map[int64]int       // multiprocessors by device
	waits     map[nsysCall]string // names of synchronisations by the call that waited
	missing   []string            // what stands in place of tables
}

// rowStrings are a database's texts by their number.
type rowStrings map[int64]string

func readNsys(o *opening, src source, db *sqlite.DB) (func() error, error) {
	n := &nsysReader{db: db, strings: rowStrings{}, processes: map[int64]*rowBuilder{}, header: newHeader(), sms: map[int64]int{},
		waits: map[nsysCall]string{}}
	n.texts("StringIds", "id", "value")
	n.about()
	for _, read := range []func(){n.runtimeCalls, n.kernels, n.copies, n.sets, n.syncs, n.graphs, n.nvtx, n.systemCalls, n.libraries,
		n.overhead, n.threadNames} {
		read()
	}
	traces := n.inOrder()
	for _, b := range traces {
		b.builder.header = n.header
		b.finish()
	}
	damage := append(databaseDamage(db.Damage()), n.odd()...)
	if len(traces) == 0 {
		return n.nothing(o, src, damage), nil
	}
	return storeRows(o, src, "nsys", traces, damage), nil
}

// scan goes over a table, if there is one.
func (n *nsysReader) scan(table string, columns []string, row func(v []sqlite.Value)) {
	if what := n.db.Instead(table); what != "" && !slices.Contains(n.missing, table+" is a "+what) {
		n.missing = append(n.missing, table+" is a "+what)
	}
	if t := n.db.Table(table); t != nil {
		_ = n.db.Scan(t, columns, func(v []sqlite.Value) error { row(v); return nil }) // which fails only where row does
	}
}

func (n *nsysReader) odd() []model.Diagnostic {
	if len(n.missing) == 0 {
		return nil
	}
	return []model.Diagnostic{{Kind: "no-table", Count: int64(len(n.missing)), FirstOffset: -1,
		Text: "what should be a table is none, and is not read: " + strings.Join(n.missing[:min(len(n.missing), 5)], ", ")}}
}

func (n *nsysReader) texts(table, id, value string) {
	n.scan(table, []string{id, value}, func(v []sqlite.Value) {
		if len(n.strings) < maxRowTexts {
			n.strings[v[0].Int()] = strings.ToValidUTF8(v[1].Text(), "\uFFFD")
		}
	})
}

// about reads what the database says of the machine.
func (n *nsysReader) about() {
	n.scan("TARGET_INFO_SESSION_START_TIME", []string{"utcEpochNs"}, func(v []sqlite.Value) {
		if at := v[0].Int(); at > 0 && at < latest {
			n.header.base = at
		}
	})
	cuda := map[int64]int64{} // the number that CUDA gives a device
	n.scan("TARGET_INFO_CUDA_DEVICE", []string{"gpuId", "cudaId"}, func(v []sqlite.Value) { cuda[v[0].Int()] = v[1].Int() })
	n.scan("TARGET_INFO_GPU", []string{"id", "name", "totalMemory", "smCount", "clockRate", "computeMajor", "computeMinor"},
		func(v []sqlite.Value) {
			index, known := cuda[v[0].Int()]
			if !known {
				index = v[0].Int()
			}
			gpu := model.GPU{Index: int(clamp32(index)), Name: v[1].Text(), MemoryBytes: v[2].Int(), SMs: int(clamp32(v[3].Int())),
				ComputeMajor: int(clamp32(v[5].Int())), ComputeMinor: int(clamp32(v[6].Int()))}
			if mhz := v[4].Float() / 1e6; mhz > 0 {
				gpu.MaxClockMHz = &mhz
			}
			if len(n.header.model.Devices) < 1024 {
				n.header.model.Devices = append(n.header.model.Devices, gpu)
				n.sms[index] = gpu.SMs
			}
		})
	n.scan("META_DATA_EXPORT", []string{"name", "value"}, func(v []sqlite.Value) {
		if name := v[0].Text(); name == "EXPORT_SCHEMA_VERSION" || name == "EXPORT_PRODUCT_VERSION" {
			n.header.model.Metadata[strings.ToLower(name)] = strconv.Quote(v[1].Text())
		}
	})
}

// pidOf and tidOf take the numbers apart that Nsight packs.
func pidOf(global int64) int64 { return global >> 24 & 0xFFFFFF }
func tidOf(global int64) int64 { return global & 0xFFFFFF }

// process is the trace of a process; nil where there are too many.
func (n *nsysReader) process(global int64) *rowBuilder {
	pid := pidOf(global)
	b := n.processes[pid]
	if b == nil && len(n.processes) < maxRowTraces {
		b = newRowBuilder()
		n.processes[pid] = b
	}
	return b
}

func (n *nsysReader) inOrder() []*rowBuilder {
	var pids []int64
	for pid, b := range n.processes {
		if b.builder.events.n > 0 {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	var out []*rowBuilder
	for _, pid := range pids {
		out = append(out, n.processes[pid])
	}
	return out
}

func (n *nsysReader) runtimeCalls() {
	names := map[int64]string{}
	n.scan("CUPTI_ACTIVITY_KIND_RUNTIME", []string{"start", "end", "globalTid", "correlationId", "nameId"}, func(v []sqlite.Value) {
		b := n.process(v[2].Int())
		if b == nil {
			return
		}
		id := v[4].Int()
		name, known := names[id]
		if !known {
			name = withoutVersion(n.strings[id])
			names[id] = name
		}
		if wait := waitName(name); wait != "" && len(n.waits) < maxRowTexts {
			n.waits[nsysCall{pidOf(v[2].Int()), v[3].Int()}] = wait
		}
		b.event("cuda_runtime", model.KindRuntime, b.thread(pidOf(v[2].Int()), tidOf(v[2].Int())), v[0].Int(), v[1].Int(),
			b.text(name), b.call(v[3].Int()))
	})
}

// withoutVersion is cudaLaunchKernel of cudaLaunchKernel_v7000.
func withoutVersion(name string) string {
	if at := strings.LastIndex(name, "_v"); at > 0 && len(name) > at+2 && strings.Trim(name[at+2:], "0123456789") == "" &&
		len(name) > at+4 {
		return name[:at]
	}
	return name
}

func (n *nsysReader) kernels() {
	columns := []string{"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "demangledName", "registersPerThread",
		"staticSharedMemory", "dynamicSharedMemory", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "shortName", "graphNodeId"}
	n.scan("CUPTI_ACTIVITY_KIND_KERNEL", columns, func(v []sqlite.Value) {
		b := n.process(v[5].Int())
		if b == nil {
			return
		}
		device, stream := v[2].Int(), v[3].Int()
		args := kernelArgs(device, stream, [3]int64{v[10].Int(), v[11].Int(), v[12].Int()}, [3]int64{v[13].Int(), v[14].Int(), v[15].Int()},
			v[7].Int(), v[8].Int()+v[9].Int(), n.sms[device])
		args.GraphNode = v[17].Int()
		name := cmp.Or(n.strings[v[6].Int()], n.strings[v[16].Int()], "kernel")
		b.event("kernel", model.KindKernel, b.stream(device, stream), v[0].Int(), v[1].Int(), b.text(name), b.work(v[4].Int(), args))
	})
}

var copyDirections = map[int64]string{1: "HtoD", 2: "DtoH", 3: "HtoA", 4: "AtoH", 5: "AtoA", 6: "AtoD", 7: "DtoA", 8: "DtoD",
	9: "HtoH", 10: "PtoP", 11: "HtoD", 12: "DtoH", 13: "DtoD"}

var nsysMemoryKinds = map[int64]string{0: "Pageable", 1: "Pinned", 2: "Device", 3: "Array", 4: "Managed", 5: "Device Static",
	6: "Managed Static"}

// copyName is what Kineto calls a copy.
func copyName(kind, from, to int64, kinds map[int64]string) string {
	direction, a, b := cmp.Or(copyDirections[kind], "Unknown"), cmp.Or(kinds[from], "Unknown"), cmp.Or(kinds[to], "Unknown")
	return "Memcpy " + direction + " (" + a + " -> " + b + ")"
}

func (n *nsysReader) copies() {
	columns := []string{"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes", "copyKind", "srcKind", "dstKind"}
	n.scan("CUPTI_ACTIVITY_KIND_MEMCPY", columns, func(v []sqlite.Value) {
		b := n.process(v[5].Int())
		if b == nil {
			return
		}
		device, stream, start, end := v[2].Int(), v[3].Int(), v[0].Int(), v[1].Int()
		name := copyName(v[7].Int(), v[8].Int(), v[9].Int(), nsysMemoryKinds)
		b.event("gpu_memcpy", model.KindMemcpy, b.stream(device, stream), start, end, b.text(name),
			b.work(v[4].Int(), b.copied(device, stream, v[6].Int(), end-start)))
	})
}

func (n *nsysReader) sets() {
	n.scan("CUPTI_ACTIVITY_KIND_MEMSET", []string{"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes", "memKind"},
		func(v []sqlite.Value) {
			b := n.process(v[5].Int())
			if b == nil {
				return
			}
			device, stream, start, end := v[2].Int(), v[3].Int(), v[0].Int(), v[1].Int()
			name := "Memset (" + cmp.Or(nsysMemoryKinds[v[7].Int()], "Unknown") + ")"
			b.event("gpu_memset", model.KindMemset, b.stream(device, stream), start, end, b.text(name),
				b.work(v[4].Int(), b.copied(device, stream, v[6].Int(), end-start)))
		})
}

// nsysCall is a call of a process by its correlation.
type nsysCall struct{ pid, correlation int64 }

// waitName is what Kineto calls the synchronisation that a call makes, "" for other calls. The numbers of their kinds have changed
// their meaning from version to version of the export.
func waitName(call string) string {
	switch {
	case strings.HasSuffix(call, "StreamWaitEvent"):
		return "Stream Wait Event"
	case strings.HasSuffix(call, "StreamSynchronize"), strings.HasSuffix(call, "StreamQuery"):
		return "Stream Sync"
	case strings.HasSuffix(call, "EventSynchronize"), strings.HasSuffix(call, "EventQuery"):
		return "Event Sync"
	case strings.HasSuffix(call, "DeviceSynchronize"), strings.HasSuffix(call, "CtxSynchronize"):
		return "Context Sync"
	}
	return ""
}

// noStream is what a row of no stream says.
const noStream = 1<<32 - 1

func (n *nsysReader) syncs() {
	n.scan("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", []string{"start", "end", "deviceId", "streamId", "correlationId", "globalPid"},
		func(v []sqlite.Value) {
			b := n.process(v[5].Int())
			if b == nil {
				return
			}
			device, stream := v[2].Int(), v[3].Int()
			if stream == noStream {
				stream = -1
			}
			name := cmp.Or(n.waits[nsysCall{pidOf(v[5].Int()), v[4].Int()}], "Sync")
			b.event("cuda_sync", model.KindSync, b.stream(device, stream), v[0].Int(), v[1].Int(), b.text(name),
				b.work(v[4].Int(), noWork(device, stream)))
		})
}

// graphs are launches of whole CUDA graphs, where their kernels were not recorded one by one.
func (n *nsysReader) graphs() {
	n.scan("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", []string{"start", "end", "deviceId", "streamId", "correlationId", "globalPid"},
		func(v []sqlite.Value) {
			if b := n.process(v[5].Int()); b != nil {
				b.event("kernel", model.KindKernel, b.stream(v[2].Int(), v[3].Int()), v[0].Int(), v[1].Int(), b.text("CUDA graph"),
					b.work(v[4].Int(), noWork(v[2].Int(), v[3].Int())))
			}
		})
}

// known is the trace of a process that has work of a device; where none has, of any.
func (n *nsysReader) known(global int64) *rowBuilder {
	if b := n.processes[pidOf(global)]; b != nil || n.hasDevice() {
		return b
	}
	return n.process(global)
}

func (n *nsysReader) hasDevice() bool {
	for _, b := range n.processes {
		if b.device.n+b.runtime.n > 0 {
			return true
		}
	}
	return false
}

// Types of NVTX events.
const (
	nvtxPushPop = 59
	nvtxStarted = 60
)

func (n *nsysReader) nvtx() {
	columns := []string{"start", "end", "eventType", "text", "textId", "globalTid", "endGlobalTid"}
	n.scan("NVTX_EVENTS", columns, func(v []sqlite.Value) {
		kind, global := v[2].Int(), v[5].Int()
		if kind != nvtxPushPop && kind != nvtxStarted {
			return
		}
		b := n.known(global)
		if b == nil {
			return
		}
		if v[1].Null() {
			b.skipped.add("begin-without-end", -1)
			return
		}
		text := v[3].Text()
		if v[3].Null() {
			text = n.strings[v[4].Int()]
		}
		lane := b.thread(pidOf(global), tidOf(global))
		if kind == nvtxStarted { // may end on another thread, and overlap without nesting
			lane = b.aside(pidOf(global), tidOf(global))
		}
		b.nvtxRange(lane, v[0].Int(), v[1].Int(), text)
	})
}

// nvtxRange adds a range: an operator that emit_nvtx wrote, or an annotation.
func (b *rowBuilder) nvtxRange(lane model.LaneID, start, end int64, text string) {
	r := parseNVTX(strings.ToValidUTF8(text, "\uFFFD"))
	category, kind := "user_annotation", model.KindAnnotation
	if r.operator {
		category, kind = "cpu_op", model.KindOp
	}
	b.event(category, kind, lane, start, end, b.text(r.name), b.operator(&r))
}

// systemCalls are waits and other calls of the system's libraries.
func (n *nsysReader) systemCalls() { n.plainCalls("OSRT_API", "os_runtime") }

// libraries are calls of cuDNN and cuBLAS.
func (n *nsysReader) libraries() {
	n.plainCalls("CUDNN_EVENTS", "cudnn")
	n.plainCalls("CUBLAS_EVENTS", "cublas")
}

func (n *nsysReader) plainCalls(table, category string) {
	n.scan(table, []string{"start", "end", "nameId", "globalTid"}, func(v []sqlite.Value) {
		global := v[3].Int()
		if b := n.known(global); b != nil && !v[1].Null() {
			b.event(category, model.KindOther, b.thread(pidOf(global), tidOf(global)), v[0].Int(), v[1].Int(),
				b.text(n.strings[v[2].Int()]), -1)
		}
	})
}

func (n *nsysReader) overhead() {
	n.scan("PROFILER_OVERHEAD", []string{"start", "end", "nameId", "globalTid"}, func(v []sqlite.Value) {
		global := v[3].Int()
		if b := n.processes[pidOf(global)]; b != nil {
			b.event("overhead", model.KindOverhead, b.aside(pidOf(global), tidOf(global)), v[0].Int(), v[1].Int(),
				b.text(n.strings[v[2].Int()]), -1)
		}
	})
}

func (n *nsysReader) threadNames() {
	n.scan("ThreadNames", []string{"nameId", "globalTid"}, func(v []sqlite.Value) {
		global := v[1].Int()
		if b := n.processes[pidOf(global)]; b != nil {
			b.nameThread(pidOf(global), tidOf(global), n.strings[v[0].Int()])
		}
	})
}

// nothing is the Input of a database without anything that can be told.
func (n *nsysReader) nothing(o *opening, src source, damage []model.Diagnostic) func() error {
	gpus := n.header.model.Devices
	return func() error {
		if len(o.s.Environment.GPUs) == 0 {
			o.s.Environment.GPUs = gpus
		}
		o.s.Inputs = append(o.s.Inputs, model.Input{Path: src.path, Format: "nsys", Bytes: src.size,
			Rank: model.NoRank, Diagnostics: damage,
			Note: FormatText("nsys") + ": it holds no CUDA call, kernel or NVTX range; to see them record with `nsys profile -t " +
				"cuda,nvtx,osrt`, export again and report that"})
		return nil
	}
}
