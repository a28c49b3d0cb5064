package ingest

import (
	"fmt"
	"io"

	"bottleneck/internal/model"
)

// readSpeedscope reads a speedscope file (jlfwong/speedscope, file-format-spec): sampled profiles, and evented ones, whose
// open and close events become the time between them. Several profiles are several threads. Frames may stand behind the
// profiles, so that stacks are kept by frame number first.
func readSpeedscope(o *opening, src source, r io.Reader) (func() error, error) {
	in := &speedscopeReader{in: newJSONBytes(r), byNumber: &stackProfile{}}
	var damage []model.Diagnostic
	if err := in.read(); err != nil {
		if len(in.byNumber.threads) == 0 || len(in.frames) == 0 {
			return nil, &UnusableError{Path: src.path, Reason: "a speedscope profile that cannot be read: " + err.Error(), err: err}
		}
		damage = append(damage, model.Diagnostic{Kind: "truncated", Count: 1, FirstOffset: in.in.offset(),
			Text: "damaged, only what comes before is used: " + err.Error()})
	}
	p, err := in.named()
	if err != nil {
		return nil, &UnusableError{Path: src.path, Reason: "a speedscope profile that cannot be read: " + err.Error(), err: err}
	}
	return addProfile(o, src, "speedscope", p, in.nsPerUnit, damage...)
}

type speedscopeReader struct {
	in        *jsonBytes
	byNumber  *stackProfile // its frames' lines are numbers of frames
	frames    []speedscopeFrame
	nsPerUnit float64
	known     map[string]model.StackID // stacks by their text, since most come again
	knownSize int
}

type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file"`
	Line int32  `json:"line"`
}

// speedscopeUnits are the units of weights in ns; others ("none", "bytes") are counted as samples.
var speedscopeUnits = map[string]float64{"nanoseconds": 1, "microseconds": 1e3, "milliseconds": 1e6, "seconds": 1e9}

func (s *speedscopeReader) read() error {
	return s.in.object(func(name string) error {
		switch name {
		case "shared":
			return s.in.object(func(name string) error {
				if name != "frames" {
					return s.in.skip()
				}
				return s.in.array(s.frame)
			})
		case "profiles":
			return s.in.array(s.profile)
		}
		return s.in.skip()
	})
}

func (s *speedscopeReader) frame() error {
	var f speedscopeFrame
	err := s.in.object(func(name string) (err error) {
		switch name {
		case "name":
			f.Name, err = s.in.text()
		case "file":
			f.File, err = s.in.text()
		case "line":
			f.Line, err = s.frameNumber()
		default:
			err = s.in.skip()
		}
		return err
	})
	if err == nil {
		s.frames = append(s.frames, f)
	}
	return err
}

// frameNumber reads a number of a frame or line.
func (s *speedscopeReader) frameNumber() (int32, error) {
	v, err := s.in.number(nil)
	if err == nil && v != float64(int32(v)) {
		err = s.in.failed("a number of a frame or line that is none")
	}
	return int32(v), err
}

// speedscopeEvent opens or closes a frame.
type speedscopeEvent struct {
	Type  string  `json:"type"`
	At    float64 `json:"at"`
	Frame int32   `json:"frame"`
}

func (s *speedscopeReader) profile() error {
	t := s.byNumber.thread("")
	var stacks rows[model.StackID] // in chunks: a slice that grows moves all that it holds again and again
	var weights rows[float64]
	evented := &speedscopeEvents{p: s.byNumber, t: t}
	var last lastNumber
	err := s.in.object(func(name string) (err error) {
		switch name {
		case "name":
			t.name, err = s.in.text()
			return err
		case "startValue":
			t.start, err = s.in.number(nil)
			return err
		case "unit":
			unit, err := s.in.text()
			if ns := speedscopeUnits[unit]; ns > 0 {
				s.nsPerUnit = ns
			}
			return err
		case "samples":
			return s.in.array(func() error {
				st, err := s.stack()
				stacks.add(st)
				return err
			})
		case "weights":
			return s.in.array(func() error {
				w, err := s.in.number(&last)
				weights.add(w)
				return err
			})
		case "events":
			return s.in.array(func() error {
				var e speedscopeEvent
				if err := s.in.object(func(name string) error { return s.eventField(&e, name) }); err != nil {
					return err
				}
				return evented.take(&e)
			})
		}
		return s.in.skip()
	})
	of := weights.chunks()
	stacks.drain(func(chunk []model.StackID) {
		for _, st := range chunk {
			for len(of) > 0 && len(of[0]) == 0 {
				of = of[1:]
			}
			if len(of) == 0 {
				return
			}
			s.byNumber.add(t, st, of[0][0])
			of[0] = of[0][1:]
		}
	})
	return err
}

func (s *speedscopeReader) eventField(e *speedscopeEvent, name string) (err error) {
	switch name {
	case "type":
		e.Type, err = s.in.text()
	case "at":
		e.At, err = s.in.number(nil)
	case "frame":
		e.Frame, err = s.frameNumber()
	default:
		err = s.in.skip()
	}
	return err
}

// maxKnownStacks bounds the texts of stacks that are kept to find them again, in bytes.
const maxKnownStacks = 64 << 20

// stack is one sample: numbers of frames from the outside in.
func (s *speedscopeReader) stack() (model.StackID, error) {
	text, err := s.in.flat()
	if err != nil {
		return model.NoStack, err
	}
	if at, known := s.known[string(text)]; known {
		return at, nil
	}
	at, depth := model.NoStack, 0
	for i := 1; i < len(text)-1; {
		switch c := text[i]; {
		case c == ' ' || c == ',' || c == '\n' || c == '\r' || c == '\t':
			i++
		case c >= '0' && c <= '9':
			n := int32(0)
			for ; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
				if n = 10*n + int32(text[i]-'0'); n > 1<<24 {
					return at, s.in.failed("a number of a frame that is none")
				}
			}
			if depth++; depth > maxProfileDepth {
				continue
			}
			if at, err = s.byNumber.push(at, s.byNumber.frame("", "", 0, n)); err != nil {
				return at, err
			}
		default:
			return at, s.in.failed("a sample that is no list of numbers")
		}
	}
	if s.knownSize += len(text) + 32; s.knownSize < maxKnownStacks {
		if s.known == nil {
			s.known = map[string]model.StackID{}
		}
		s.known[string(text)] = at
	}
	return at, nil
}

// speedscopeEvents turns opening and closing events into stacks with the time that they were on.
type speedscopeEvents struct {
	p     *stackProfile
	t     *profileThread
	stack []model.StackID
	last  float64
	begun bool
}

func (e *speedscopeEvents) take(ev *speedscopeEvent) error {
	if !e.begun {
		e.begun, e.last = true, ev.At
	}
	if n := len(e.stack); n > 0 {
		e.p.add(e.t, e.stack[n-1], ev.At-e.last)
	}
	e.last = ev.At
	switch {
	case ev.Type == "O" && len(e.stack) < maxProfileDepth:
		at := model.NoStack
		if n := len(e.stack); n > 0 {
			at = e.stack[n-1]
		}
		st, err := e.p.push(at, e.p.frame("", "", 0, ev.Frame))
		if err != nil {
			return err
		}
		e.stack = append(e.stack, st)
	case ev.Type == "C" && len(e.stack) > 0:
		e.stack = e.stack[:len(e.stack)-1]
	}
	return nil
}

// named replaces numbers of frames by the frames.
func (s *speedscopeReader) named() (*stackProfile, error) {
	p := s.byNumber
	numbers := p.stacks.Frames
	of := make([]model.FrameID, len(numbers))
	p.stacks.Frames, p.frames, p.texts = nil, nil, model.Strings{}
	for i, f := range numbers {
		if f.Line < 0 || int(f.Line) >= len(s.frames) {
			return nil, fmt.Errorf("a sample names frame %d of %d", f.Line, len(s.frames))
		}
		frame := &s.frames[f.Line]
		if frame.File == "" {
			of[i] = p.locationFrame(frame.Name)
			continue
		}
		of[i] = p.frame(frame.Name, frame.File, 0, max(frame.Line, 0))
	}
	for i := range p.stacks.Frame {
		p.stacks.Frame[i] = of[p.stacks.Frame[i]]
	}
	return p, nil
}
