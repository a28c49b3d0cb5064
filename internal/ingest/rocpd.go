package ingest

import (
	"slices"
	"strings"

	"bottleneck/internal/model"
	"bottleneck/internal/sqlite"
)

// rocpdReader reads rocprofv3's database (ROCm/rocm-systems, rocprofiler-sdk, rocpd_tables.sql). Its tables end in an id of the
// process that wrote them. Up to the third version of the schema rows hold their times and places themselves, later they refer
// to tables of time stamps and of tracks.
type rocpdReader struct {
	*nsysReader // for its way to go over tables
	*rocRows
	suffix  string
	texts   map[int64]string
	agents  map[int64]rocAgent
	kernels map[int64]rocKernel
	pids    map[int64]int64 // by the number of the process
	tids    map[int64]int64
	events  map[int64]rocpdEvent
	tracks  map[int64]rocpdTrack
	times   map[int64]int64
	n       int64
}

type rocpdEvent struct{ category, stack int64 }

type rocpdTrack struct{ pid, tid, agent, queue, stream int64 }

func isRocpdDatabase(db *sqlite.DB) bool {
	return slices.ContainsFunc(db.Names(), func(name string) bool { return strings.HasPrefix(name, "rocpd_kernel_dispatch") })
}

func readRocpd(o *opening, src source, db *sqlite.DB) (func() error, error) {
	rows := newRocRows()
	scan := &nsysReader{db: db}
	total := int64(0)
	for _, name := range db.Names() {
		suffix, ok := strings.CutPrefix(name, "rocpd_kernel_dispatch")
		if !ok {
			continue
		}
		p := &rocpdReader{nsysReader: scan, rocRows: rows, suffix: suffix, texts: map[int64]string{}, agents: map[int64]rocAgent{},
			kernels: map[int64]rocKernel{}, pids: map[int64]int64{}, tids: map[int64]int64{}, events: map[int64]rocpdEvent{},
			tracks: map[int64]rocpdTrack{}, times: map[int64]int64{}}
		p.read()
		total += p.n
	}
	return o.addRocprof(src, src.path, rows, total, append(databaseDamage(db.Damage()), scan.odd()...)), nil
}

// over goes over one of the process' tables.
func (p *rocpdReader) over(table string, columns []string, row func(v []sqlite.Value)) {
	n := 0
	p.scan("rocpd_"+table+p.suffix, columns, func(v []sqlite.Value) {
		if n++; n <= maxRowTexts {
			row(v)
		}
	})
}

func (p *rocpdReader) read() {
	p.over("string", []string{"id", "string"}, func(v []sqlite.Value) { p.texts[v[0].Int()] = v[1].Text() })
	p.over("info_node", []string{"hostname"}, func(v []sqlite.Value) { p.host = v[0].Text() })
	p.over("info_process", []string{"id", "pid"}, func(v []sqlite.Value) { p.pids[v[0].Int()] = v[1].Int() })
	p.over("info_thread", []string{"id", "tid"}, func(v []sqlite.Value) { p.tids[v[0].Int()] = v[1].Int() })
	p.over("info_agent", []string{"id", "type", "product_name", "name"}, func(v []sqlite.Value) {
		a := rocAgent{gpu: v[1].Text() == "GPU"}
		for _, other := range p.agents {
			if other.gpu == a.gpu {
				a.index++
			}
		}
		if len(p.agents) >= maxRowTraces {
			return
		}
		p.agents[v[0].Int()] = a
		if name := v[2].Text(); a.gpu && len(p.gpus) <= int(a.index) {
			if name == "" {
				name = v[3].Text()
			}
			p.gpus = append(p.gpus, model.GPU{Index: int(a.index), Name: name})
		}
	})
	p.over("info_kernel_symbol", []string{"id", "display_name", "kernel_name", "arch_vgpr_count"}, func(v []sqlite.Value) {
		p.kernels[v[0].Int()] = rocKernel{Formatted: v[1].Text(), Name: v[2].Text(), Registers: v[3].Int()}
	})
	p.over("event", []string{"id", "category_id", "stack_id"}, func(v []sqlite.Value) {
		p.events[v[0].Int()] = rocpdEvent{v[1].Int(), v[2].Int()}
	})
	p.over("track", []string{"id", "pid", "tid", "agent_id", "queue_id", "stream_id"}, func(v []sqlite.Value) {
		p.tracks[v[0].Int()] = rocpdTrack{v[1].Int(), v[2].Int(), v[3].Int(), v[4].Int(), v[5].Int()}
	})
	p.over("timestamp", []string{"id", "value"}, func(v []sqlite.Value) { p.times[v[0].Int()] = v[1].Int() })
	p.regions()
	p.dispatches()
	p.copies()
}

// rocpdPlace are the columns that say where and when a row was, in both forms.
var rocpdPlace = []string{"start", "end", "start_id", "end_id", "track_id", "pid", "tid", "agent_id", "queue_id", "stream_id", "event_id"}

// place is where and when a row was; v are the columns of rocpdPlace.
func (p *rocpdReader) place(v []sqlite.Value) (start, end, correlation int64, at rocpdTrack, category string) {
	p.n++
	start, end = v[0].Int(), v[1].Int()
	at = rocpdTrack{v[5].Int(), v[6].Int(), v[7].Int(), v[8].Int(), v[9].Int()}
	if v[0].Null() {
		start, end, at = p.times[v[2].Int()], p.times[v[3].Int()], p.tracks[v[4].Int()]
	}
	if pid, known := p.pids[at.pid]; known {
		at.pid = pid
	}
	if tid, known := p.tids[at.tid]; known {
		at.tid = tid
	}
	e := p.events[v[10].Int()]
	return start, end, e.stack, at, p.texts[e.category]
}

func (p *rocpdReader) regions() {
	p.over("region", append(slices.Clone(rocpdPlace), "name_id"), func(v []sqlite.Value) {
		start, end, correlation, at, category := p.place(v)
		p.add(rocCallKind(strings.ToUpper(category)), at.pid, 0, at.tid, start, end, correlation, p.texts[v[11].Int()], nil)
	})
}

func (p *rocpdReader) dispatches() {
	columns := append(slices.Clone(rocpdPlace), "kernel_id", "group_segment_size", "workgroup_size_x", "workgroup_size_y",
		"workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z")
	p.over("kernel_dispatch", columns, func(v []sqlite.Value) {
		start, end, correlation, at, _ := p.place(v)
		k := p.kernels[v[11].Int()]
		name := k.Formatted
		if name == "" {
			name = k.Name
		}
		device, stream := p.agents[at.agent].index, at.stream
		if stream == 0 {
			stream = at.queue
		}
		group, grid := [3]int64{v[13].Int(), v[14].Int(), v[15].Int()}, [3]int64{v[16].Int(), v[17].Int(), v[18].Int()}
		args := kernelArgs(device, stream, perWorkGroup(grid, group), group, k.Registers, v[12].Int(), 0)
		p.add(model.KindKernel, at.pid, device, stream, start, end, correlation, rocKernelName(name), &args)
	})
}

func (p *rocpdReader) copies() {
	columns := append(slices.Clone(rocpdPlace), "name_id", "dst_agent_id", "src_agent_id", "size")
	p.over("memory_copy", columns, func(v []sqlite.Value) {
		start, end, correlation, at, _ := p.place(v)
		device := p.agents[v[12].Int()]
		if !device.gpu {
			device = p.agents[v[13].Int()]
		}
		args := noWork(device.index, at.stream)
		if args.Bytes = v[14].Int(); end > start {
			args.BandwidthGBs = float32(float64(args.Bytes) / float64(end-start))
		}
		p.add(model.KindMemcpy, at.pid, device.index, at.stream, start, end, correlation, rocCopyName(p.texts[v[11].Int()]), &args)
	})
}
