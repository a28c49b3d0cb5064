package report

import (
	"bottleneck/internal/model"
	"math"
	"slices"
	"strings"
)

// LightningAction is one action of a trainer with the time it took, summed up.
type LightningAction struct {
	Name  string
	Count int64
	Total float64 // seconds
	// Undistorted counts the calls that lay outside of the profiler's windows: Total is their mean times Count, and that of all calls
	// where there was none. -1 where it is not known.
	Undistorted int64
}

// Counters in which the agent keeps exact sums of actions, of which it writes only the longer ones as spans.
const (
	actionCount      = "action_count:"
	actionTime       = "action_ns:"
	undistortedCount = "action_undistorted_count:"
	undistortedTime  = "action_undistorted_ns:"
)

// LightningActions sums up a process's actions: the agent's exact sums by name, or those of the spans where it left none, in
// the order in which they first occurred. elapsed, in seconds, is what Lightning counts 100 % from: the time from the
// first action's start to the end of the process, or to the last action's end where that is unknown.
func LightningActions(p *model.Process, strs *model.Strings) (actions []LightningAction, elapsed float64) {
	first, last := model.Time(math.MaxInt64), model.Time(0)
	index, sums := map[string]int{}, []model.Dur{}
	for i := range p.Spans {
		s := &p.Spans[i]
		if s.Kind != model.SpanAction {
			continue
		}
		name := strs.Text(s.Name)
		at, ok := index[name]
		if !ok {
			at = len(actions)
			index[name] = at
			actions, sums = append(actions, LightningAction{Name: name, Undistorted: -1}), append(sums, 0)
		}
		actions[at].Count++
		sums[at] += model.Dur(s.End - s.Start)
		first, last = min(first, s.Start), max(last, s.End)
	}
	for i := range actions {
		actions[i].Total = sums[i].Seconds()
	}
	actions = exactActions(p, actions, index)
	if len(actions) == 0 {
		return nil, 0
	}
	if first > last {
		first = p.Start
	}
	return actions, model.Dur(max(last, p.End) - first).Seconds()
}

// exactActions replaces sums of spans by the agent's own, and adds the actions that were too short for spans.
func exactActions(p *model.Process, actions []LightningAction, index map[string]int) []LightningAction {
	var names []string
	for key := range p.Counters {
		if name, ok := strings.CutPrefix(key, actionTime); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		at, ok := index[name]
		if !ok {
			at = len(actions)
			actions = append(actions, LightningAction{Name: name})
		}
		a := &actions[at]
		a.Count, a.Total, a.Undistorted = int64(p.Counters[actionCount+name]), p.Counters[actionTime+name]/1e9, -1
		if n, ok := p.Counters[undistortedCount+name]; ok {
			a.Undistorted = int64(n)
			if n > 0 {
				a.Total = p.Counters[undistortedTime+name] / n * float64(a.Count) / 1e9
			}
		}
	}
	return slices.DeleteFunc(actions, func(a LightningAction) bool { return a.Count <= 0 })
}
