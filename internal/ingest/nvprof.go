package ingest

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"bottleneck/internal/model"
	"bottleneck/internal/sqlite"
)

// nvprofReader reads a database that nvprof wrote (`nvprof -o FILE`, .nvvp, .sql): torch.autograd.profiler.load_nvprof reads the
// same tables. There is one process in a file.
type nvprofReader struct {
	*nsysReader // for its tables and texts
	b           *rowBuilder
	pid         int64
	names       map[int64]string
	contexts    map[int64]int64 // devices by context
}

// cudaCalls name calls by CUPTI's number of them (cupti_runtime_cbid.h), the ones that PyTorch makes; nvprof keeps no names.
var cudaCalls = map[int64]string{3: "cudaGetDeviceCount", 4: "cudaGetDeviceProperties", 10: "cudaGetLastError", 11: "cudaPeekAtLastError",
	13: "cudaLaunch", 15: "cudaFuncGetAttributes", 16: "cudaSetDevice", 17: "cudaGetDevice", 20: "cudaMalloc", 22: "cudaFree",
	25: "cudaMallocHost", 26: "cudaFreeHost", 27: "cudaHostAlloc", 30: "cudaMemGetInfo", 31: "cudaMemcpy", 32: "cudaMemcpy2D",
	41: "cudaMemcpyAsync", 49: "cudaMemset", 51: "cudaMemsetAsync", 129: "cudaStreamCreate", 130: "cudaStreamDestroy",
	131: "cudaStreamSynchronize", 132: "cudaStreamQuery", 133: "cudaEventCreate", 134: "cudaEventCreateWithFlags", 135: "cudaEventRecord",
	136: "cudaEventDestroy", 137: "cudaEventSynchronize", 138: "cudaEventQuery", 139: "cudaEventElapsedTime", 147: "cudaStreamWaitEvent",
	164: "cudaDeviceReset", 165: "cudaDeviceSynchronize", 200: "cudaDeviceGetAttribute", 211: "cudaLaunchKernel"}

func readNvprof(o *opening, src source, db *sqlite.DB) (func() error, error) {
	n := &nvprofReader{nsysReader: &nsysReader{db: db, strings: rowStrings{}}, b: newRowBuilder(), names: map[int64]string{},
		contexts: map[int64]int64{}}
	n.texts("StringTable", "_id_", "value")
	sms := n.devices()
	n.calls("CUPTI_ACTIVITY_KIND_RUNTIME", "cuda_runtime", "CUDA runtime call %d", cudaCalls)
	n.calls("CUPTI_ACTIVITY_KIND_DRIVER", "cuda_driver", "CUDA driver call %d", nil)
	n.work(sms)
	n.syncs()
	n.markers()
	damage := append(databaseDamage(db.Damage()), n.odd()...)
	if n.b.builder.events.n == 0 {
		return func() error {
			o.s.Inputs = append(o.s.Inputs, model.Input{Path: src.path, Format: "nvprof", Bytes: src.size,
				Rank: model.NoRank, Diagnostics: damage,
				Note: FormatText("nvprof") +
					": it holds no CUDA call, kernel or marker; profile again from the program's start and report that"})
			return nil
		}, nil
	}
	n.b.finish()
	return storeRows(o, src, "nvprof", []*rowBuilder{n.b}, damage), nil
}

func (n *nvprofReader) devices() (multiprocessors map[int64]int) {
	multiprocessors = map[int64]int{}
	columns := []string{"id", "name", "globalMemorySize", "numMultiprocessors", "coreClockRate", "computeCapabilityMajor",
		"computeCapabilityMinor"}
	n.scan("CUPTI_ACTIVITY_KIND_DEVICE", columns, func(v []sqlite.Value) {
		id := v[0].Int()
		gpu := model.GPU{Index: int(clamp32(id)), Name: n.strings[v[1].Int()], MemoryBytes: v[2].Int(), SMs: int(clamp32(v[3].Int())),
			ComputeMajor: int(clamp32(v[5].Int())), ComputeMinor: int(clamp32(v[6].Int()))}
		if mhz := v[4].Float() / 1e3; mhz > 0 {
			gpu.MaxClockMHz = &mhz
		}
		if len(multiprocessors) < 1024 {
			multiprocessors[id] = gpu.SMs
			n.b.header.model.Devices = append(n.b.header.model.Devices, gpu)
		}
	})
	n.scan("CUPTI_ACTIVITY_KIND_CONTEXT", []string{"contextId", "deviceId"}, func(v []sqlite.Value) {
		if len(n.contexts) < maxRowTraces {
			n.contexts[v[0].Int()] = v[1].Int()
		}
	})
	return multiprocessors
}

// calls reads a table of calls, whose names are numbers. Threads are 32 bits of their handle, as in markers.
func (n *nvprofReader) calls(table, category, unnamed string, names map[int64]string) {
	n.scan(table, []string{"cbid", "start", "end", "processId", "threadId", "correlationId"}, func(v []sqlite.Value) {
		n.pid = v[3].Int()
		name := names[v[0].Int()]
		if name == "" {
			name = fmt.Sprintf(unnamed, v[0].Int())
		}
		n.b.event(category, model.KindRuntime, n.b.thread(n.pid, int64(uint32(v[4].Int()))), v[1].Int(), v[2].Int(), n.b.text(name),
			n.b.call(v[5].Int()))
	})
}

// nvprofMemoryKinds are CUPTI's kinds of memory.
var nvprofMemoryKinds = map[int64]string{1: "Pageable", 2: "Pinned", 3: "Device", 4: "Array", 5: "Managed", 6: "Device Static",
	7: "Managed Static"}

func (n *nvprofReader) work(multiprocessors map[int64]int) {
	columns := []string{"start", "end", "deviceId", "streamId", "correlationId", "name", "registersPerThread", "staticSharedMemory",
		"dynamicSharedMemory", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"}
	for _, table := range []string{"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", "CUPTI_ACTIVITY_KIND_KERNEL"} {
		n.scan(table, columns, func(v []sqlite.Value) {
			device, stream := v[2].Int(), v[3].Int()
			args := kernelArgs(device, stream, [3]int64{v[9].Int(), v[10].Int(), v[11].Int()},
				[3]int64{v[12].Int(), v[13].Int(), v[14].Int()}, v[6].Int(), v[7].Int()+v[8].Int(), multiprocessors[device])
			n.b.event("kernel", model.KindKernel, n.b.stream(device, stream), v[0].Int(), v[1].Int(), n.b.text(n.kernelName(v[5].Int())),
				n.b.work(v[4].Int(), args))
		})
	}
	for _, table := range []string{"CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMCPY2"} {
		n.scan(table, []string{"start", "end", "deviceId", "streamId", "correlationId", "bytes", "copyKind", "srcKind", "dstKind"},
			func(v []sqlite.Value) {
				device, stream, start, end := v[2].Int(), v[3].Int(), v[0].Int(), v[1].Int()
				name := copyName(v[6].Int(), v[7].Int(), v[8].Int(), nvprofMemoryKinds)
				n.b.event("gpu_memcpy", model.KindMemcpy, n.b.stream(device, stream), start, end, n.b.text(name),
					n.b.work(v[4].Int(), n.b.copied(device, stream, v[5].Int(), end-start)))
			})
	}
	n.scan("CUPTI_ACTIVITY_KIND_MEMSET", []string{"start", "end", "deviceId", "streamId", "correlationId", "bytes", "memoryKind"},
		func(v []sqlite.Value) {
			device, stream, start, end := v[2].Int(), v[3].Int(), v[0].Int(), v[1].Int()
			name := "Memset (" + cmp.Or(nvprofMemoryKinds[v[6].Int()], "Device") + ")"
			n.b.event("gpu_memset", model.KindMemset, n.b.stream(device, stream), start, end, n.b.text(name),
				n.b.work(v[4].Int(), n.b.copied(device, stream, v[5].Int(), end-start)))
		})
}

// maxMangled bounds the names that are demangled; longer ones stay as they are.
const maxMangled = 16 << 10

func (n *nvprofReader) kernelName(id int64) string {
	name, known := n.names[id]
	if !known {
		name = cmp.Or(n.strings[id], "kernel")
		if len(name) < maxMangled && strings.HasPrefix(name, "_Z") {
			name = demangle.Filter(name, demangle.MaxLength(16))
		}
		n.names[id] = name
	}
	return name
}

// syncNames are CUPTI's kinds of synchronisation.
var syncNames = map[int64]string{1: "Event Sync", 2: "Stream Wait Event", 3: "Stream Sync", 4: "Context Sync"}

func (n *nvprofReader) syncs() {
	n.scan("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", []string{"start", "end", "type", "correlationId", "contextId", "streamId"},
		func(v []sqlite.Value) {
			device, stream := n.contexts[v[4].Int()], v[5].Int()
			if stream == noStream {
				stream = -1
			}
			n.b.event("cuda_sync", model.KindSync, n.b.stream(device, stream), v[0].Int(), v[1].Int(),
				n.b.text(cmp.Or(syncNames[v[2].Int()], "Sync")), n.b.work(v[3].Int(), noWork(device, stream)))
		})
}

// marker is the beginning of an NVTX range.
type marker struct {
	start, thread, name int64
}

// maxOpenMarkers bounds ranges that have begun and not ended.
const maxOpenMarkers = 1 << 20

// markers joins beginnings and ends, which have the same number. The object is the process and the thread that made them.
func (n *nvprofReader) markers() {
	open := map[int64]marker{}
	n.scan("CUPTI_ACTIVITY_KIND_MARKER", []string{"timestamp", "id", "name", "objectId"}, func(v []sqlite.Value) {
		at, id, name, thread := v[0].Int(), v[1].Int(), v[2].Int(), int64(0)
		if object := v[3].Bytes(); len(object) >= 12 {
			n.pid = cmp.Or(n.pid, int64(binary.LittleEndian.Uint32(object)))
			thread = int64(binary.LittleEndian.Uint32(object[4:]))
		}
		begin, isOpen := open[id]
		switch {
		case name != 0 && len(open) < maxOpenMarkers:
			open[id] = marker{at, thread, name}
		case isOpen:
			n.markedRange(n.b.thread(n.pid, begin.thread), begin.start, at, n.strings[begin.name])
			delete(open, id)
		default:
			n.b.skipped.add("end-without-begin", -1)
		}
	})
	for range open {
		n.b.skipped.add("begin-without-end", -1)
	}
}

// markedRange adds a range. PyProf marks the Python lines that called an operator, which become Python calls around it, and the
// function with its arguments, of which the name is enough.
func (n *nvprofReader) markedRange(lane model.LaneID, start, end int64, text string) {
	if call, ok := strings.CutPrefix(text, "{'mod': '"); ok {
		module, rest, _ := strings.Cut(call, "', 'op': '")
		name, _, _ := strings.Cut(rest, "'")
		text = module + "." + name
	}
	frames, ok := strings.CutPrefix(text, "{'traceMarker': [")
	if !ok {
		n.b.nvtxRange(lane, start, end, text)
		return
	}
	for place := range strings.SplitSeq(strings.TrimSuffix(frames, "]}"), ", ") {
		place = strings.Trim(place, "'")
		if at := strings.LastIndexByte(place, ':'); at > 0 {
			n.b.event("python_function", model.KindPython, lane, start, end, n.b.text(place[:at]+"("+place[at+1:]+"): <line>"), -1)
		}
	}
}
