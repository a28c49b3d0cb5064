package model

import "fmt"

// NoModule stands where an event ran in no module.
const NoModule int32 = -1

// ModuleFile ends the path of the source file in which PyTorch calls a module.
const ModuleFile = "/torch/nn/modules/module.py"

// Modules are the calls of a trace's nn.Modules, and which of them each event belongs to.
type Modules struct {
	// Of is, by EventID, the row of Names that the event ran in, or, in the backward pass, that made what it is the backward of.
	Of []int32
	// Backward says, by EventID, that the event belongs to the module as part of the backward pass.
	Backward []bool
	Names    []ModuleName
	Calls    []ModuleCall // sorted by lane, start, longest first
	// Full says that there were more calls than were kept.
	Full bool
}

// ModuleName is one place in a model.
type ModuleName struct {
	Path  Str // attribute names from the root module, which is named by its class: "Net.layer1.0.conv1"
	Class Str
}

// ModuleCall is one call of a module.
type ModuleCall struct {
	Module int32 // row of Names
	Lane   LaneID
	Start  Time
	Dur    Dur
	Parent int32 // the innermost call of the same lane around it; -1 without one
}

// End is the end of a call.
func (c *ModuleCall) End() Time { return c.Start + Time(c.Dur) }

// At is the module of an event, nil where there is none.
func (m *Modules) At(id EventID) *ModuleName {
	if m == nil || id < 0 || int(id) >= len(m.Of) || m.Of[id] < 0 {
		return nil
	}
	return &m.Names[m.Of[id]]
}

func (m *Modules) check(events, lanes int) error {
	if m == nil {
		return nil
	}
	if len(m.Of) != events || len(m.Backward) != events {
		return fmt.Errorf("modules of %d and %d events, there are %d", len(m.Of), len(m.Backward), events)
	}
	for id, of := range m.Of {
		if of < NoModule || int(of) >= len(m.Names) || of == NoModule && m.Backward[id] {
			return fmt.Errorf("event %d: module %d does not exist", id, of)
		}
	}
	for i, c := range m.Calls {
		if c.Module < 0 || int(c.Module) >= len(m.Names) || c.Lane < 0 || int(c.Lane) >= lanes || c.Dur < 0 || int(c.Parent) >= i {
			return fmt.Errorf("call %d of a module: %+v", i, c)
		}
	}
	return nil
}
