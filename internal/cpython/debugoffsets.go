package cpython

import (
	"encoding/binary"
	"fmt"
	"strings"

	"bottleneck/internal/proc"
)

// Since 3.13 _PyRuntime begins with _Py_DebugOffsets (Include/internal/pycore_debug_offsets.h): a cookie, the version,
// and offsets as 64-bit words in sections. The order of the words is fixed within a minor version from its first
// release candidate on; each list below is that order.
const (
	debugCookie  = "xdebugpy"
	maxStructLen = 1 << 20 // no structure that is read is longer
)

type section struct{ name, fields string }

var sections313 = []section{
	{"header", "cookie version free_threaded"},
	{"runtime", "size finalizing interpreters_head"},
	{"interp", "size id next threads_head gc imports_modules sysdict builtins ceval_gil gil gil_enabled gil_locked gil_holder"},
	{"thread", "size prev next interp current_frame thread_id native_thread_id datastack_chunk status"},
	{"frame", "size previous executable instr_ptr localsplus owner"},
	{"code", "size filename name qualname linetable firstlineno argcount localsplusnames localspluskinds co_code_adaptive"},
	{"object", "size ob_type"},
	{"type", "size tp_name tp_repr tp_flags"},
	{"tuple", "size ob_item ob_size"},
	{"list", "size ob_item ob_size"},
	{"dict", "size ma_keys ma_values"},
	{"float", "size ob_fval"},
	{"long", "size lv_tag ob_digit"},
	{"bytes", "size ob_size ob_sval"},
	{"unicode", "size state length asciiobject_size"},
	{"gc", "size collecting"},
}

var sections314 = change(sections313, map[string]string{
	"interp": "size id next threads_head threads_main gc imports_modules sysdict builtins ceval_gil gil gil_enabled gil_locked " +
		"gil_holder code_object_generation tlbc_generation",
	"frame": "size previous executable instr_ptr localsplus owner stackpointer tlbc_index",
	"code":  "size filename name qualname linetable firstlineno argcount localsplusnames localspluskinds co_code_adaptive co_tlbc",
	"list":  "size ob_item ob_size|set size used table mask",
	"gc":    "size collecting|gen size gi_name gi_iframe gi_frame_state",
})

// From 3.15 on the sections of threads, types and texts are longer; what follows gen is not read.
var sections315 = change(sections314, map[string]string{
	"thread": "size prev next interp current_frame base_frame last_profiled_frame last_profiled_frame_seq thread_id native_thread_id " +
		"datastack_chunk status holds_gil gil_requested current_exception exc_state|err_stackitem exc_value",
	"type":    "size tp_name tp_repr tp_flags tp_basicsize tp_dictoffset|heap_type size ht_cached_keys",
	"unicode": "size state length asciiobject_size compactunicodeobject_size",
	"gc":      "size collecting frame|gcstats size generation_stats",
})

// change replaces the fields of sections; "a b|name c d" inserts a section after the replaced one.
func change(base []section, by map[string]string) []section {
	var out []section
	for _, s := range base {
		text, ok := by[s.name]
		if !ok {
			out = append(out, s)
			continue
		}
		fields, more, inserted := strings.Cut(text, "|")
		out = append(out, section{s.name, fields})
		if inserted {
			name, rest, _ := strings.Cut(more, " ")
			out = append(out, section{name, rest})
		}
	}
	return out
}

// offsets are the words by "section.field".
type offsets map[string]int

// readOffsets reads the debug offsets at the runtime's address and checks them: each must lie within its structure.
func readOffsets(mem proc.Memory, runtime uint64) (version uint32, free bool, o offsets, err error) {
	var head [24]byte
	if err := mem.Read(runtime, head[:]); err != nil {
		return 0, false, nil, fmt.Errorf("debug offsets: %w", err)
	}
	if string(head[:8]) != debugCookie {
		return 0, false, nil, errNoOffsets
	}
	version = uint32(binary.LittleEndian.Uint64(head[8:]))
	free = binary.LittleEndian.Uint64(head[16:]) != 0
	if version>>24 != 3 {
		return 0, false, nil, fmt.Errorf("debug offsets of Python %d: %w", version>>24, ErrVersion)
	}
	row, _ := releaseOf(int(version >> 16 & 0xff))
	if len(row.sections) == 0 {
		return 0, false, nil, fmt.Errorf("debug offsets of Python 3.%d: %w", row.minor, ErrVersion)
	}
	for _, list := range row.sections {
		if o, err = readSections(mem, runtime, list); err == nil {
			break
		}
	}
	return version, free, o, err
}

func readSections(mem proc.Memory, runtime uint64, list []section) (offsets, error) {
	words := 0
	for _, s := range list {
		words += len(strings.Fields(s.fields))
	}
	raw := make([]byte, 8*words)
	if err := mem.Read(runtime, raw); err != nil {
		return nil, fmt.Errorf("debug offsets: %w", err)
	}
	return checkOffsets(list, raw)
}

func checkOffsets(list []section, raw []byte) (offsets, error) {
	o := offsets{}
	for _, s := range list {
		size := uint64(maxStructLen)
		for _, f := range strings.Fields(s.fields) {
			v := binary.LittleEndian.Uint64(raw)
			raw = raw[8:]
			if s.name == "header" {
				continue
			}
			if f == "size" {
				size = v
			}
			// An object's items may begin where its fixed part ends.
			if v > maxStructLen || f != "size" && v > size {
				return nil, fmt.Errorf("debug offset %s.%s = %d: %w", s.name, f, v, ErrVersion)
			}
			o[s.name+"."+f] = int(v)
		}
	}
	return o, nil
}

// layoutOfOffsets turns debug offsets into a Layout. What they do not say is either known for certain minor versions
// (it only sharpens checks and names of locals) or left out.
func layoutOfOffsets(version uint32, free bool, o offsets) *Layout {
	minor := int(version >> 16 & 0xff)
	row, known := releaseOf(minor)
	l := &Layout{Major: 3, Minor: minor, FreeThreaded: free, GIL: gilOf(free), Forms: row.forms}
	l.Runtime = RuntimeLayout{InterpHead: o["runtime.interpreters_head"], GIL: none, GCCollecting: none}
	l.Interp = InterpLayout{Next: o["interp.next"], ID: o["interp.id"], ThreadsHead: o["interp.threads_head"],
		GIL: o["interp.ceval_gil"], GCCollecting: o["interp.gc"] + o["gc.collecting"], Modules: o["interp.imports_modules"]}
	l.Thread = ThreadLayout{Next: o["thread.next"], Interp: o["thread.interp"], Frame: o["thread.current_frame"],
		CFrame: none, ID: o["thread.thread_id"], Native: o["thread.native_thread_id"], Chunk: o["thread.datastack_chunk"], State: none}
	if free && known {
		l.Thread.State = o["thread.status"] + row.status
	}
	l.Thread.Size = 8 + max(l.Thread.Next, l.Thread.Interp, l.Thread.Frame, l.Thread.ID, l.Thread.Native, l.Thread.Chunk, l.Thread.State)
	l.Frame = FrameLayout{Size: o["frame.size"], Code: o["frame.executable"], Back: o["frame.previous"],
		Instr: o["frame.instr_ptr"], Owner: o["frame.owner"], Entry: none, Locals: o["frame.localsplus"], OwnerNative: 3,
		InstrScale: 1, CopyIndex: none}
	l.Frame.GenFrame, l.Frame.GenState, l.Frame.StackTop = 72, 67, 64 // 3.13 does not tell
	if free {
		l.Frame.GenFrame, l.Frame.GenState = 88, 83
	}
	if l.Forms.Tagged {
		l.Frame.Tag = 3
	}
	if l.Forms.TellsFrames {
		l.Frame.GenFrame, l.Frame.GenState, l.Frame.StackTop = o["gen.gi_iframe"], o["gen.gi_frame_state"], o["frame.stackpointer"]
	}
	if free && l.Forms.TellsFrames {
		l.Frame.CopyIndex = o["frame.tlbc_index"]
	}
	f := &l.Frame
	f.Size = max(f.Size, 8+max(f.Code, f.Back, f.Instr, f.Owner, f.CopyIndex)) // also where the words are garbage
	l.Code = CodeLayout{ArgCount: o["code.argcount"], KwOnly: none, Flags: none, First: o["code.firstlineno"],
		File: o["code.filename"], Name: o["code.name"], Qual: o["code.qualname"], Table: o["code.linetable"],
		LocalNames: o["code.localsplusnames"], LocalKinds: o["code.localspluskinds"], NLocals: none, CellVars: none,
		FreeVars: none, Bytecode: o["code.co_code_adaptive"], Copies: none, FrameWords: none, StackSize: none, NLocalsPlus: none,
		Lines: linesLocations}
	if known { // the counts lie together
		l.Code.KwOnly, l.Code.NLocalsPlus, l.Code.FrameWords = l.Code.ArgCount+8, l.Code.ArgCount+20, l.Code.ArgCount+24
	}
	if free && l.Forms.TellsFrames {
		l.Code.Copies = o["code.co_tlbc"]
	}
	c := &l.Code
	c.KeyFrom = min(c.ArgCount, c.First, c.File, c.Name, c.Table)
	c.KeyTo = 8 + max(c.First, c.File, c.Name, c.Qual, c.Table)
	c.Size = max(c.KeyTo, c.LocalNames+8, c.LocalKinds+8, c.FrameWords+4)
	l.Object = objectsOfOffsets(o)
	if free && l.Forms.TellsFrames {
		l.Object.UniKind = 8 // interning has a byte of its own
	}
	return l
}

func objectsOfOffsets(o offsets) ObjectLayout {
	ascii := o["unicode.asciiobject_size"]
	return ObjectLayout{Header: o["object.size"], Type: o["object.ob_type"], VarSize: o["tuple.ob_size"],
		TypeName: o["type.tp_name"], HeapKeys: heapKeys(o), TypeFlags: o["type.tp_flags"], BytesData: o["bytes.ob_sval"],
		TupleItems: o["tuple.ob_item"], ListItems: o["list.ob_item"], UniLength: o["unicode.length"],
		UniState: o["unicode.state"], UniKind: 2, UniASCII: ascii, UniCompact: ascii + 16, UniLegacy: ascii + 16,
		FloatValue: o["float.ob_fval"], LongTag: o["long.lv_tag"], LongDigits: o["long.ob_digit"],
		DictUsed: o["object.size"], DictKeys: o["dict.ma_keys"], DictValues: o["dict.ma_values"]}
}

// heapKeys is where a class keeps the names of its instances' attributes: behind PyTypeObject and its method tables, which
// have not changed since 3.10.
func heapKeys(o offsets) int {
	if at := o["heap_type.ht_cached_keys"]; at > 0 {
		return at
	}
	return o["type.size"] + 464
}
