package cpython

// none is an offset that does not exist in a version.
const none = -1

// Layout holds byte offsets of the fields that are read, for one build of CPython. Offsets up to 3.12 stand in this file;
// those of 3.13 and later come from the process itself.
type Layout struct {
	Major, Minor int
	// FreeThreaded is set for builds that can do without a GIL, whose objects have a larger header.
	FreeThreaded bool

	Runtime RuntimeLayout
	Interp  InterpLayout
	GIL     GILLayout
	Thread  ThreadLayout
	Frame   FrameLayout
	Code    CodeLayout
	Object  ObjectLayout
	Forms   Forms
}

// RuntimeLayout is _PyRuntimeState.
type RuntimeLayout struct {
	InterpHead   int
	GIL          int // of struct _gil_runtime_state, up to 3.11
	GCCollecting int // 3.8 only
}

// InterpLayout is PyInterpreterState. GIL is a pointer to the lock (3.12 on).
type InterpLayout struct {
	Next, ID, ThreadsHead int
	GIL                   int
	GCCollecting          int
	Modules               int
}

// GILLayout is struct _gil_runtime_state, whose fields have not moved since 3.8. Builds that can do without a GIL have one
// word more at its begin: 0 while threads run side by side. An extension that needs the lock switches it on.
type GILLayout struct {
	Size                     int // bytes that cover all fields below
	Enabled                  int // none where the lock is always in use
	Holder, Locked, Switches int
}

// gilOf is the lock's structure, behind its word for being in use where it has one.
func gilOf(free bool) GILLayout {
	if free {
		return GILLayout{Size: 40, Enabled: 0, Holder: 16, Locked: 24, Switches: 32}
	}
	return GILLayout{Size: 32, Enabled: none, Holder: 8, Locked: 16, Switches: 24}
}

// ThreadLayout is PyThreadState. Frame points to the current frame, or (3.11, 3.12) to a structure on the C stack that
// holds that pointer at CFrame.
type ThreadLayout struct {
	Size                        int // bytes that cover all fields below
	Next, Interp, Frame, CFrame int
	ID, Native                  int // pthread ident; native thread id (3.11 on)
	Chunk                       int // first data-stack chunk (3.11 on)
	State                       int // whether it runs Python; none where the GIL says so
}

// FrameLayout is PyFrameObject (to 3.10) or _PyInterpreterFrame.
type FrameLayout struct {
	Heap              bool // frames are objects, each with its own memory
	Size              int  // bytes that cover all fields below
	Code, Back, Instr int
	Owner, Entry      int
	Locals            int
	GenFrame          int    // in a generator: its frame, or a pointer to it (to 3.10)
	GenState          int    // in a generator: the state of its frame (3.11 on)
	StackTop          int    // top of the value stack, in each version's own form
	CopyIndex         int    // which copy of the bytecode it runs; none where there is but one
	Tag               uint64 // low bits of the code pointer that are no address
	OwnerNative       byte   // smallest owner value that marks a frame of the C stack
	InstrScale        int    // bytes per unit of Instr where that is an index
}

// CodeLayout is PyCodeObject. Table is co_lnotab or co_linetable.
type CodeLayout struct {
	Size                               int // bytes that cover all fields below
	ArgCount, KwOnly, Flags, First     int
	File, Name, Qual, Table            int
	LocalNames, LocalKinds             int
	NLocals, CellVars, FreeVars        int // to 3.10
	Bytecode                           int // inside the object (3.11 on), else pointer to bytes
	Copies                             int // pointer to the threads' own copies of the bytecode; none where there are none
	FrameWords, StackSize, NLocalsPlus int // FrameWords: 3.12 on; the others: 3.11
	KeyFrom, KeyTo                     int // bytes that identify the object and do not change in its life
	Lines                              lineFormat
}

// ObjectLayout holds the built-in types.
type ObjectLayout struct {
	Header, Type                     int // size of PyObject; ob_type
	VarSize                          int
	TypeName, TypeFlags              int
	HeapKeys                         int // PyHeapTypeObject.ht_cached_keys (3.11 on)
	BytesData, TupleItems, ListItems int
	UniLength, UniState              int
	UniKind                          int // first bit of the kind in the state
	UniASCII, UniCompact, UniLegacy  int // where the data begin: compact ASCII, compact, pointer
	FloatValue                       int
	LongTag, LongDigits              int
	DictUsed, DictKeys, DictValues   int
}

type lineFormat uint8

const (
	linesLnotab    lineFormat = iota // to 3.9
	lines310                         // 3.10
	linesLocations                   // 3.11 on
)

func objects38() ObjectLayout {
	return ObjectLayout{Header: 16, Type: 8, VarSize: 16, TypeName: 24, TypeFlags: 168, BytesData: 32, TupleItems: 24,
		ListItems: 24, UniLength: 16, UniState: 32, UniKind: 2, UniASCII: 48, UniCompact: 72, UniLegacy: 72, FloatValue: 16,
		LongTag: 16, LongDigits: 24, DictUsed: 16, DictKeys: 32, DictValues: 40}
}

func objects311() ObjectLayout {
	o := objects38()
	o.HeapKeys = 872
	return o
}

func objects312() ObjectLayout {
	o := objects38()
	o.HeapKeys = 880
	o.UniASCII, o.UniCompact, o.UniLegacy = 40, 56, 56
	return o
}

func layout38() Layout {
	return Layout{
		Runtime: RuntimeLayout{InterpHead: 32, GIL: 1152, GCCollecting: 544},
		Interp:  InterpLayout{Next: 0, ID: 16, ThreadsHead: 8, GIL: none, GCCollecting: none, Modules: 56},
		Thread:  ThreadLayout{Size: 264, Next: 8, Interp: 16, Frame: 24, CFrame: none, ID: 176, Native: none, Chunk: none},
		Frame: FrameLayout{Heap: true, Size: 112, Code: 32, Back: 24, Instr: 104, Owner: none, Entry: none, Locals: 360,
			GenFrame: 16, StackTop: 72, InstrScale: 1},
		Code: CodeLayout{Size: 128, ArgCount: 16, KwOnly: 24, Flags: 36, First: 40, File: 104, Name: 112, Qual: none,
			Table: 120, LocalNames: 72, LocalKinds: none, NLocals: 28, CellVars: 88, FreeVars: 80, Bytecode: 48,
			FrameWords: none, StackSize: 32, NLocalsPlus: none, KeyFrom: 16, KeyTo: 128, Lines: linesLnotab},
		Object: objects38(),
	}
}

func layout39() Layout {
	l := layout38()
	l.Runtime = RuntimeLayout{InterpHead: 32, GIL: 352, GCCollecting: none}
	l.Interp.ID, l.Interp.GCCollecting, l.Interp.Modules = 24, 816, 856
	return l
}

func layout310() Layout {
	l := layout39()
	l.Frame.Instr, l.Frame.InstrScale, l.Frame.Locals, l.Frame.StackTop = 96, 2, 352, 80
	l.Code.Lines = lines310
	return l
}

func layout311() Layout {
	return Layout{
		Runtime: RuntimeLayout{InterpHead: 40, GIL: 360, GCCollecting: none},
		Interp:  InterpLayout{Next: 0, ID: 48, ThreadsHead: 16, GIL: none, GCCollecting: 848, Modules: 888},
		Thread:  ThreadLayout{Size: 320, Next: 8, Interp: 16, Frame: 56, CFrame: 8, ID: 152, Native: 160, Chunk: 296},
		Frame: FrameLayout{Size: 80, Code: 32, Back: 48, Instr: 56, Owner: 69, Entry: 68, Locals: 72, OwnerNative: 3,
			GenFrame: 80, GenState: 75, StackTop: 64, InstrScale: 1},
		Code: CodeLayout{Size: 184, ArgCount: 56, KwOnly: 64, Flags: 48, First: 72, File: 112, Name: 120, Qual: 128,
			Table: 136, LocalNames: 96, LocalKinds: 104, NLocals: none, CellVars: none, FreeVars: none, Bytecode: 184,
			FrameWords: none, StackSize: 68, NLocalsPlus: 76, KeyFrom: 56, KeyTo: 144, Lines: linesLocations},
		Object: objects311(),
	}
}

func layout312() Layout {
	l := layout311()
	l.Runtime = RuntimeLayout{InterpHead: 40, GIL: none, GCCollecting: none}
	l.Interp = InterpLayout{Next: 0, ID: 8, ThreadsHead: 72, GIL: 384, GCCollecting: 312, Modules: 944}
	l.Thread = ThreadLayout{Size: 256, Next: 8, Interp: 16, Frame: 56, CFrame: 0, ID: 136, Native: 144, Chunk: 232}
	l.Frame = FrameLayout{Size: 80, Code: 0, Back: 8, Instr: 56, Owner: 70, Entry: none, Locals: 72, OwnerNative: 3,
		GenFrame: 72, GenState: 67, StackTop: 64, InstrScale: 1}
	l.Code.ArgCount, l.Code.KwOnly, l.Code.First, l.Code.Bytecode, l.Code.Size = 52, 60, 68, 192, 192
	l.Code.FrameWords, l.Code.StackSize, l.Code.NLocalsPlus = 76, 64, 72
	l.Code.KeyFrom = 52
	l.Object = objects312()
	return l
}
