package export

import (
	"strconv"
	"strings"

	"bottleneck/internal/model"
)

// category is the event's "cat" as today's Kineto writes it.
func category(k model.Kind, name string, lane *model.Lane, texts *model.Strings) string {
	switch k {
	case model.KindOp:
		return "cpu_op"
	case model.KindAnnotation:
		return "user_annotation"
	case model.KindPython:
		return "python_function"
	case model.KindRuntime:
		if strings.HasPrefix(name, "cu") && !strings.HasPrefix(name, "cuda") {
			return "cuda_driver"
		}
		return "cuda_runtime"
	case model.KindKernel:
		return "kernel"
	case model.KindMemcpy:
		return "gpu_memcpy"
	case model.KindMemset:
		return "gpu_memset"
	case model.KindGPUAnnotation:
		return "gpu_user_annotation"
	case model.KindSync:
		return "cuda_sync"
	case model.KindDeviceEvent:
		return "cuda_event"
	case model.KindOverhead:
		return "overhead"
	}
	if p := texts.Text(lane.PID); p == "Spans" || p == "Traces" {
		return "Trace"
	}
	return "other"
}

// appendArgs appends the members of an event's "args".
func (c *chromeWriter) appendArgs(b []byte, e *model.Events, id model.EventID) []byte {
	d := e.Detail[id]
	if d < 0 {
		return b
	}
	switch k := e.Kind[id]; k {
	case model.KindOp, model.KindAnnotation:
		return c.appendOpArgs(b, &e.OpDetails[d], e.OpArgsOf(d))
	case model.KindPython:
		p := &e.PythonDetails[d]
		b = appendInt(b, "Python id", p.ID)
		if p.ParentID > 0 {
			b = appendInt(b, "Python parent id", p.ParentID)
		} else {
			b = append(appendKey(b, "Python parent id"), "null"...)
		}
		if p.ModuleID >= 0 {
			b = appendInt(b, "Python module id", p.ModuleID)
		}
		if p.From != 0 {
			b = appendText(b, "CallFrom", c.texts.Text(p.From))
		}
	case model.KindRuntime:
		r := &e.RuntimeDetails[d]
		if r.External != 0 {
			b = appendInt(b, "External id", r.External)
		}
		b = appendInt(b, "correlation", r.Correlation)
	case model.KindKernel, model.KindMemcpy, model.KindMemset, model.KindGPUAnnotation, model.KindSync, model.KindDeviceEvent:
		return c.appendDeviceArgs(b, k, c.texts.Text(e.Name[id]), &e.DeviceDetails[d], e.DeviceArgsOf(d))
	}
	return b
}

func (c *chromeWriter) appendOpArgs(b []byte, d *model.OpDetail, a *model.OpArgs) []byte {
	if d.External != 0 {
		b = appendInt(b, "External id", d.External)
	}
	if d.Sequence >= 0 {
		b = appendInt(b, "Sequence number", d.Sequence)
		b = appendInt(b, "Fwd thread id", int64(d.FwdThread))
	}
	for _, raw := range [...]struct {
		key  string
		text model.Str
	}{
		{"Input Dims", a.Shapes}, {"Input Strides", a.Strides}, {"Input type", a.Types}, {"Concrete Inputs", a.Concrete},
	} {
		if raw.text != 0 {
			b = c.raw.append(appendKey(b, raw.key), raw.text)
		}
	}
	if a.Stack != 0 {
		b = appendText(b, "Call stack", c.texts.Text(a.Stack))
	}
	if a.Module != 0 {
		b = appendText(b, "Module Hierarchy", c.texts.Text(a.Module))
	}
	if a.Unended {
		b = append(appendKey(b, "finished"), "false"...)
	}
	return c.raw.members(b, a.Extra)
}

func (c *chromeWriter) appendDeviceArgs(b []byte, k model.Kind, name string, d *model.DeviceDetail, a *model.DeviceArgs) []byte {
	if d.External != 0 {
		b = appendInt(b, "External id", d.External)
	}
	if k == model.KindGPUAnnotation { // as Kineto: with a stream, other tools take it for a kernel
		return c.raw.members(b, a.Collective)
	}
	b = appendInt(b, "device", int64(a.Device))
	b = appendInt(b, "stream", a.Stream)
	b = appendInt(b, "correlation", d.Correlation)
	switch k {
	case model.KindKernel:
		b = appendLaunch(b, a)
	case model.KindMemcpy, model.KindMemset:
		if a.Bytes >= 0 {
			b = appendInt(b, "bytes", a.Bytes)
			if a.BandwidthGBs > 0 {
				b = appendFloat(appendKey(b, "memory bandwidth (GB/s)"), float64(a.BandwidthGBs), 32)
			}
		}
	case model.KindSync:
		b = appendText(b, "cuda_sync_kind", name)
	}
	if events := k == model.KindSync && (name == "Event Sync" || name == "Stream Wait Event"); events || a.WaitStream > 0 ||
		a.WaitCorrelation > 0 {
		b = appendInt(b, "wait_on_stream", a.WaitStream)
		b = appendInt(b, "wait_on_cuda_event_record_corr_id", a.WaitCorrelation)
	}
	if a.GraphNode != 0 {
		b = appendInt(b, "graph node id", a.GraphNode)
	}
	return c.raw.members(b, a.Collective)
}

// appendLaunch appends a kernel's launch geometry, where the file had it.
func appendLaunch(b []byte, a *model.DeviceArgs) []byte {
	if a.Grid != [3]int32{} {
		b = appendTriple(appendKey(b, "grid"), a.Grid)
		b = appendTriple(appendKey(b, "block"), a.Block)
		b = appendInt(b, "registers per thread", int64(a.Registers))
		b = appendInt(b, "shared memory", int64(a.SharedBytes))
	}
	if a.BlocksPerSM != 0 {
		b = appendFloat(appendKey(b, "blocks per SM"), float64(a.BlocksPerSM), 32)
		b = appendFloat(appendKey(b, "warps per SM"), float64(a.WarpsPerSM), 32)
	}
	if a.Occupancy >= 0 {
		b = appendFloat(appendKey(b, "est. achieved occupancy %"), float64(a.Occupancy), 32)
	}
	return b
}

func appendTriple(b []byte, v [3]int32) []byte {
	b = append(b, '[')
	for i, n := range v {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, ']')
}
