package export

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/model"
)

func init() {
	register(Format{
		Name: "memory-timeline", Suffix: ".json", Write: writeMemoryTimeline,
		Description: "torch.profiler's export_memory_timeline: .json, .json.gz, .raw.json.gz or .html by the file's name",
	})
}

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

// memoryAction is one change of the memory in use.
type memoryAction struct {
	time     int64 // Unix nanoseconds; -1 before the recording
	action   int
	bytes    int64 // positive
	category int
}

// memoryPoint is the memory in use from a time on: microseconds, bytes by category.
type memoryPoint struct {
	us    int64
	sizes [memCategories]int64
}

// writeMemoryTimeline writes the memory of one device over time in one of torch's forms, chosen by the path's suffix as
// torch does; compression is left to the caller. The sums are exact. A trace file does not say which tensor an address
// belongs to, so the categories are told from when memory was taken and given back: taken in a forward operator and
// given back after the backward pass began is an activation, and so on (memoryphase.go).
func writeMemoryTimeline(ctx context.Context, s *model.Session, w io.Writer, opt Options) error {
	traces := tracesOf(s, opt)
	var with []*model.Trace
	for _, t := range traces {
		if len(t.Memory.Time) > 0 {
			with = append(with, t)
		}
	}
	if len(with) == 0 {
		return &UnavailableError{"memory-timeline", "no trace holds memory events: record with --profile-memory"}
	}
	if len(with) > 1 {
		return fmt.Errorf("%d traces hold memory events: choose one with --rank, or name one file", len(with))
	}
	t := with[0]
	device, err := chooseDevice(&t.Memory, opt.Device)
	if err != nil {
		return err
	}
	actions := memoryActions(t, s.Strings, device)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return buffered(w, func(out *bufio.Writer) error {
		path := strings.TrimSuffix(opt.Path, ".gz")
		switch {
		case strings.HasSuffix(path, ".html"):
			allocated, reserved := allocatorPeaks(&t.Memory, device)
			return writeTimelinePage(out, memoryPoints(actions), device, allocated, reserved)
		case strings.HasSuffix(path, "raw.json"), strings.HasSuffix(path, ".raw"):
			return writeRawTimeline(out, actions)
		}
		return writeTimeline(out, memoryPoints(actions))
	})
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
func chooseDevice(m *model.MemoryEvents, name string) (memoryDevice, error) {
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
		if names[i] == name || names[i] == name+":0" || strings.Replace(names[i], "hip", "cuda", 1) == name {
			return d, nil
		}
	}
	return memoryDevice{}, fmt.Errorf("no memory events of device %q: there are some of %s", name, strings.Join(names, ", "))
}

// memoryActions pairs allocations with their frees and sorts the actions as torch does: by time, then by action.
func memoryActions(t *model.Trace, strs *model.Strings, device memoryDevice) []memoryAction {
	m := &t.Memory
	phases := memoryPhases(t, strs)
	live := map[uint64]int{} // address -> its allocation
	freed := make([]int, len(m.Time))
	var out []memoryAction
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
			memoryAction{-1, memPreexisting, -m.Bytes[i], memUnknown},
			memoryAction{int64(m.Time[i]), memDestroy, -m.Bytes[i], memUnknown})
	}
	for i := range m.Time {
		if m.DeviceType[i] != device.kind || m.DeviceIndex[i] != device.index || m.Bytes[i] < 0 {
			continue
		}
		category := phases.category(i, freed[i])
		out = append(out, memoryAction{int64(m.Time[i]), memCreate, m.Bytes[i], category})
		if end := freed[i]; end >= 0 {
			out = append(out, memoryAction{int64(m.Time[end]), memDestroy, m.Bytes[i], category})
		}
	}
	slices.SortStableFunc(out, func(a, b memoryAction) int {
		if a.time != b.time {
			if a.time < b.time {
				return -1
			}
			return 1
		}
		return a.action - b.action
	})
	return out
}

// memoryPoints adds actions up, one point per microsecond in which something happened. What existed before stands at the
// first of them.
func memoryPoints(actions []memoryAction) []memoryPoint {
	var points []memoryPoint
	var earliest int64 = -1
	for _, a := range actions {
		us := a.time
		if us != -1 {
			us = int64(float64(us) / 1000) // as torch rounds: in float64
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
		bytes := a.bytes
		if a.action == memDestroy {
			bytes = -bytes
		}
		points[len(points)-1].sizes[a.category] += bytes
	}
	for i := range points {
		if points[i].us < 0 {
			points[i].us = earliest
		}
	}
	return points
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
func writeRawTimeline(w *bufio.Writer, actions []memoryAction) error {
	w.WriteByte('[')
	for i, a := range actions {
		if i > 0 {
			w.WriteString(", ")
		}
		bytes := a.bytes
		if a.action == memDestroy {
			bytes = -bytes
		}
		fmt.Fprintf(w, "[%d, %d, %d, %d]", a.time, a.action, bytes, a.category)
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
