package cpython

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/proc"
)

// Limits of what is followed of asyncio's tasks.
const (
	maxTasks      = 4096
	maxTaskWords  = 64 // of a task object
	maxAwaits     = 64 // coroutines in a chain
	maxSetEntries = 1 << 16
)

// Task is a task of asyncio that has not ended. Frames are what it awaits, innermost first; a task that runs just now is
// on its thread's stack, and has the frames down to the one that runs.
type Task struct {
	Name   string
	Frames []RawFrame
	addr   uint64
	// Waits is what the innermost coroutine awaits: "task NAME", or the type of a future; "" where it is not known.
	Waits string
}

// Tasks reads the tasks of asyncio of all event loops. The program goes on meanwhile: a task that runs or ends just then
// may be missing or cut.
func (r *Reader) Tasks() ([]Task, error) { return r.tasks(maxTasks) }

// tasks reads no more than so many of them, and none where there are far more.
func (r *Reader) tasks(most int) ([]Task, error) {
	w := &taskWalk{r: r, most: most, types: map[uint64]string{}}
	for _, in := range r.interp {
		var list []uint64
		var err error
		if r.l.Forms.Linked {
			list, err = r.linkedTasks(in.addr)
		} else {
			list, err = w.registeredTasks(in.addr)
		}
		if err != nil {
			return w.out, fmt.Errorf("tasks of asyncio: %w", err)
		}
		for _, addr := range list {
			if len(w.out) < most {
				w.task(addr)
			}
		}
	}
	return w.out, nil
}

// Awaited are the coroutines, innermost first, in which the program's main task waits, and those of the tasks that it waits for: the first
// task that an event loop was given, which asyncio.run makes of its argument. ok is false where that is not known, and where there are
// more than so many tasks, as in a server, which would take long to read.
func (r *Reader) Awaited(most int) (frames []RawFrame, ok bool) {
	w := &taskWalk{r: r, most: most, types: r.taskTypes}
	if len(w.types) == 0 || len(w.types) > maxTaskTypes {
		w.types = map[uint64]string{}
		r.taskTypes = w.types
	}
	if frames = w.awaited(r.mainTask); len(frames) == 0 {
		r.mainTask = r.firstTask(most)
		frames = w.awaited(r.mainTask)
	}
	return frames, len(frames) > 0
}

// maxTaskTypes is the number of types of objects after which they are read anew.
const maxTaskTypes = 1 << 10

// firstTask is the address of the first task by the numbers that asyncio gives them, or the only one; 0 where there is none.
func (r *Reader) firstTask(most int) uint64 {
	all, err := r.tasks(most + 1)
	if err != nil || len(all) > most {
		return 0
	}
	first, lowest := uint64(0), 0
	for i := range all {
		number, ok := strings.CutPrefix(all[i].Name, "Task-")
		if n, err := strconv.Atoi(number); ok && err == nil && (first == 0 || n < lowest) {
			first, lowest = all[i].addr, n
		}
	}
	if first == 0 && len(all) == 1 {
		return all[0].addr
	}
	return first
}

// awaited are the coroutines, innermost first, of a task and of those that it waits for; none where it has ended.
func (w *taskWalk) awaited(task uint64) (frames []RawFrame) {
	seen := map[uint64]bool{}
	for task != 0 && !seen[task] && len(seen) < maxAwaits && strings.HasSuffix(w.typeOf(task), "Task") {
		seen[task] = true
		coro, _, waiter := w.fields(task)
		own, _ := w.chain(coro)
		slices.Reverse(own)
		if len(own) == 0 {
			break
		}
		frames, task = append(own, frames...), waiter
	}
	return frames
}

type taskWalk struct {
	r     *Reader
	most  int
	types map[uint64]string
	out   []Task
}

// typeOf is the name of an object's type, "" where the address is none of an object.
func (w *taskWalk) typeOf(addr uint64) string {
	if addr < 4096 || addr%8 != 0 {
		return ""
	}
	o := &w.r.l.Object
	typ, err := proc.U64(w.r.mem, addr+uint64(o.Type))
	if err != nil || typ%8 != 0 {
		return ""
	}
	name, known := w.types[typ]
	if !known {
		if name, err = typeName(w.r.mem, o, typ); err != nil || !plausible(name) {
			name = ""
		}
		w.types[typ] = name
	}
	return name
}

// registeredTasks are the tasks in the weak set that asyncio keeps up to 3.13.
func (w *taskWalk) registeredTasks(interp uint64) ([]uint64, error) {
	r := w.r
	data, err := w.taskSet(interp)
	if err != nil || data == 0 {
		return nil, err
	}
	h := uint64(r.l.Object.Header)
	head, err := readWords(r.mem, data+h+16, 2) // mask and table of a PySetObject
	if err != nil {
		return nil, err
	}
	if head[0] >= maxSetEntries {
		return nil, fmt.Errorf("set with a table of %d: %w", head[0], errGarbage)
	}
	if head[0] >= 16*uint64(w.most) {
		return nil, fmt.Errorf("set with a table of %d: too many tasks", head[0])
	}
	entries, err := readWords(r.mem, head[1], 2*int(head[0]+1))
	if err != nil {
		return nil, err
	}
	var out []uint64
	for i := 0; i < len(entries); i += 2 {
		if !strings.HasPrefix(w.typeOf(entries[i]), "weakref") {
			continue
		}
		if task, err := proc.U64(r.mem, entries[i]+h); err == nil && strings.Contains(w.typeOf(task), "Task") {
			out = append(out, task)
		}
	}
	return out, nil
}

// taskSet is the address of the set that the weak one keeps, which stays for as long as the module.
func (w *taskWalk) taskSet(interp uint64) (uint64, error) {
	r := w.r
	if data := r.taskSets[interp]; data != 0 && w.typeOf(data) == "set" {
		return data, nil
	}
	names, err := r.moduleNames(interp, "asyncio.tasks")
	if err != nil || names == 0 {
		return 0, err
	}
	set := uint64(0)
	for _, n := range []string{"_scheduled_tasks", "_all_tasks"} { // from 3.12 on, and before
		if set, err = r.dictGet(names, n); err != nil {
			return 0, err
		}
		if set != 0 {
			break
		}
	}
	if set == 0 {
		return 0, nil
	}
	data, err := r.attribute(set, "data")
	if err != nil {
		return 0, err
	}
	if r.taskSets == nil {
		r.taskSets = map[uint64]uint64{}
	}
	r.taskSets[interp] = data
	return data, nil
}

// task reads one task. Its structure is the module's own and differs between releases: its fields are known by the types
// of what they refer to.
func (w *taskWalk) task(addr uint64) {
	coro, name, waiter := w.fields(addr)
	if coro == 0 {
		return
	}
	t := Task{Name: name, addr: addr}
	t.Frames, t.Waits = w.chain(coro)
	if text := w.future(waiter); text != "" {
		t.Waits = text
	}
	slices.Reverse(t.Frames)
	if len(t.Frames) > 0 {
		w.out = append(w.out, t)
	}
}

func (w *taskWalk) fields(addr uint64) (coro uint64, name string, waiter uint64) {
	r := w.r
	if c, err := r.attribute(addr, "_coro"); err == nil && c != 0 { // a task written in Python
		n, _ := r.attribute(addr, "_name")
		waiter, _ = r.attribute(addr, "_fut_waiter")
		return c, w.nameText(n), waiter
	}
	typ, err := proc.U64(r.mem, addr+uint64(r.l.Object.Type))
	if err != nil {
		return 0, "", 0
	}
	size, err := proc.U64(r.mem, typ+typeBasicSize+r.extra())
	if err != nil || size > 8*maxTaskWords {
		return 0, "", 0
	}
	words, err := readWords(r.mem, addr, int(size/8))
	if err != nil {
		return 0, "", 0
	}
	for i := r.l.Object.Header / 8; i < len(words); i++ {
		v := words[i] &^ r.l.Frame.Tag
		switch kind := w.typeOf(v); {
		case kind == "coroutine" || kind == "generator" || kind == "async_generator_asend":
			coro = v
		case kind == "str" || kind == "int" && coro != 0: // from 3.12 on the number of a name that nobody asked for yet
			name = w.nameText(v)
		case v != addr && (strings.HasSuffix(kind, "Future") || strings.HasSuffix(kind, "Task")) && coro == 0:
			waiter = v
		}
	}
	return coro, name, waiter
}

func (w *taskWalk) nameText(v uint64) string {
	if v == 0 {
		return ""
	}
	if w.typeOf(v) == "int" {
		if n, err := w.r.integer(v); err == nil {
			return "Task-" + n.String()
		}
		return ""
	}
	text, err := readText(w.r.mem, &w.r.l.Object, v)
	if err != nil || len(text) > 4*maxThreadName {
		return ""
	}
	return text
}

// future says what an awaited object is.
func (w *taskWalk) future(addr uint64) string {
	if addr == 0 {
		return ""
	}
	kind := w.typeOf(addr)
	if strings.HasSuffix(kind, "Task") {
		if _, name, _ := w.fields(addr); name != "" {
			return "task " + name
		}
	}
	return kind
}

// chain follows coroutines from a task's own to the innermost one, and says what that awaits.
func (w *taskWalk) chain(coro uint64) (frames []RawFrame, waits string) {
	seen := map[uint64]bool{}
	h := uint64(w.r.l.Object.Header)
	for len(frames) < maxAwaits && coro != 0 && !seen[coro] {
		seen[coro] = true
		switch kind := w.typeOf(coro); kind {
		case "coroutine", "generator", "async_generator":
			f, next, ok := w.r.suspended(coro)
			if !ok {
				return frames, ""
			}
			frames, coro = append(frames, f), next
		case "coroutine_wrapper", "async_generator_asend", "async_generator_athrow", "_asyncio.FutureIter", "FutureIter":
			inner, err := proc.U64(w.r.mem, coro+h)
			if err != nil {
				return frames, ""
			}
			coro = inner
		default:
			return frames, w.future(coro)
		}
	}
	return frames, ""
}

// suspended reads the frame of a coroutine or generator, and what it awaits: the top of its value stack. next is 0 for
// one that runs; not ok is one that has ended.
func (r *Reader) suspended(gen uint64) (f RawFrame, next uint64, ok bool) {
	l := r.l
	at := gen + uint64(l.Frame.GenFrame)
	running := false
	if l.Frame.Heap {
		p, err := proc.U64(r.mem, at)
		if err != nil || p == 0 {
			return f, 0, false
		}
		at = p
	} else {
		var state [1]byte
		if err := r.mem.Read(gen+uint64(l.Frame.GenState), state[:]); err != nil {
			return f, 0, false
		}
		var ended bool
		if running, ended = l.frameState(int8(state[0])); ended {
			return f, 0, false
		}
	}
	b := make([]byte, max(l.Frame.Size, l.Frame.StackTop+8))
	if err := r.mem.Read(at, b); err != nil {
		return f, 0, false
	}
	ca := word(b, l.Frame.Code) &^ l.Frame.Tag
	c := r.codes.byAddr[ca]
	if c == nil {
		var err error
		if c, err = r.codes.load(ca); err != nil {
			return f, 0, false
		}
		c.checked = r.tick
	}
	r.suspect(c)
	off, ok := r.offset(c, b)
	if !ok {
		return f, 0, false
	}
	f = RawFrame{Code: c, Offset: off}
	top := r.stackTop(at, b)
	if running || top == 0 {
		return f, 0, true
	}
	v, err := readWords(r.mem, top-16, 2)
	if err != nil {
		return f, 0, true
	}
	if l.Forms.IndexAbove && (v[1]&^l.Frame.Tag == 0 || v[1]&3 == 3) { // no object, or a tagged number: the iterator's index
		v[1] = v[0]
	}
	return f, v[1] &^ l.Frame.Tag, true
}

// frameState decodes the state of a generator's frame (enum _framestate).
func (l *Layout) frameState(s int8) (running, ended bool) {
	return s == l.Forms.RunsAt, s > l.Forms.RunsAt
}

// stackTop is the address behind the top of a suspended frame's value stack; 0 where it has none.
func (r *Reader) stackTop(frame uint64, b []byte) uint64 {
	l := r.l
	switch l.Forms.StackTop {
	case stackAddress:
		return word(b, l.Frame.StackTop)
	case stackCount:
		n := int32(binary.LittleEndian.Uint32(b[l.Frame.StackTop:]))
		if n <= 0 || n > maxItems {
			return 0
		}
		return word(b, l.Frame.StackTop-16) + 8*uint64(n)
	}
	n := int32(binary.LittleEndian.Uint32(b[l.Frame.StackTop:])) // from the begin of the locals
	if n <= 0 || n > maxItems {
		return 0
	}
	return frame + uint64(l.Frame.Locals) + 8*uint64(n)
}
