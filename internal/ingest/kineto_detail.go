package ingest

import (
	"math"
	"strconv"

	"bottleneck/internal/kineto"
	"bottleneck/internal/model"
)

// detail keeps an event's arguments and returns their row, -1 where there are none worth a row.
func (b *builder) detail(e *kineto.Event, kind model.Kind) int32 {
	switch kind {
	case model.KindOp, model.KindAnnotation:
		if b.opt.Skip&SkipOpDetails != 0 {
			return -1
		}
		return b.ops.add(b.opDetail(e))
	case model.KindPython:
		id, ok := e.Int(kineto.PythonID)
		if !ok || b.opt.Skip&SkipPython != 0 {
			return -1
		}
		return b.python.add(model.PythonDetail{ID: id, ParentID: e.IntOr(kineto.PythonParent, -1),
			ModuleID: e.IntOr(kineto.PythonModule, -1), From: model.Str(e.Text(kineto.CallFrom))})
	case model.KindRuntime:
		return b.runtime.add(model.RuntimeDetail{Correlation: e.IntOr(kineto.Correlation, 0), External: e.IntOr(kineto.External, 0)})
	case model.KindKernel, model.KindMemcpy, model.KindMemset, model.KindSync, model.KindDeviceEvent, model.KindGPUAnnotation:
		return b.device.add(b.deviceDetail(e))
	}
	return -1
}

func (b *builder) opDetail(e *kineto.Event) model.OpDetail {
	a := model.OpArgs{Stack: model.Str(e.Text(kineto.CallStack)), Module: model.Str(e.Text(kineto.Module)), Unended: e.Unfinished()}
	if b.opt.Skip&SkipShapes == 0 {
		a.Shapes, a.Strides = model.Str(e.Text(kineto.Dims)), model.Str(e.Text(kineto.Strides))
		a.Types, a.Concrete = model.Str(e.Text(kineto.Types)), model.Str(e.Text(kineto.Concrete))
	}
	if len(e.Extra) > 0 {
		a.Extra = b.extras.intern(b.scan, e)
	}
	return model.OpDetail{External: e.IntOr(kineto.External, 0), Sequence: e.IntOr(kineto.Sequence, -1),
		FwdThread: int32(e.IntOr(kineto.FwdThread, 0)), Args: b.opArgs.intern(&a, hashOpArgs(&a))}
}

func (b *builder) deviceDetail(e *kineto.Event) model.DeviceDetail {
	d := model.DeviceArgs{
		Device: int32(e.IntOr(kineto.Device, numOr(e.PID, -1))), Stream: e.IntOr(kineto.Stream, numOr(e.TID, -1)),
		Registers: int32(e.IntOr(kineto.Registers, 0)), SharedBytes: int32(min(e.IntOr(kineto.SharedBytes, 0), math.MaxInt32)),
		BlocksPerSM: e.FloatOr(kineto.BlocksPerSM, 0), WarpsPerSM: e.FloatOr(kineto.WarpsPerSM, 0),
		Occupancy: e.FloatOr(kineto.Occupancy, -1),
		Bytes:     e.IntOr(kineto.Bytes, -1), BandwidthGBs: e.FloatOr(kineto.Bandwidth, 0),
		GraphNode:       e.IntOr(kineto.GraphNode, 0),
		WaitCorrelation: e.IntOr(kineto.WaitCorrelation, -1), WaitStream: e.IntOr(kineto.WaitStream, -1),
	}
	if e.HasGrid() {
		d.Grid, d.Block = e.Grid, e.Block
	}
	if len(e.Extra) > 0 && b.extras.collective(b.scan, e) {
		d.Collective = b.extras.intern(b.scan, e)
	}
	return model.DeviceDetail{Correlation: e.IntOr(kineto.Correlation, 0), External: e.IntOr(kineto.External, 0),
		Args: b.deviceArgs.intern(&d, hashDeviceArgs(&d))}
}

func numOr(id kineto.ID, none int64) int64 {
	if id.Set && id.Text == 0 {
		return id.Num
	}
	return none
}

// extraTable turns arguments that have no column into one JSON object each. Their texts may differ in every event (a
// sequence number is enough), so what they may cost is bounded.
type extraTable struct {
	scratch        []byte
	bytes, dropped int64
	known          map[kineto.Text]bool // keys that mark a collective
}

const (
	maxExtra  = 16 << 10
	maxExtras = 256 << 20
)

// intern returns the extras as a text of scan.JSON, 0 when they are too large.
func (x *extraTable) intern(scan *kineto.Scanner, e *kineto.Event) model.Str {
	buf := append(x.scratch[:0], '{')
	for i, extra := range e.Extra {
		if i > 0 {
			buf = append(buf, ", "...)
		}
		buf = strconv.AppendQuote(buf, scan.Names.String(extra.Key))
		buf = append(append(buf, ": "...), extra.Raw...)
		if len(buf) > maxExtra {
			x.dropped++
			return 0
		}
	}
	buf = append(buf, '}')
	x.scratch = buf
	before := scan.JSON.Len()
	if x.bytes > maxExtras {
		x.dropped++
		return 0
	}
	id := scan.JSON.Intern(buf)
	if scan.JSON.Len() > before {
		x.bytes += int64(len(buf)) + 32
	}
	return model.Str(id)
}

// collective says whether the extras describe a collective.
func (x *extraTable) collective(scan *kineto.Scanner, e *kineto.Event) bool {
	for _, extra := range e.Extra {
		is, ok := x.known[extra.Key]
		if !ok {
			if x.known == nil {
				x.known = map[kineto.Text]bool{}
			}
			is = scan.Names.String(extra.Key) == "Collective name"
			x.known[extra.Key] = is
		}
		if is {
			return true
		}
	}
	return false
}
