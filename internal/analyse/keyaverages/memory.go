package keyaverages

import (
	"slices"

	"bottleneck/internal/model"
)

// memoryName stands for "[memory]", the row of an allocation that no CPU event covers. The table of strings is not
// extended here, so that analyses can run side by side.
const memoryName = ^model.Str(0)

// torch's DeviceType numbers that its memory columns count.
const (
	deviceTypeCPU         = 0
	deviceTypeCUDA        = 1
	deviceTypeMKLDNN      = 2
	deviceTypeIDEEP       = 5
	deviceTypeHIP         = 6
	deviceTypeXPU         = 12
	deviceTypePrivateUse1 = 20
)

// memorySums are running sums of bytes over the memory events: sums[i] is what the first i of them add up to.
type memorySums struct {
	times       []model.Time
	cpu, device []int64
}

func sumMemory(m *model.MemoryEvents) memorySums {
	n := len(m.Time)
	s := memorySums{times: m.Time, cpu: make([]int64, n+1), device: make([]int64, n+1)}
	for i := range n {
		cpu, device := memoryBytes(m, i)
		s.cpu[i+1], s.device[i+1] = s.cpu[i]+cpu, s.device[i]+device
	}
	return s
}

// memoryBytes splits an event's bytes into host and device memory.
func memoryBytes(m *model.MemoryEvents, i int) (cpu, device int64) {
	switch m.DeviceType[i] {
	case deviceTypeCPU, deviceTypeMKLDNN, deviceTypeIDEEP:
		return m.Bytes[i], 0
	case deviceTypeCUDA, deviceTypeHIP, deviceTypeXPU, deviceTypePrivateUse1:
		return 0, m.Bytes[i]
	}
	return 0, 0
}

// memoryUse is what happened to memory while a function row was open; below is the children's part.
type memoryUse struct{ cpu, device, cpuBelow, deviceBelow int64 }

// memoryUses are what happened to memory while rows were open. In most rows nothing did.
type memoryUses struct {
	index  []int32                // by row: its entry + 1, 0 none; nil where the trace holds no memory events
	chunks []*[useChunk]memoryUse // entries; a slice that grows would be twice as much at its end
	n      int32
}

const useChunk = 1 << 10

func (m *memoryUses) of(row int) memoryUse {
	if m.index == nil || m.index[row] == 0 {
		return memoryUse{}
	}
	return *m.entry(m.index[row] - 1)
}

func (m *memoryUses) entry(i int32) *memoryUse { return &m.chunks[i/useChunk][i%useChunk] }

// add makes an entry and returns its number + 1.
func (m *memoryUses) add(use memoryUse) int32 {
	if int(m.n) == len(m.chunks)*useChunk {
		m.chunks = append(m.chunks, new([useChunk]memoryUse))
	}
	*m.entry(m.n) = use
	m.n++
	return m.n
}

// at is the entry of a row, made where there is none.
func (m *memoryUses) at(row int) *memoryUse {
	if m.index[row] == 0 {
		m.index[row] = m.add(memoryUse{})
	}
	return m.entry(m.index[row] - 1)
}

// addMemory gives each CPU row all memory events of the closed interval [start, end], on whatever thread, as torch does,
// and adds a row for each event that no CPU row covers.
func (f *functions) addMemory() {
	m := &f.trace.Memory
	if len(m.Time) == 0 {
		return
	}
	sums := sumMemory(m)
	covered := make([]int32, len(m.Time)+1)
	f.memory = memoryUses{index: make([]int32, len(f.rows))}
	from := 0
	for i := range f.rows {
		row := &f.rows[i]
		if row.flags&rowDevice != 0 {
			continue
		}
		start, end := f.memoryTime(f.start(row)), f.memoryTime(f.end(row))
		for from < len(m.Time) && m.Time[from] < start {
			from++
		}
		lo := from
		for lo > 0 && m.Time[lo-1] >= start { // float rounding can step back
			lo--
		}
		to := lo + countUpTo(m.Time[lo:], end)
		if cpu, device := sums.cpu[to]-sums.cpu[lo], sums.device[to]-sums.device[lo]; cpu != 0 || device != 0 {
			f.memory.index[i] = f.memory.add(memoryUse{cpu: cpu, device: device})
		}
		covered[lo]++
		covered[to]--
	}
	f.addUncovered(covered)
}

// countUpTo is how many of the sorted times are at or before end. It gallops, because most events hold few.
func countUpTo(times []model.Time, end model.Time) int {
	step := 1
	for step < len(times) && times[step-1] <= end {
		step *= 2
	}
	n, _ := slices.BinarySearch(times[:min(step, len(times))], end+1)
	return n
}

// memoryTime is an interval's end as torch compares it with memory events.
func (f *functions) memoryTime(t model.Time) model.Time {
	if !f.opt.FloatMemoryTimes {
		return t
	}
	us := float64(t/1000) + float64(t%1000)/1000
	return model.Time(us * 1000)
}

// addUncovered inserts the rows of memory events that are open in no CPU row.
func (f *functions) addUncovered(covered []int32) {
	m := &f.trace.Memory
	var alone []functionRow
	var uses []int32
	open := int32(0)
	for i := range m.Time {
		open += covered[i]
		if open > 0 {
			continue
		}
		cpu, device := memoryBytes(m, i)
		thread := int32(len(f.trace.Lanes))
		if m.Lane[i] >= 0 {
			thread = int32(m.Lane[i])
		}
		alone = append(alone, functionRow{event: memoryRow(model.EventID(i)), parent: -1, thread: thread, flags: rowMemory})
		uses = append(uses, f.memory.add(memoryUse{cpu: cpu, device: device}))
	}
	if len(alone) == 0 {
		return
	}
	rows := make([]functionRow, 0, len(f.rows)+len(alone))
	index := make([]int32, 0, cap(rows))
	for i, row := range f.rows {
		for len(alone) > 0 && f.start(&alone[0]) < f.start(&row) {
			rows, alone = append(rows, alone[0]), alone[1:]
			index, uses = append(index, uses[0]), uses[1:]
		}
		rows, index = append(rows, row), append(index, f.memory.index[i])
	}
	f.rows, f.memory.index = append(rows, alone...), append(index, uses...)
}
