package device

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// Kernel is all device work of one name: a kernel, a kind of copy, or a set.
type Kernel struct {
	Name        string
	Class       naming.KernelClass
	Count       int64
	Dur         model.Dur // sum; work that runs at the same time is added
	Min, Max    model.Dur
	StdDev      float64    // of one run, ns; 0 for one run
	Device      int32      // -1 if on several
	Stream      int64      // -1 if on several
	Launcher    string     // the innermost operator that launched most of its time, "" unknown
	Where       code.Where // of the longest run under that operator
	TensorCores bool
	Longest     model.EventID // in trace number Trace
	Trace       int
}

// Mean is the mean duration of one run.
func (k *Kernel) Mean() model.Dur { return k.Dur / model.Dur(max(1, k.Count)) }

// Kernels sums up all device work by name, most time first.
func Kernels(traces []*model.Trace, s *model.Strings) []Kernel {
	table := kernelTable{first: make([]int32, s.Len()), texts: s, lines: map[int]*code.Finder{}}
	for i, t := range traces {
		table.add(t, i)
	}
	for i := range table.rows {
		table.finish(traces, i)
	}
	slices.SortFunc(table.rows, func(a, b Kernel) int {
		return cmp.Or(cmp.Compare(b.Dur, a.Dur), strings.Compare(a.Name, b.Name))
	})
	if table.rows == nil {
		return []Kernel{}
	}
	return table.rows
}

// kernelTable forms the rows; launchers are kept per row as a short list, since a kernel has few.
type kernelTable struct {
	texts     *model.Strings
	first     []int32 // by name: row + 1
	rows      []Kernel
	squares   []float64
	launchers [][]launcherTime
	lines     map[int]*code.Finder // by number of a trace
}

type launcherTime struct {
	op      model.Str
	time    model.Dur
	longest model.EventID
	trace   int
}

func (k *kernelTable) add(t *model.Trace, number int) {
	ev := &t.Events
	kinds := naming.NewKernelClasses(k.texts)
	for l := range t.Lanes {
		lane := &t.Lanes[l]
		for id := lane.FirstEvent; id < lane.EndEvent; id++ {
			if !ev.Kind[id].Device() {
				continue
			}
			name := ev.Name[id]
			if k.first[name] == 0 {
				k.rows = append(k.rows, Kernel{Name: k.texts.Text(name), Class: kinds.Of(ev, id), Min: math.MaxInt64, Device: lane.Device,
					Stream: lane.Stream})
				k.squares, k.launchers = append(k.squares, 0), append(k.launchers, nil)
				k.first[name] = int32(len(k.rows))
			}
			k.count(int(k.first[name]-1), ev, id, lane, number)
		}
	}
}

func (k *kernelTable) count(at int, ev *model.Events, id model.EventID, lane *model.Lane, trace int) {
	row, d := &k.rows[at], ev.Dur[id]
	row.Count++
	row.Dur += d
	row.Min, row.Max = min(row.Min, d), max(row.Max, d)
	k.squares[at] += float64(d) * float64(d)
	if row.Device != lane.Device {
		row.Device, row.Stream = -1, -1
	}
	if row.Stream != lane.Stream {
		row.Stream = -1
	}
	op := model.Str(0)
	if ev.Op[id] != model.NoEvent {
		op = ev.Name[ev.Op[id]]
	}
	for i := range k.launchers[at] {
		if l := &k.launchers[at][i]; l.op == op {
			l.time += d
			if l.trace == trace && d > ev.Dur[l.longest] {
				l.longest = id
			}
			return
		}
	}
	k.launchers[at] = append(k.launchers[at], launcherTime{op, d, id, trace})
}

func (k *kernelTable) finish(traces []*model.Trace, at int) {
	row := &k.rows[at]
	if row.Count > 1 {
		mean := float64(row.Dur) / float64(row.Count)
		row.StdDev = math.Sqrt(max(0, k.squares[at]-mean*float64(row.Dur)) / float64(row.Count-1))
	}
	best := slices.MaxFunc(k.launchers[at], func(a, b launcherTime) int { return cmp.Compare(a.time, b.time) })
	row.Launcher = k.texts.Text(best.op)
	row.Longest, row.Trace = best.longest, best.trace
	row.TensorCores = row.Class.Compute() && naming.UsesTensorCores(row.Name)
	t := traces[best.trace]
	if at := t.Events.Link[best.longest]; at != model.NoEvent {
		if k.lines[best.trace] == nil {
			k.lines[best.trace] = code.NewFinder(t, k.texts)
		}
		row.Where = k.lines[best.trace].Of(at)
	}
}
