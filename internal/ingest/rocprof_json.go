package ingest

import (
	"encoding/json"
	"io"
	"strings"

	"bottleneck/internal/model"
)

// rocHandle is an id as rocprofiler-sdk serialises it.
type rocHandle struct {
	Handle uint64 `json:"handle"`
}

type rocDimensions struct {
	X int64 `json:"x"`
	Y int64 `json:"y"`
	Z int64 `json:"z"`
}

func (d *rocDimensions) list() [3]int64 { return [3]int64{d.X, d.Y, d.Z} }

// rocRecord is one record of rocprofv3's JSON, of any kind: what a kind lacks stays empty.
type rocRecord struct {
	Kind        int64 `json:"kind"`
	Operation   int64 `json:"operation"`
	Thread      int64 `json:"thread_id"`
	Correlation struct {
		Internal int64 `json:"internal"`
	} `json:"correlation_id"`
	Start    int64 `json:"start_timestamp"`
	End      int64 `json:"end_timestamp"`
	Dispatch struct {
		Agent     rocHandle     `json:"agent_id"`
		Queue     rocHandle     `json:"queue_id"`
		Kernel    int64         `json:"kernel_id"`
		Number    int64         `json:"dispatch_id"`
		Group     int64         `json:"group_segment_size"`
		Workgroup rocDimensions `json:"workgroup_size"`
		Grid      rocDimensions `json:"grid_size"`
	} `json:"dispatch_info"`
	Stream *rocHandle `json:"stream_id"`
	Source rocHandle  `json:"src_agent_id"`
	Target rocHandle  `json:"dst_agent_id"`
	Bytes  int64      `json:"bytes"`
}

// rocProcess reads what rocprofv3's JSON says of one process (rocprofiler-sdk, source/lib/output/generateJSON.cpp). Names stand
// in tables of their own, before or after the records.
type rocProcess struct {
	*rocRows
	in         *jsonStream
	pid        int64
	agents     map[uint64]rocAgent
	kernels    map[int64]rocKernel
	operations []rocOperations // by kind
	marks      map[int64]string
	records    map[string][]rocRecord // by section, until the names are known
	n          int64
	over       bool
}

type rocAgent struct {
	index int64
	gpu   bool
}

type rocKernel struct {
	ID        int64  `json:"kernel_id"`
	Name      string `json:"kernel_name"`
	Formatted string `json:"formatted_kernel_name"`
	Registers int64  `json:"arch_vgpr_count"`
}

type rocOperations struct {
	Kind       string   `json:"kind"`
	Operations []string `json:"operations"`
}

// maxRocRecords bounds what waits for names.
const maxRocRecords = 1 << 23

func readRocprofJSON(o *opening, src source, r io.Reader) (func() error, error) {
	in := newJSONStream(r)
	rows, n, over, err := newRocRows(), int64(0), false, error(nil)
	process := func() error {
		p := &rocProcess{rocRows: rows, in: in, agents: map[uint64]rocAgent{}, kernels: map[int64]rocKernel{}, marks: map[int64]string{},
			records: map[string][]rocRecord{}}
		err := in.object(p.member)
		p.resolve()
		n, over = n+p.n, over || p.over
		return err
	}
	err = in.object(func(name string) error {
		if name != "rocprofiler-sdk-tool" {
			return in.skip()
		}
		return in.array(func(int) error { return process() })
	})
	var damage []model.Diagnostic
	if err != nil && n == 0 {
		return nil, &UnusableError{Path: src.path, Reason: "rocprofv3's JSON that cannot be read: " + err.Error(), err: err}
	} else if err != nil {
		damage = append(damage, model.Diagnostic{Kind: "unreadable-end", Count: 1, FirstOffset: in.InputOffset(),
			Text: "the file stops being readable: " + err.Error()})
	}
	if over {
		damage = append(damage, model.Diagnostic{Kind: "too-many-rows", Count: 1, FirstOffset: -1,
			Text: "more than 8 million records of a process; the others were not read"})
	}
	return o.addRocprof(src, src.path, rows, n, damage), nil
}

func (p *rocProcess) member(name string) error {
	switch name {
	case "metadata":
		var m struct {
			PID  int64 `json:"pid"`
			Node struct {
				Host string `json:"hostname"`
			} `json:"node"`
		}
		err := p.in.lenient(&m)
		p.pid, p.host = m.PID, m.Node.Host
		return err
	case "agents":
		return p.in.array(func(int) error { return p.agent() })
	case "kernel_symbols":
		return p.in.array(func(int) error {
			var k rocKernel
			err := p.in.lenient(&k)
			if len(p.kernels) < maxRowTexts {
				p.kernels[k.ID] = k
			}
			return err
		})
	case "strings":
		return p.in.object(p.texts)
	case "buffer_records":
		return p.in.object(p.section)
	}
	return p.in.skip()
}

func (p *rocProcess) agent() error {
	var a struct {
		ID     rocHandle `json:"id"`
		Type   int       `json:"type"` // 1 CPU, 2 GPU
		Node   int64     `json:"node_id"`
		Name   string    `json:"product_name"`
		Model  string    `json:"model_name"`
		Units  int64     `json:"cu_count"`
		MaxMHz float64   `json:"max_engine_clk_fcompute"`
	}
	err := p.in.lenient(&a)
	if len(p.agents) >= maxRowTraces {
		return err
	}
	agent := rocAgent{gpu: a.Type == 2}
	for _, other := range p.agents {
		if other.gpu == agent.gpu {
			agent.index++
		}
	}
	p.agents[a.ID.Handle] = agent
	if agent.gpu {
		gpu := model.GPU{Index: int(agent.index), Name: a.Name, SMs: int(clamp32(a.Units))}
		if a.MaxMHz > 0 {
			gpu.MaxClockMHz = &a.MaxMHz
		}
		p.gpus = append(p.gpus, gpu)
	}
	return err
}

// texts reads the names of calls and of marks.
func (p *rocProcess) texts(name string) error {
	switch name {
	case "buffer_records":
		return p.in.array(func(i int) error {
			var of rocOperations
			err := p.in.lenient(&of)
			if i < maxRowTraces {
				p.operations = append(p.operations, of)
			}
			return err
		})
	case "marker_api":
		return p.in.array(func(int) error {
			var mark struct {
				Key   int64  `json:"key"`
				Value string `json:"value"`
			}
			err := p.in.lenient(&mark)
			if len(p.marks) < maxRowTexts {
				p.marks[mark.Key] = mark.Value
			}
			return err
		})
	}
	return p.in.skip()
}

// section reads the records of one kind.
func (p *rocProcess) section(name string) error {
	switch name {
	case "kernel_dispatch", "memory_copy", "hip_api", "hsa_api", "marker_api", "rccl_api":
	default:
		return p.in.skip()
	}
	return p.in.array(func(int) error {
		if p.n >= maxRocRecords {
			p.over = true
			return p.in.skip()
		}
		var r rocRecord
		if err := p.in.lenient(&r); err != nil {
			return err
		}
		p.records[name] = append(p.records[name], r)
		p.n++
		return nil
	})
}

// lenient decodes what comes next; a member of another type than ours stays empty.
func (s *jsonStream) lenient(to any) error {
	err := s.Decode(to)
	if _, other := err.(*json.UnmarshalTypeError); other {
		return nil
	}
	return s.failed(err)
}

// resolve adds the records as rows, once the names are known.
func (p *rocProcess) resolve() {
	for _, r := range p.records["kernel_dispatch"] {
		p.dispatch(&r)
	}
	for _, r := range p.records["memory_copy"] {
		p.copied(&r)
	}
	for _, section := range []string{"hip_api", "hsa_api", "rccl_api", "marker_api"} {
		for _, r := range p.records[section] {
			domain, name := p.operation(&r)
			kind := rocCallKind(domain)
			if mark := p.marks[r.Correlation.Internal]; section == "marker_api" {
				if mark == "" {
					continue
				}
				kind, name = model.KindAnnotation, mark
			} else if section == "hip_api" {
				kind = model.KindRuntime
			}
			p.add(kind, p.pid, 0, r.Thread, r.Start, r.End, r.Correlation.Internal, name, nil)
		}
	}
}

func (p *rocProcess) operation(r *rocRecord) (domain, name string) {
	if r.Kind < 0 || r.Kind >= int64(len(p.operations)) {
		return "", "call"
	}
	of := &p.operations[r.Kind]
	if r.Operation < 0 || r.Operation >= int64(len(of.Operations)) {
		return strings.ToUpper(of.Kind), strings.ToLower(of.Kind)
	}
	return strings.ToUpper(of.Kind), of.Operations[r.Operation]
}

func (p *rocProcess) dispatch(r *rocRecord) {
	d := &r.Dispatch
	device := p.agents[d.Agent.Handle].index
	stream := int64(d.Queue.Handle & (1<<32 - 1))
	if r.Stream != nil {
		stream = int64(r.Stream.Handle & (1<<32 - 1))
	}
	k := p.kernels[d.Kernel]
	name := k.Formatted
	if name == "" {
		name = k.Name
	}
	if name == "" {
		name = "kernel"
	}
	units := 0
	if device < int64(len(p.gpus)) {
		units = p.gpus[device].SMs
	}
	args := kernelArgs(device, stream, perWorkGroup(d.Grid.list(), d.Workgroup.list()), d.Workgroup.list(), k.Registers, d.Group, units)
	p.add(model.KindKernel, p.pid, device, stream, r.Start, r.End, r.Correlation.Internal, rocKernelName(name), &args)
}

func (p *rocProcess) copied(r *rocRecord) {
	_, direction := p.operation(r)
	device := p.agents[r.Target.Handle]
	if !device.gpu {
		device = p.agents[r.Source.Handle]
	}
	stream := int64(0)
	if r.Stream != nil {
		stream = int64(r.Stream.Handle & (1<<32 - 1))
	}
	args := noWork(device.index, stream)
	if r.Bytes > 0 {
		args.Bytes = r.Bytes
		if ns := r.End - r.Start; ns > 0 {
			args.BandwidthGBs = float32(float64(r.Bytes) / float64(ns))
		}
	}
	p.add(model.KindMemcpy, p.pid, device.index, stream, r.Start, r.End, r.Correlation.Internal, rocCopyName(direction), &args)
}
