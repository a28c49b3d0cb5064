package model

import "fmt"

// Check states the invariants of a session; the first that is broken is returned. Readers and exporters call it in
// their tests and fuzz targets.
func (s *Session) Check() error {
	if s.Strings == nil {
		return fmt.Errorf("session without strings")
	}
	for i, t := range s.Traces {
		if err := t.check(s); err != nil {
			return fmt.Errorf("trace %d: %w", i, err)
		}
	}
	for i, p := range s.Processes {
		if err := p.check(s.Strings); err != nil {
			return fmt.Errorf("process %d (pid %d): %w", i, p.PID, err)
		}
	}
	for i, m := range s.Snapshots {
		if err := m.check(len(s.Inputs)); err != nil {
			return fmt.Errorf("memory snapshot %d: %w", i, err)
		}
	}
	for _, t := range s.FileTables {
		if err := t.check(len(s.Inputs)); err != nil {
			return err
		}
	}
	for i, in := range s.Inputs {
		if in.Format == "" {
			return fmt.Errorf("input %d (%s) without a format", i, in.Path)
		}
		for _, d := range in.Diagnostics {
			if d.Kind == "" || d.Count <= 0 || d.Text == "" {
				return fmt.Errorf("input %d (%s): diagnostic %+v lacks its kind, count or text", i, in.Path, d)
			}
		}
	}
	return nil
}

func (t *Trace) check(s *Session) error {
	if t.Input < 0 || t.Input >= len(s.Inputs) || t.Process >= len(s.Processes) {
		return fmt.Errorf("input %d or process %d does not exist", t.Input, t.Process)
	}
	if err := t.Events.checkColumns(); err != nil {
		return err
	}
	if err := t.checkLanes(s.Strings); err != nil {
		return err
	}
	for id := range t.Events.Kind {
		if err := t.checkEvent(EventID(id), s.Strings); err != nil {
			return fmt.Errorf("event %d: %w", id, err)
		}
	}
	if err := t.Memory.check(len(t.Lanes)); err != nil {
		return err
	}
	if err := checkTimelines(t.MemoryTimelines); err != nil {
		return err
	}
	if err := t.Modules.check(t.Events.Len(), len(t.Lanes)); err != nil {
		return err
	}
	for i, step := range t.Steps {
		if step.End < step.Start || i > 0 && step.Start < t.Steps[i-1].End {
			return fmt.Errorf("step %d overlaps the one before it or ends before it begins", i)
		}
	}
	return nil
}

func (e *Events) checkColumns() error {
	n := len(e.Start)
	for _, column := range []struct {
		name string
		len  int
	}{{"Dur", len(e.Dur)}, {"Name", len(e.Name)}, {"Kind", len(e.Kind)}, {"Lane", len(e.Lane)}, {"Parent", len(e.Parent)},
		{"Link", len(e.Link)}, {"Op", len(e.Op)}, {"Detail", len(e.Detail)}} {
		if column.len != n {
			return fmt.Errorf("column %s has %d rows, Start has %d", column.name, column.len, n)
		}
	}
	return nil
}

// checkLanes: the events of a lane are contiguous, lanes cover all events, and starts do not decrease in a lane.
func (t *Trace) checkLanes(texts *Strings) error {
	next := EventID(0)
	for i, lane := range t.Lanes {
		if lane.FirstEvent != next || lane.EndEvent < lane.FirstEvent || int(lane.EndEvent) > t.Events.Len() {
			return fmt.Errorf("lane %d covers [%d, %d), expected a beginning at %d", i, lane.FirstEvent, lane.EndEvent, next)
		}
		next = lane.EndEvent
		for id := lane.FirstEvent; id < lane.EndEvent; id++ {
			if t.Events.Lane[id] != LaneID(i) {
				return fmt.Errorf("event %d is in the range of lane %d but names lane %d", id, i, t.Events.Lane[id])
			}
			if id > lane.FirstEvent && (t.Events.Start[id] < t.Events.Start[id-1] ||
				t.Events.Start[id] == t.Events.Start[id-1] && t.Events.Dur[id] > t.Events.Dur[id-1]) {
				return fmt.Errorf("event %d of lane %d is out of order", id, i)
			}
		}
		if int(lane.PID) >= texts.Len() || int(lane.TID) >= texts.Len() || int(lane.Name) >= texts.Len() {
			return fmt.Errorf("lane %d has a string that does not exist", i)
		}
	}
	if int(next) != t.Events.Len() {
		return fmt.Errorf("lanes cover %d of %d events", next, t.Events.Len())
	}
	return nil
}

// checkEvent: links point to rows of the right kind, parents stand before their children and enclose their start.
func (t *Trace) checkEvent(id EventID, texts *Strings) error {
	e := &t.Events
	if e.Dur[id] < 0 {
		return fmt.Errorf("duration %d is negative", e.Dur[id])
	}
	if int(e.Name[id]) >= texts.Len() {
		return fmt.Errorf("name %d does not exist", e.Name[id])
	}
	if p := e.Parent[id]; p != NoEvent {
		if p < 0 || p >= id || e.Lane[p] != e.Lane[id] {
			return fmt.Errorf("parent %d is no earlier event of the same lane", p)
		}
		if e.Start[p] > e.Start[id] || e.End(p) < e.Start[id] {
			return fmt.Errorf("parent %d does not enclose it", p)
		}
	}
	if op := e.Op[id]; op != NoEvent && (op < 0 || int(op) >= e.Len() || e.Kind[op] != KindOp) {
		return fmt.Errorf("operator %d is none", op)
	}
	if link := e.Link[id]; link != NoEvent {
		if link < 0 || int(link) >= e.Len() {
			return fmt.Errorf("link %d does not exist", link)
		}
		if isCall := e.Kind[id] == KindRuntime; isCall && !e.Kind[link].Device() || !isCall && e.Kind[link] != KindRuntime {
			return fmt.Errorf("link from kind %d to kind %d", e.Kind[id], e.Kind[link])
		}
	}
	return e.checkDetail(id)
}

func (e *Events) checkDetail(id EventID) error {
	rows := 0
	switch e.Kind[id] {
	case KindOp, KindAnnotation:
		rows = len(e.OpDetails)
	case KindPython:
		rows = len(e.PythonDetails)
	case KindRuntime:
		rows = len(e.RuntimeDetails)
	case KindKernel, KindMemcpy, KindMemset, KindSync, KindDeviceEvent, KindGPUAnnotation:
		rows = len(e.DeviceDetails)
	}
	d := e.Detail[id]
	if d < -1 || int(d) >= rows {
		return fmt.Errorf("detail %d of kind %d does not exist", d, e.Kind[id])
	}
	if d < 0 {
		return nil
	}
	return e.checkArgs(e.Kind[id], d)
}

// checkArgs: arguments that a detail names are there; a session without any table of them has none.
func (e *Events) checkArgs(kind Kind, d int32) error {
	switch {
	case (kind == KindOp || kind == KindAnnotation) && len(e.OpArgs) > 0 && int(e.OpDetails[d].Args) >= len(e.OpArgs):
		return fmt.Errorf("arguments %d of operators do not exist", e.OpDetails[d].Args)
	case rowOfDevice(kind) && len(e.DeviceArgs) > 0 && int(e.DeviceDetails[d].Args) >= len(e.DeviceArgs):
		return fmt.Errorf("arguments %d of device rows do not exist", e.DeviceDetails[d].Args)
	}
	return nil
}

// rowOfDevice says whether details of the kind are DeviceDetails.
func rowOfDevice(kind Kind) bool {
	return kind.Device() || kind == KindSync || kind == KindDeviceEvent || kind == KindGPUAnnotation
}

func (m *MemoryEvents) check(lanes int) error {
	n := len(m.Time)
	if len(m.Lane) != n || len(m.Addr) != n || len(m.Bytes) != n || len(m.Allocated) != n || len(m.Reserved) != n ||
		len(m.DeviceType) != n || len(m.DeviceIndex) != n {
		return fmt.Errorf("columns of memory events differ in length")
	}
	for i := range m.Time {
		if i > 0 && m.Time[i] < m.Time[i-1] {
			return fmt.Errorf("memory event %d is out of order", i)
		}
		if m.Lane[i] < 0 || int(m.Lane[i]) >= lanes {
			return fmt.Errorf("memory event %d is on lane %d, which does not exist", i, m.Lane[i])
		}
	}
	return nil
}

// check: steps do not overlap, spans do not end before they begin, samples are in order and their stacks exist.
func (p *Process) check(texts *Strings) error {
	for i, step := range p.Steps {
		if step.End < step.Start || i > 0 && step.Start < p.Steps[i-1].End {
			return fmt.Errorf("step %d overlaps the one before it or ends before it begins", i)
		}
	}
	for i, span := range p.Spans {
		if span.End < span.Start {
			return fmt.Errorf("span %d ends before it begins", i)
		}
		if span.Loader >= int32(len(p.Loaders)) {
			return fmt.Errorf("span %d names loader %d, which does not exist", i, span.Loader)
		}
	}
	return p.Samples.check(texts)
}

func (s *Samples) check(texts *Strings) error {
	n := s.Len()
	if len(s.Thread) != n || len(s.Stack) != n || len(s.State) != n || len(s.Flags) != n {
		return fmt.Errorf("columns of samples differ in length")
	}
	if s.Native != nil && len(s.Native) != n {
		return fmt.Errorf("%d stacks with native frames for %d samples", len(s.Native), n)
	}
	for i, id := range s.Native {
		if id < NoStack || int(id) >= len(s.Stacks.Frame) {
			return fmt.Errorf("sample %d has native stack %d, which does not exist", i, id)
		}
	}
	for i := range n {
		if i > 0 && s.Time[i] < s.Time[i-1] {
			return fmt.Errorf("sample %d is out of order", i)
		}
		if s.Stack[i] < NoStack || int(s.Stack[i]) >= len(s.Stacks.Frame) {
			return fmt.Errorf("sample %d has stack %d, which does not exist", i, s.Stack[i])
		}
	}
	if len(s.Stacks.Parent) != len(s.Stacks.Frame) {
		return fmt.Errorf("columns of stacks differ in length")
	}
	for i, parent := range s.Stacks.Parent {
		if parent >= StackID(i) || parent < NoStack {
			return fmt.Errorf("stack %d has parent %d, which does not stand before it", i, parent)
		}
		if f := s.Stacks.Frame[i]; f < 0 || int(f) >= len(s.Stacks.Frames) {
			return fmt.Errorf("stack %d has frame %d, which does not exist", i, f)
		}
	}
	for i, f := range s.Stacks.Frames {
		if int(f.Function) >= texts.Len() || int(f.File) >= texts.Len() {
			return fmt.Errorf("frame %d has a string that does not exist", i)
		}
	}
	return nil
}
