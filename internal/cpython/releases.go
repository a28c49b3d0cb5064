package cpython

import "fmt"

// release is all that is known of one minor version of CPython 3. To support a new one, add its row to releases: nothing else asks for
// a version's number.
type release struct {
	minor int
	// layout gives the offsets, up to 3.12; from 3.13 on the process tells them.
	layout func() Layout
	// sections are the orders in which the process tells its offsets, the likeliest first.
	sections [][]section
	// status is how far behind thread.status, in bytes, a free-threaded build keeps whether a thread runs Python; 0 unknown.
	status int
	forms  Forms
}

// Forms are what differs between releases by more than an offset.
type Forms struct {
	Attributes attributeForm
	StackTop   stackTopForm
	KeysByLog  bool // a dictionary's keys begin with the logarithm of their table's size (3.11 on)
	ValuesHead int  // bytes before the values of a dictionary whose keys are shared
	LongTagged bool // an int has its sign and number of digits in a tag (3.12 on), else in ob_size
	Linked     bool // tasks of asyncio are lists in the interpreter and its threads (3.14 on), else sets of its module
	Tagged     bool // references on the value stack carry their kind in the low bits (3.14 on)
	IndexAbove bool // an iterator's index may lie above it on the value stack (3.15 on)
	RunsAt     int8 // state of a generator's frame that runs; lower ones are suspended
	// TellsFrames says that the process tells where a generator has its frame and which copy of the bytecode it runs (3.14 on).
	TellsFrames bool
}

// attributeForm is how objects keep their attributes.
type attributeForm uint8

const (
	attributesDict   attributeForm = iota // in a dictionary at an offset that the type tells (to 3.10)
	attributesBehind                      // in values before the object, or a dictionary beside them (3.11)
	attributesTagged                      // in values or a dictionary, told apart by the pointer's low bit (3.12)
	attributesInline                      // in values at the object's end, or a dictionary (3.13 on)
)

// stackTopForm is how a suspended frame keeps the top of its value stack.
type stackTopForm uint8

const (
	stackAddress stackTopForm = iota // its address (to 3.9, 3.14 on)
	stackCount                       // the number of values, beside the stack's address (3.10)
	stackLocals                      // the number of words from the begin of the locals (3.11 to 3.13)
)

var (
	forms38  = Forms{}
	forms310 = Forms{StackTop: stackCount}
	forms311 = Forms{StackTop: stackLocals, Attributes: attributesBehind, KeysByLog: true}
	forms312 = Forms{StackTop: stackLocals, Attributes: attributesTagged, KeysByLog: true, LongTagged: true}
	forms313 = Forms{StackTop: stackLocals, Attributes: attributesInline, KeysByLog: true, LongTagged: true, ValuesHead: 8}
	forms314 = Forms{Attributes: attributesInline, KeysByLog: true, LongTagged: true, ValuesHead: 8, Linked: true,
		Tagged: true, TellsFrames: true}
	forms315 = Forms{Attributes: attributesInline, KeysByLog: true, LongTagged: true, ValuesHead: 8, Linked: true,
		Tagged: true, TellsFrames: true, IndexAbove: true, RunsAt: 4}
)

// releases are in the order of their numbers. Offsets were computed from the headers of each version: leading fields do not move within
// a release series.
var releases = []release{
	{8, layout38, nil, 0, forms38},
	{9, layout39, nil, 0, forms38},
	{10, layout310, nil, 0, forms310},
	{11, layout311, nil, 0, forms311},
	{12, layout312, nil, 0, forms312},
	{13, nil, [][]section{sections313}, 8, forms313},
	{14, nil, [][]section{sections314}, 12, forms314},
	{15, nil, [][]section{sections315, sections314}, 16, forms315},
}

// releaseOf gives the row of a minor version; of one that is newer than all rows the last row, and known is false: a version whose
// structures kept their form is read on its first day, one whose structures moved fails the checks of its offsets.
func releaseOf(minor int) (row *release, known bool) {
	for i := range releases {
		if releases[i].minor == minor {
			return &releases[i], true
		}
	}
	return &releases[len(releases)-1], false
}

// LayoutOf returns the layout of a version that does not tell its offsets itself; an error that is ErrVersion for any other.
func LayoutOf(major, minor int) (*Layout, error) {
	row, known := releaseOf(minor)
	if major != 3 || !known || row.layout == nil {
		return nil, fmt.Errorf("CPython %d.%d: %w", major, minor, ErrVersion)
	}
	l := row.layout()
	l.Thread.State, l.Frame.CopyIndex, l.Code.Copies = none, none, none
	l.Major, l.Minor, l.GIL, l.Forms = major, minor, gilOf(false), row.forms
	return &l, nil
}
