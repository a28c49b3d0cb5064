package export

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/model"
)

// Categories of torch.profiler's memory timeline, in the order of its columns.
const (
	memParameter = iota
	memOptimizerState
	memInput
	memTemporary
	memActivation
	memGradient
	memAutogradDetail
	memUnknown
	memCategories
)

// Actions of the raw form.
const (
	memPreexisting = 1
	memCreate      = 2
	memDestroy     = 4
)

// memoryPoint is the memory in use from a time on: microseconds, bytes by category.
type memoryPoint struct {
	us    int64
	sizes [memCategories]int64
}

// writeMemoryTimeline writes the memory of one device over time in one of torch's forms, chosen by the path's suffix as
// torch does; compression is left to the caller. The sums are exact. A session of `run --profile-memory` has one window of
// which torch itself said what memory was for. A trace file does not say which tensor an address belongs to, so elsewhere
// the categories are told from when memory was taken and given back: taken in a forward operator and given back after the
// backward pass began is an activation, and so on (memoryphase.go).
func writeMemoryTimeline(ctx context.Context, s *model.Session, w io.Writer, opt Options) error {
	t, err := memoryTrace(tracesOf(s, opt))
	if err != nil {
		return err
	}
	own := len(t.MemoryTimelines) > 0
	device, err := chooseDevice(t, opt.Device)
	if err != nil {
		return err
	}
	var actions []model.MemoryAction
	if own {
		actions = ownActions(t, device)
	} else {
		actions = memoryActions(t, s.Strings, device)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return buffered(w, func(out *bufio.Writer) error {
		path := strings.TrimSuffix(opt.Path, ".gz")
		switch {
		case strings.HasSuffix(path, ".html"):
			allocated, reserved := allocatorPeaks(&t.Memory, device)
			return writeTimelinePage(out, memoryPoints(actions), device, allocated, reserved, own)
		case strings.HasSuffix(path, "raw.json"), strings.HasSuffix(path, ".raw"):
			return writeRawTimeline(out, actions)
		}
		return writeTimeline(out, memoryPoints(actions))
	})
}

// memoryTrace chooses the trace whose memory is shown: of the windows of one process the last that torch itself accounted
// for, else the last.
func memoryTrace(traces []*model.Trace) (*model.Trace, error) {
	var chosen *model.Trace
	others := 0
	for _, t := range traces {
		switch {
		case len(t.Memory.Time) == 0:
		case chosen != nil && (t.Process < 0 || t.Process != chosen.Process):
			others++
		case chosen == nil || len(t.MemoryTimelines) > 0 || len(chosen.MemoryTimelines) == 0:
			chosen = t
		}
	}
	if chosen == nil {
		return nil, &UnavailableError{"memory-timeline", "no trace holds memory events: record with --profile-memory"}
	}
	if others > 0 {
		return nil, fmt.Errorf("%d traces hold memory events: choose one with --rank, or name one file", others+1)
	}
	return chosen, nil
}

// ownActions are torch's own of a device.
func ownActions(t *model.Trace, device memoryDevice) []model.MemoryAction {
	for _, m := range t.MemoryTimelines {
		if named(m.Device, device) {
			return m.Actions
		}
	}
	return nil
}

// named says whether torch's name of a device is that of d.
func named(name string, d memoryDevice) bool {
	full := d.String()
	return name == full || name+":0" == full || name == strings.Replace(full, "hip", "cuda", 1)
}

// memoryDevice is a device as memory events name it.
type memoryDevice struct{ kind, index int8 }

// memoryDeviceNames are torch's names of DeviceType numbers that allocate memory.
var memoryDeviceNames = map[int8]string{0: "cpu", 1: "cuda", 6: "hip", 12: "xpu", 15: "hpu", 19: "mtia", 20: "privateuseone"}

func (d memoryDevice) String() string {
	name, ok := memoryDeviceNames[d.kind]
	if !ok {
		name = "device type " + strconv.Itoa(int(d.kind))
	}
	if d.kind == 0 {
		return name
	}
	return name + ":" + strconv.Itoa(int(max(d.index, 0)))
}

// order sorts accelerators before the CPU.
func (d memoryDevice) order() int {
	if d.kind == 0 {
		return 1 << 20
	}
	return int(d.kind)<<8 + int(d.index)
}

// chooseDevice finds the device of that name; "" is the first accelerator that has events, or else the CPU.
func chooseDevice(t *model.Trace, name string) (memoryDevice, error) {
	m := &t.Memory
	var all []memoryDevice
	for i := range m.Time {
		d := memoryDevice{m.DeviceType[i], m.DeviceIndex[i]}
		if !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b memoryDevice) int { return a.order() - b.order() })
	if name == "" {
		return all[0], nil
	}
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.String()
		if named(name, d) {
			return d, nil
		}
	}
	return memoryDevice{}, fmt.Errorf("no memory events of device %q: there are some of %s", name, strings.Join(names, ", "))
}

// memoryActions pairs allocations with their frees and sorts the actions as torch does: by time, then by action.
func memoryActions(t *model.Trace, strs *model.Strings, device memoryDevice) []model.MemoryAction {
	m := &t.Memory
	phases := memoryPhases(t, strs)
	live := map[uint64]int{} // address -> its allocation
	freed := make([]int, len(m.Time))
	var out []model.MemoryAction
	for i := range m.Time {
		freed[i] = -1
		if m.DeviceType[i] != device.kind || m.DeviceIndex[i] != device.index {
			continue
		}
		if m.Bytes[i] >= 0 {
			live[m.Addr[i]] = i
			continue
		}
		if at, ok := live[m.Addr[i]]; ok {
			freed[at] = i
			delete(live, m.Addr[i])
			continue
		}
		out = append(out,
			model.MemoryAction{Time: -1, Action: memPreexisting, Bytes: -m.Bytes[i], Category: memUnknown},
			model.MemoryAction{Time: int64(m.Time[i]), Action: memDestroy, Bytes: m.Bytes[i], Category: memUnknown})
	}
	for i := range m.Time {
		if m.DeviceType[i] != device.kind || m.DeviceIndex[i] != device.index || m.Bytes[i] < 0 {
			continue
		}
		category := int8(phases.category(i, freed[i]))
		out = append(out, model.MemoryAction{Time: int64(m.Time[i]), Action: memCreate, Bytes: m.Bytes[i], Category: category})
		if end := freed[i]; end >= 0 {
			out = append(out, model.MemoryAction{Time: int64(m.Time[end]), Action: memDestroy, Bytes: -m.Bytes[i], Category: category})
		}
	}
	slices.SortStableFunc(out, func(a, b model.MemoryAction) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Action, b.Action))
	})
	return out
}

// memoryPoints adds actions up, one point per microsecond in which something happened. What existed before stands at the
// first of them.
func memoryPoints(actions []model.MemoryAction) []memoryPoint {
	var points []memoryPoint
	var earliest int64 = -1
	for _, a := range actions {
		us := a.Time
		if us != -1 {
			us = pythonMicros(us)
			if earliest == -1 {
				earliest = us
			}
		}
		switch n := len(points); {
		case n == 0:
			points = append(points, memoryPoint{us: us})
		case points[n-1].us != us:
			points = append(points, memoryPoint{us, points[n-1].sizes})
		}
		points[len(points)-1].sizes[a.Category] += a.Bytes
	}
	for i := range points {
		if points[i].us < 0 {
			points[i].us = earliest
		}
	}
	return points
}

// pythonMicros is int(ns / 1000) as Python has it: the quotient of two whole numbers is rounded once, to the nearest float64.
func pythonMicros(ns int64) int64 {
	quotient, _ := new(big.Rat).SetFrac64(ns, 1000).Float64()
	return int64(quotient)
}

// writeTimeline writes [times, sizes]; each list of sizes begins with a zero, as torch's does.
func writeTimeline(w *bufio.Writer, points []memoryPoint) error {
	w.WriteString("[[")
	for i := range points {
		if i > 0 {
			w.WriteString(", ")
		}
		w.WriteString(strconv.FormatInt(points[i].us, 10))
	}
	w.WriteString("], [")
	for i := range points {
		if i > 0 {
			w.WriteString(", ")
		}
		w.WriteString("[0")
		for _, size := range points[i].sizes {
			w.WriteString(", ")
			w.WriteString(strconv.FormatInt(size, 10))
		}
		w.WriteByte(']')
	}
	_, err := w.WriteString("]]")
	return err
}

// writeRawTimeline writes a list of [time in ns, action, bytes, category].
func writeRawTimeline(w *bufio.Writer, actions []model.MemoryAction) error {
	w.WriteByte('[')
	for i, a := range actions {
		if i > 0 {
			w.WriteString(", ")
		}
		fmt.Fprintf(w, "[%d, %d, %d, %d]", a.Time, a.Action, a.Bytes, a.Category)
	}
	_, err := w.WriteString("]")
	return err
}

// allocatorPeaks are the largest sums that the device's own allocator counted: with what was allocated before the recording.
func allocatorPeaks(m *model.MemoryEvents, device memoryDevice) (allocated, reserved int64) {
	for i := range m.Time {
		if m.DeviceType[i] == device.kind && m.DeviceIndex[i] == device.index {
			allocated, reserved = max(allocated, m.Allocated[i]), max(reserved, m.Reserved[i])
		}
	}
	return allocated, reserved
}
