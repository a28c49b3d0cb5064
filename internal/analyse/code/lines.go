package code

import (
	"strconv"
	"strings"

	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// Where is the place in the program that an event came from. What the trace does not tell is empty or 0.
type Where struct {
	Op string // the outermost operator or annotation around it
	// File, Line and Function are the innermost call in code that is not a library's. The line is the running one where an operator's
	// call stack has it, or the Python call that it makes says from where (PyTorch 2.12 and later), else that on which the function begins.
	File     string
	Line     int32
	Function string
	Module   string // the innermost module around it: its path in the model, else its class and number ("Linear_3")
}

// Known says whether a line of the program is known.
func (w *Where) Known() bool { return w.File != "" }

// SetFrame reads "path(line): function", the name of a Python call in a trace.
func (w *Where) SetFrame(frame string) {
	end := strings.Index(frame, "): ")
	open := strings.LastIndexByte(frame[:max(end, 0)], '(')
	if open < 0 {
		return
	}
	line, err := strconv.ParseInt(frame[open+1:end], 10, 32)
	if err != nil {
		return
	}
	w.File, w.Line, w.Function = frame[:open], int32(line), frame[end+3:]
}

// LineFrom is the line of "file:line" where that is a line of this file, else 0.
func LineFrom(called, file string) int32 {
	rest, ok := strings.CutPrefix(called, file+":")
	line, err := strconv.ParseInt(rest, 10, 32)
	if !ok || err != nil {
		return 0
	}
	return int32(line)
}

// Finder finds the user's line of an event: from the Python calls around it, else from the operator's call stack.
type Finder struct {
	trace   *model.Trace
	texts   *model.Strings
	user    map[model.Str]bool   // by name of a Python call
	named   map[model.Str]string // by name of a Python call: the module that it is, "" for others
	stack   map[model.Str]string // by text of a call stack
	numbers map[placeKey]int32   // of places
	Places  []Where
}

// placeKey is what tells places apart, as names of the events around an event.
type placeKey struct {
	op, frame, module model.Str
	from              moduleSource
	called            model.Str // from where the frame made the next call, 0 unknown
}

// moduleSource is what a placeKey's module is the text of.
type moduleSource uint8

const (
	moduleHierarchy moduleSource = iota // an operator's "Module Hierarchy"
	moduleCall                          // the name of a Python call
	modulePath                          // the path in the model
)

// NewFinder finds the places of one trace.
func NewFinder(t *model.Trace, s *model.Strings) *Finder {
	return &Finder{t, s, map[model.Str]bool{}, map[model.Str]string{}, map[model.Str]string{}, map[placeKey]int32{}, nil}
}

// Of is the place of a CPU event.
func (l *Finder) Of(id model.EventID) Where { return l.Places[l.Number(id)] }

// Number numbers the places of CPU events; those alike have one number.
func (l *Finder) Number(id model.EventID) int32 {
	var key placeKey
	called := model.Str(0) // from where the Python call below was made
	ev := &l.trace.Events
	if name := l.trace.Modules.At(id); name != nil {
		key.module, key.from = name.Path, modulePath
	}
	for at := id; at != model.NoEvent; at = ev.Parent[at] {
		switch name := ev.Name[at]; ev.Kind[at] {
		case model.KindOp:
			key.op = name
			if ev.Detail[at] >= 0 {
				d := ev.OpArgsOf(ev.Detail[at])
				if key.frame == 0 && d.Stack != 0 && l.stackLine(d.Stack) != "" {
					key.frame = d.Stack
				}
				if key.module == 0 && d.Module != 0 && innermostModule(l.texts.Text(d.Module)) != "" {
					key.module = d.Module
				}
			}
		case model.KindPython:
			if key.module == 0 && l.module(name) != "" {
				key.module, key.from = name, moduleCall
			}
			if key.frame == 0 && l.isUser(name) {
				key.frame, key.called = name, called
			}
			if called = 0; ev.Detail[at] >= 0 {
				called = ev.PythonDetails[ev.Detail[at]].From
			}
		}
	}
	if key.op == 0 && id != model.NoEvent {
		key.op = l.annotation(id)
	}
	n, known := l.numbers[key]
	if !known {
		n = int32(len(l.Places))
		l.numbers[key] = n
		l.Places = append(l.Places, l.describe(key))
	}
	return n
}

// describe is the place that a key stands for.
func (l *Finder) describe(key placeKey) Where {
	w := Where{Op: l.texts.Text(key.op)}
	w.SetFrame(l.stackLine(key.frame))
	if line := LineFrom(l.texts.Text(key.called), w.File); line > 0 {
		w.Line = line
	}
	switch {
	case key.module == 0:
	case key.from == moduleCall:
		w.Module = l.module(key.module)
	case key.from == modulePath:
		w.Module = l.texts.Text(key.module)
	default:
		w.Module = innermostModule(l.texts.Text(key.module))
	}
	return w
}

// annotation is the innermost annotation that is not a step.
func (l *Finder) annotation(id model.EventID) model.Str {
	ev := &l.trace.Events
	for at := id; at != model.NoEvent; at = ev.Parent[at] {
		if ev.Kind[at] == model.KindAnnotation {
			if !strings.HasPrefix(l.texts.Text(ev.Name[at]), "ProfilerStep#") {
				return ev.Name[at]
			}
		}
	}
	return 0
}

// module is the module that a Python call is the forward of: "nn.Module: Linear_3".
func (l *Finder) module(name model.Str) string {
	text, known := l.named[name]
	if !known {
		text, _ = strings.CutPrefix(l.texts.Text(name), "nn.Module: ")
		if text == l.texts.Text(name) {
			text = ""
		}
		l.named[name] = text
	}
	return text
}

// innermostModule is the last of a "Module Hierarchy", torch's "TOP(Net)::forward.fc(Linear)::forward" or "Net.fc (Linear)".
func innermostModule(hierarchy string) string {
	if path, class, ok := strings.Cut(hierarchy, " ("); ok && !strings.Contains(class, "::") {
		return path // as written by export --to chrome
	}
	last := hierarchy[strings.LastIndexByte(hierarchy, '.')+1:]
	if name, _, ok := strings.Cut(last, "::"); ok && strings.Contains(name, "(") {
		return name
	}
	return ""
}

func (l *Finder) isUser(name model.Str) bool {
	user, known := l.user[name]
	if !known {
		user = isUserFrame(l.texts.Text(name))
		l.user[name] = user
	}
	return user
}

func (l *Finder) stackLine(stack model.Str) string {
	if stack == 0 {
		return ""
	}
	line, known := l.stack[stack]
	if !known {
		for entry := range strings.SplitSeq(l.texts.Text(stack), ";") {
			if isUserFrame(entry) {
				line = entry
				break
			}
		}
		l.stack[stack] = line
	}
	return line
}

// standardLibrary are the beginnings of frames whose path the profiler cut down to the part below sys.path.
var standardLibrary = []string{"torch/", "torchvision/", "torchaudio/", "lightning/", "pytorch_lightning/", "accelerate/",
	"transformers/", "deepspeed/", "threading.py(", "contextlib.py(", "functools.py(", "runpy.py(", "importlib/", "multiprocessing/",
	"concurrent/", "queue.py(", "socket.py(", "selectors.py(", "subprocess.py(", "copy.py(", "random.py(", "typing.py(", "inspect.py(",
	"weakref.py(", "abc.py(", "enum.py(", "dataclasses.py(", "collections/", "json/", "logging/", "asyncio/", "ctypes/", "re/", "numpy/",
	"pandas/", "PIL/", "tqdm/", "triton/", "_bneck_agent/", "warnings.py(", "os.py(", "traceback.py("}

// isUserFrame says whether "path(line): function" is code of neither Python, PyTorch nor an installed package.
func isUserFrame(frame string) bool {
	if strings.HasPrefix(frame, "<") || strings.HasPrefix(frame, "nn.Module: ") || naming.HasAnyPrefix(frame, standardLibrary...) {
		return false
	}
	var w Where
	w.SetFrame(frame)
	return w.Known() && ClassifyFile(w.File) == FileUser
}
