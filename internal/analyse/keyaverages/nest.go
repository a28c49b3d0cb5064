package keyaverages

import "bottleneck/internal/model"

// nest finds parents as torch does: per thread, an event closes those that end before it ends, partial overlaps too.
func (f *functions) nest() {
	if f.stacks == nil {
		f.stacks = make([][]int32, len(f.trace.Lanes)+1)
	}
	for i := range f.rows { // of the rows before
		f.stacks[f.rows[i].thread] = f.stacks[f.rows[i].thread][:0]
	}
	for i := range f.rows {
		row := &f.rows[i]
		if row.flags&(rowDevice|rowAsync) != 0 {
			continue
		}
		stack := f.stacks[row.thread]
		start, end := f.start(row), f.end(row)
		for len(stack) > 0 {
			top := &f.rows[stack[len(stack)-1]]
			if until := f.end(top); start < until && end <= until {
				row.parent = stack[len(stack)-1]
				if top.flags&rowChild != 0 {
					top.flags |= rowMany
				}
				top.flags |= rowChild
				break
			}
			stack = stack[:len(stack)-1]
		}
		f.stacks[row.thread] = append(stack, int32(i))
	}
}

// removeDuplicates drops each only child that is called like its parent; the parent takes over its children and kernels.
func (f *functions) removeDuplicates() {
	replaced := map[int32]int32{} // removed row -> the row that took over
	for i := range f.rows {
		row := &f.rows[i]
		if row.parent < 0 {
			continue
		}
		if heir, ok := replaced[row.parent]; ok {
			row.parent = heir
		}
		parent := &f.rows[row.parent]
		if parent.flags&rowChildren != rowChild || f.name(parent) != f.name(row) {
			continue
		}
		parent.flags = parent.flags&^rowChildren | row.flags&rowChildren
		f.own[parent.event] = f.own[row.event]
		row.flags |= rowRemoved
		replaced[int32(i)] = row.parent
	}
}

// sumUp adds device time up the tree, children first, and hands the children's sums to the parents.
func (f *functions) sumUp() {
	for i := len(f.rows) - 1; i >= 0; i-- {
		row := &f.rows[i]
		if row.flags&(rowDevice|rowRemoved) != 0 {
			if row.flags&rowAnnotation != 0 {
				row.device = f.dur(row)
			}
			continue
		}
		row.device += f.ownDevice(row)
		if row.parent < 0 {
			continue
		}
		parent := &f.rows[row.parent]
		parent.below += f.dur(row)
		parent.device += row.device
		if use := f.memory.of(i); use.cpu != 0 || use.device != 0 {
			above := f.memory.at(int(row.parent))
			above.cpuBelow += use.cpu
			above.deviceBelow += use.device
		}
	}
}

// times are the four time columns of a row.
func (f *functions) times(r *functionRow) (selfCPU, cpu, selfDevice, device model.Dur) {
	if r.flags&rowDevice != 0 {
		return 0, 0, r.device, r.device
	}
	cpu = f.dur(r)
	if r.flags&rowAsync != 0 {
		return 0, cpu, 0, 0
	}
	return cpu - r.below, cpu, f.ownDevice(r), r.device
}
