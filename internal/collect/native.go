package collect

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"bottleneck/internal/cpython"
	"bottleneck/internal/native"
	"bottleneck/internal/proc"
)

// stackBytes is how much of a C stack is copied at once; what lies deeper is read as it is needed.
const stackBytes = 16 << 10

// evalFunction is the interpreter's function that runs bytecode: where it stands in a C stack, Python frames belong.
const evalFunction = "_PyEval_EvalFrameDefault"

// symbols caches the functions of files: ranks and workers map the same ones.
var symbols = struct {
	sync.Mutex
	of map[symbolKey]*native.Symbols
}{of: map[symbolKey]*native.Symbols{}}

type symbolKey struct {
	path  string
	inode uint64
}

// maxSymbolFiles bounds the files whose symbols are kept; each of them stays open.
const maxSymbolFiles = 512

// symbolsOf reads the symbols of the file behind a mapping.
func symbolsOf(pid int, m proc.Mapping) (*native.Symbols, error) {
	key := symbolKey{m.Path, m.Inode}
	symbols.Lock()
	defer symbols.Unlock()
	if s, known := symbols.of[key]; known {
		if s == nil {
			return nil, native.ErrNoSymbols
		}
		return s, nil
	}
	if len(symbols.of) >= maxSymbolFiles {
		return nil, native.ErrNoSymbols
	}
	f, err := proc.OpenMapped(pid, m)
	if err != nil {
		return nil, err
	}
	s, err := native.ReadSymbols(f)
	if err != nil {
		f.Close()
	}
	symbols.of[key] = s
	return s, err
}

// nativeStacks reads the C stacks of one process's threads.
type nativeStacks struct {
	u       *native.Unwinder
	mem     proc.Memory
	runtime string          // the file that holds the interpreter
	single  bool            // each Python frame has a C frame of its own (to 3.10)
	eval    [2]uint64       // where the bytecode function lies, from and to
	jumps   []uint64        // places outside of it that it jumps to
	parts   map[uint64]bool // functions, by address, that are a part of it
	at      int64           // when the mappings were read last
	buf     []byte
	frames  []mixedFrame
	asked   map[int]*askedThread // by thread, while they are dumped
}

// refreshEvery is how often the mappings of a process are read again, where a stack led to a place that was not mapped.
const refreshEvery = int64(250e6)

func newNativeStacks(pid int, mem proc.Memory, in *cpython.Interpreter, now int64) (*nativeStacks, error) {
	u, err := native.NewUnwinder(mem, func() (proc.Maps, error) { return proc.ReadMaps(pid) },
		func(m proc.Mapping) (*native.Symbols, error) { return symbolsOf(pid, m) })
	if err != nil {
		return nil, err
	}
	n := &nativeStacks{u: u, mem: mem, runtime: in.Library, single: in.Layout.Frame.Heap, at: now, parts: map[uint64]bool{}}
	return n, n.findEval(pid)
}

// findEval finds the bytecode function.
func (n *nativeStacks) findEval(pid int) error {
	maps, err := proc.ReadMaps(pid)
	if err != nil {
		return err
	}
	for _, m := range maps {
		if m.Path != n.runtime {
			continue
		}
		b, err := proc.OpenBinary(pid, m, []string{evalFunction}, nil)
		if err != nil {
			return err
		}
		bias, ok := b.Bias(m)
		s, have := b.Symbol(evalFunction)
		if !ok || !have {
			break
		}
		n.eval = [2]uint64{bias + s.Value, bias + s.Value + s.Size}
		n.jumps = n.u.Jumps(n.eval[0], n.eval[1])
		return nil
	}
	return fmt.Errorf("native stacks of process %d: %s does not name %s", pid, n.runtime, evalFunction)
}

// isEval recognises the bytecode function and the parts of it that the compiler put elsewhere.
func (n *nativeStacks) isEval(p native.Place) bool {
	pc := p.PC - 1 // it called whatever is within
	if pc >= n.eval[0] && pc < n.eval[1] {
		return true
	}
	from, to, ok := n.u.Function(p)
	if !ok {
		return false
	}
	part, known := n.parts[from]
	if !known && len(n.parts) < 1<<16 {
		part = slices.ContainsFunc(n.jumps, func(at uint64) bool { return at > from && at < to })
		n.parts[from] = part
	}
	return part
}

// blocked follows the stack of a thread that is blocked in the kernel. ok is false where it is not, or was running in
// between.
func (n *nativeStacks) blocked(t *proc.Thread, now int64) (places []native.Place, end native.End, ok bool) {
	turns := t.Turns()
	call, sp, pc, ok := t.Place()
	if !ok {
		return nil, native.EndRegister, false
	}
	places, end = n.stack(native.At(sp, pc), sp, now)
	call2, sp2, pc2, ok := t.Place()
	return places, end, ok && call == call2 && sp == sp2 && pc == pc2 && turns == t.Turns()
}

// stack follows a stack from registers, in a copy of its upper part.
func (n *nativeStacks) stack(r native.Registers, sp uint64, now int64) ([]native.Place, native.End) {
	n.refresh(now)
	c := native.CopyStack(n.mem, sp, stackBytes, n.buf)
	n.buf = c.Data[:cap(c.Data)]
	return n.u.Stack(r, c)
}

// refresh reads the mappings again where a stack led to a place that was not mapped.
func (n *nativeStacks) refresh(now int64) {
	if n.u.Stale() && now-n.at > refreshEvery {
		n.at = now
		_ = n.u.Refresh() // a process that ended is noticed elsewhere
	}
}

// mixedFrame is a Python frame of a snapshot by its index, or a native one.
type mixedFrame struct {
	python int // -1: native
	native native.Frame
}

// merge puts the native frames of a thread between its Python frames, innermost first: one call of the interpreter's
// bytecode function stands for the Python frames up to the next that was called from C. The interpreter's own functions
// are left out but for the innermost. ok says that both stacks fit: they are of the same moment.
func (n *nativeStacks) merge(frames []cpython.RawFrame, places []native.Place, end native.End) (merged []mixedFrame, ok bool) {
	n.frames = n.frames[:0]
	next := 0
	for i, p := range places {
		f := n.u.Frame(p)
		if f.Library == n.runtime && n.isEval(p) {
			if next == len(frames) {
				return nil, false
			}
			for next < len(frames) {
				n.frames = append(n.frames, mixedFrame{python: next})
				if next++; n.single || frames[next-1].Entry {
					break
				}
			}
			continue
		}
		if i == 0 || f.Library != n.runtime {
			n.frames = append(n.frames, mixedFrame{-1, f})
		}
	}
	if end == native.EndStart && next < len(frames) {
		return nil, false
	}
	for ; next < len(frames); next++ {
		n.frames = append(n.frames, mixedFrame{python: next})
	}
	merged = withoutParts(n.frames)
	if end == native.EndStart {
		merged = withoutStart(merged)
	}
	return merged, true
}

// withoutParts leaves out the nameless inner parts of the C library's function that a thread is in: how it enters the
// kernel.
func withoutParts(frames []mixedFrame) []mixedFrame {
	for i, f := range frames {
		if f.python >= 0 || !cLibrary(f.native.Library) {
			return frames
		}
		if f.native.Function != "" {
			return frames[i:]
		}
	}
	return frames
}

// withoutStart leaves out the functions of the C library beneath every thread and program.
func withoutStart(frames []mixedFrame) []mixedFrame {
	for len(frames) > 0 {
		last := frames[len(frames)-1]
		if last.python >= 0 || !cLibrary(last.native.Library) && last.native.Symbol != "_start" {
			break
		}
		frames = frames[:len(frames)-1]
	}
	return frames
}

// cLibrary recognises glibc's and musl's files: libc.so.6, libc-2.31.so, libpthread-2.31.so, ld-musl-x86_64.so.1.
func cLibrary(file string) bool {
	base := path.Base(file)
	return strings.HasPrefix(base, "libc.so") || strings.HasPrefix(base, "libc-") || strings.HasPrefix(base, "libpthread") ||
		strings.HasPrefix(base, "ld-")
}
