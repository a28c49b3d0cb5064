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
	in := &speedscopeReader{in: newJSONStream(r), byNumber: &stackProfile{}}
	var damage []model.Diagnostic
	if err := in.read(); err != nil {
		if len(in.byNumber.threads) == 0 || len(in.frames) == 0 {
			return nil, &UnusableError{Path: src.path, Reason: "a speedscope profile that cannot be read: " + err.Error(), err: err}
		}
		damage = append(damage, model.Diagnostic{Kind: "truncated", Count: 1, FirstOffset: in.in.InputOffset(),
			Text: "damaged, only what comes before is used: " + err.Error()})
	}
	p, err := in.named()
	if err != nil {
		return nil, &UnusableError{Path: src.path, Reason: "a speedscope profile that cannot be read: " + err.Error(), err: err}
	}
	return addProfile(o, src, "speedscope", p, in.nsPerUnit, damage...)
}

type speedscopeReader struct {
	in        *jsonStream
	byNumber  *stackProfile // its frames' lines are numbers of frames
	frames    []speedscopeFrame
	nsPerUnit float64
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
				return s.in.array(func(int) error {
					var f speedscopeFrame
					if err := s.in.value(&f); err != nil {
						return err
					}
					s.frames = append(s.frames, f)
					return nil
				})
			})
		case "profiles":
			return s.in.array(func(int) error { return s.profile() })
		}
		return s.in.skip()
	})
}

// speedscopeEvent opens or closes a frame.
type speedscopeEvent struct {
	Type  string  `json:"type"`
	At    float64 `json:"at"`
	Frame int32   `json:"frame"`
}

func (s *speedscopeReader) profile() error {
	t := s.byNumber.thread("")
	var stacks []model.StackID
	var weights []float64
	evented := &speedscopeEvents{p: s.byNumber, t: t}
	err := s.in.object(func(name string) error {
		switch name {
		case "name":
			return s.in.value(&t.name)
		case "startValue":
			return s.in.value(&t.start)
		case "unit":
			var unit string
			err := s.in.value(&unit)
			if ns := speedscopeUnits[unit]; ns > 0 {
				s.nsPerUnit = ns
			}
			return err
		case "samples":
			return s.in.array(func(int) error {
				st, err := s.stack()
				stacks = append(stacks, st)
				return err
			})
		case "weights":
			return s.in.array(func(int) error {
				var w float64
				err := s.in.value(&w)
				weights = append(weights, w)
				return err
			})
		case "events":
			return s.in.array(func(int) error {
				var e speedscopeEvent
				if err := s.in.value(&e); err != nil {
					return err
				}
				return evented.take(&e)
			})
		}
		return s.in.skip()
	})
	for i, st := range stacks[:min(len(stacks), len(weights))] {
		s.byNumber.add(t, st, weights[i])
	}
	return err
}

// stack is one sample: numbers of frames from the outside in.
func (s *speedscopeReader) stack() (model.StackID, error) {
	var numbers []int32
	at := model.NoStack
	if err := s.in.value(&numbers); err != nil {
		return at, err
	}
	var err error
	for _, n := range numbers[:min(len(numbers), maxProfileDepth)] {
		if at, err = s.byNumber.push(at, s.byNumber.frame("", "", 0, n)); err != nil {
			return at, err
		}
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
