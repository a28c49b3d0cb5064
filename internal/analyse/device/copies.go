package device

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// Copy is all copies or sets of one kind on one device.
type Copy struct {
	Device    int32
	Name      string // as the collector wrote it: "Memcpy HtoD (Pageable -> Device)"
	Direction string // "HtoD", "DtoH", "DtoD", …; "Memset" for sets; "" unknown
	Pageable  bool   // host memory that the device cannot read by itself: the copy is slower and the host waits
	Count     int64
	Bytes     int64      // sum; of the copies whose size is known
	Dur       model.Dur  // sum
	Exposed   model.Dur  // during which neither kernels nor collectives run on the device
	Waited    model.Dur  // time that the host spent in calls that return only when the copy is done
	Where     code.Where // of the longest copy
	longest   model.EventID
}

// GBs is the bandwidth in GB/s, 0 where no size is known.
func (c *Copy) GBs() float64 {
	if c.Dur == 0 {
		return 0
	}
	return float64(c.Bytes) / float64(c.Dur)
}

// Copies sums up a trace's copies and sets, most time first.
func Copies(t *model.Trace, s *model.Strings) []Copy { return NewWork(t, s).Copies() }

// Copies is the function of that name.
func (work *Work) Copies() []Copy {
	out := []Copy{}
	for _, w := range work.list {
		out = append(out, w.copies()...)
	}
	return out
}

func (w *Timeline) copies() []Copy {
	ev := &w.Trace.Events
	sets := w.Sets()
	hidden := sets.Compute.Or(sets.communication)
	index := map[model.Str]int{}
	var out []Copy
	for _, id := range w.Rows {
		if ev.Kind[id] == model.KindKernel {
			continue
		}
		at, known := index[ev.Name[id]]
		if !known {
			at = len(out)
			index[ev.Name[id]] = at
			name := w.texts.Text(ev.Name[id])
			out = append(out, Copy{Device: w.Device, Name: name, Direction: naming.CopyDirection(name),
				Pageable: strings.Contains(name, "Pageable"), longest: id})
		}
		c := &out[at]
		c.Count++
		c.Dur += ev.Dur[id]
		c.Exposed += ev.Dur[id] - model.Dur(hidden.LenIn(times.OfEvent(ev, id)))
		if bytes := ev.DeviceArgsOf(ev.Detail[id]).Bytes; bytes > 0 {
			c.Bytes += bytes
		}
		if call := ev.Link[id]; call != model.NoEvent && w.blocks(call) {
			c.Waited += ev.Dur[call]
		}
		if ev.Dur[id] > ev.Dur[c.longest] {
			c.longest = id
		}
	}
	for i := range out {
		if call := ev.Link[out[i].longest]; call != model.NoEvent {
			out[i].Where = w.lines.Of(call)
		}
	}
	slices.SortFunc(out, func(a, b Copy) int { return cmp.Or(cmp.Compare(b.Dur, a.Dur), strings.Compare(a.Name, b.Name)) })
	return out
}
