package page

import (
	"sync"

	"bottleneck/internal/model"
)

// invertedSuffix stands behind the name of a flame graph for the same with every stack turned round.
const invertedSuffix = "-inverted"

// flameViews are the flame graphs, in the order of the page's list.
var flameViews = []struct{ name, title, aside string }{
	{"python", "Python flame graph", "time of all processes and threads that did not wait for work, by samples"},
	{"native", "Native flame graph", "the same samples with the frames of C and C++ libraries"},
	{"operators", "Call flame graph", "CPU time of the traced calls, tracing cost included"},
	{"device", "Device flame graph", "the device's work below the operators that launched it"},
	{"modules", "Modules, CPU", "CPU time of a model's modules by their places in it: inside their calls, and of the backward pass for what they made"},
	{"modules-device", "Modules, device", "the device's work by the module that it belongs to, forward and backward"},
	{"memory", "Memory flame graph", "bytes held at the peak by the calls that allocated them, of memory events and snapshots"},
	{"calls", "Counted calls",
		"exact counts: a function's time is shared among its callers by what each contributed, an estimate where functions run within " +
			"themselves"},
}

// treesOf gives each flame graph's tree by name, made when it is first asked for; nil where nothing was recorded for it.
func treesOf(s *model.Session) map[string]func() *tree {
	native := false
	for _, p := range s.Processes {
		native = native || p.Samples.Native != nil
	}
	events := sync.OnceValues(func() (cpu, device *tree) { return eventTrees(s) })
	modules := sync.OnceValues(func() (cpu, device *tree) { return moduleTrees(s) })
	return map[string]func() *tree{
		"python":         sync.OnceValue(func() *tree { return sampleTree(s, false) }),
		"operators":      func() *tree { cpu, _ := events(); return cpu },
		"device":         func() *tree { _, device := events(); return device },
		"modules":        func() *tree { cpu, _ := modules(); return cpu },
		"modules-device": func() *tree { _, device := modules(); return device },
		"memory":         sync.OnceValue(func() *tree { return memoryTree(s) }),
		"calls":          sync.OnceValue(func() *tree { return callTree(s) }),
		"native": sync.OnceValue(func() *tree {
			if !native {
				return nil
			}
			return sampleTree(s, true)
		}),
	}
}

// flamesOf gives each flame graph by name; nil where nothing was recorded for it.
func flamesOf(s *model.Session) map[string]func() *Flame {
	trees := treesOf(s)
	out := map[string]func() *Flame{}
	for _, f := range flameViews {
		made := func(turn func(*tree) *tree) func() *Flame {
			return sync.OnceValue(func() *Flame {
				t := trees[f.name]()
				if t == nil || t.nodes[0].total <= 0 {
					return nil
				}
				return turn(t).layout(f.title, f.aside)
			})
		}
		out[f.name] = made(func(t *tree) *tree { return t })
		out[f.name+invertedSuffix] = made((*tree).inverted)
	}
	return out
}
