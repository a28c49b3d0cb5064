package input

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// inputSite is one place of the program that builds DataLoaders: what the accounted steps wait for there. A program may wait at several
// in each step, and a place may build a loader for each epoch.
type inputSite struct {
	loader  *model.Loader // the one that is waited for longest; nil where none is known
	index   int32         // of that loader
	ids     map[int32]bool
	waits   []times.Interval // in the order of their starts
	time    float64          // ns over the windows
	longest float64
	share   float64    // of all waits
	used    model.Time // when its last loader was last asked
	batches int        // fetched or waited for in the windows
	begins  float64    // ns over the windows in waits for the first batch of an iteration
	firsts  int        // such waits in the windows
	started int        // iterations in the run
	built   int        // loaders in the run
	seen    int        // batches in the run
	idle    float64    // ns over the windows in waits although a batch was ready
	fetch   float64    // ns in fetches of the driving thread's own
	fetches int
}

// inputSites are the places at whose loaders a thread waits during the accounted steps, the one with most time first; one that knows
// nothing where no wait was measured.
func inputSites(c *facts.Facts, thread int) []*inputSite {
	sites := sitesOf(c, thread)
	ofLoader := map[int32]float64{}
	last := map[int32]int64{}
	ready := readyAt(c.P)
	for i := range c.P.Spans {
		sp := &c.P.Spans[i]
		if sp.Thread != thread || sp.Kind != model.SpanDataWait && sp.Kind != model.SpanFetch {
			continue
		}
		s, counts := sites[known(c, sp.Loader)], c.InWindows(sp.End)
		if sp.Kind == model.SpanFetch {
			if counts {
				s.fetch += float64(sp.End - sp.Start)
				s.fetches++
			}
			continue
		}
		before, known := last[sp.Loader]
		first := !known || sp.Value <= before // batches are counted anew in each iteration
		last[sp.Loader] = sp.Value
		s.seen++
		s.built += finding.Btoi(!known)
		s.started += finding.Btoi(first)
		if !counts {
			continue
		}
		t := c.InSteps(sp.Start, sp.End)
		s.waits = append(s.waits, times.Interval{Start: sp.Start, End: sp.End})
		s.time += t
		s.batches++
		if first {
			s.begins += t
			s.firsts++
		}
		if ready(sp.Loader, sp.Start, sp.End) > 0 {
			s.idle += t
		}
		if ofLoader[sp.Loader] += float64(sp.End - sp.Start); ofLoader[sp.Loader] > s.longest {
			s.longest, s.index = ofLoader[sp.Loader], sp.Loader
		}
	}
	return ordered(c, sites)
}

// ordered sorts places by the time that is waited at them.
func ordered(c *facts.Facts, sites map[int32]*inputSite) []*inputSite {
	var out []*inputSite
	seen := map[*inputSite]bool{}
	for _, s := range stats.InOrder(sites) {
		if !seen[s] {
			out, seen[s] = append(out, s), true
		}
	}
	slices.SortStableFunc(out, func(a, b *inputSite) int { return cmp.Compare(b.time, a.time) })
	all := 0.0
	for _, s := range out {
		all += s.time
		if len(s.waits) > 0 && s.index >= 0 && int(s.index) < len(c.P.Loaders) {
			s.loader = &c.P.Loaders[s.index]
		}
		slices.SortFunc(s.waits, func(a, b times.Interval) int { return cmp.Compare(a.Start, b.Start) })
	}
	if all == 0 {
		if len(out) == 0 {
			out = append(out, &inputSite{})
		}
		out[0].share = 1
		return out[:1]
	}
	for _, s := range out {
		s.share = s.time / all
	}
	return out
}

// known is the index of a loader; -1 where it tells none.
func known(c *facts.Facts, index int32) int32 {
	if index >= 0 && int(index) < len(c.P.Loaders) {
		return index
	}
	return -1
}

// sitesOf gives each loader that a thread asks or fetches for its place. Loaders that one line builds are of one place where each is done
// with before the next is asked: a line that builds several, or a function that it calls, is as many places.
func sitesOf(c *facts.Facts, thread int) map[int32]*inputSite {
	used := map[int32]times.Interval{}
	var order []int32
	for i := range c.P.Spans {
		sp := &c.P.Spans[i]
		if sp.Thread != thread || sp.Kind != model.SpanDataWait && sp.Kind != model.SpanFetch {
			continue
		}
		index := known(c, sp.Loader)
		u, seen := used[index]
		if !seen {
			order, u = append(order, index), times.Interval{Start: sp.Start, End: sp.End}
		}
		used[index] = times.Interval{Start: min(u.Start, sp.Start), End: max(u.End, sp.End)}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(used[a].Start, used[b].Start) })
	sites := map[int32]*inputSite{}
	of := map[builtAt][]*inputSite{}
	for _, index := range order {
		var s *inputSite
		var at builtAt
		if index >= 0 && c.P.Loaders[index].File != 0 {
			l := &c.P.Loaders[index]
			at = builtAt{l.File, l.Line, l.Dataset}
			if i := slices.IndexFunc(of[at], func(o *inputSite) bool { return o.used <= used[index].Start }); i >= 0 {
				s = of[at][i]
			}
		}
		if s == nil {
			s = &inputSite{ids: map[int32]bool{}, index: index}
			of[at] = append(of[at], s)
		}
		if index >= 0 {
			s.ids[c.P.Loaders[index].ID] = true
		}
		s.used = max(s.used, used[index].End)
		sites[index] = s
	}
	return sites
}

// builtAt is a line that builds loaders for data sets of one class.
type builtAt struct {
	file    model.Str
	line    int32
	dataset string
}

// serving are the workers that fetch for a place; all of them where they do not say for which.
func serving(c *facts.Facts, s *inputSite) []*facts.WorkerView {
	var out []*facts.WorkerView
	for _, w := range c.Workers {
		if w.Loader >= 0 && s.loader != nil && !s.ids[w.Loader] {
			continue
		}
		out = append(out, w)
	}
	return out
}

// rebuilt says that loaders are built for one iteration each.
func (s *inputSite) rebuilt() bool { return s.built > 2 && s.built == s.started }

// singly says that iterations are begun for one batch each.
func (s *inputSite) singly() bool { return s.started > 3 && s.started == s.seen }

// readAhead is the wait of the accounted thread for another one of its process that reads a DataLoader with workers ahead of it, and
// itself waits for them; waiting are attributed samples, wait is their time in ns.
func readAhead(c *facts.Facts, waiting []int, wait float64) (v *inputView, ok bool) {
	sm := &c.P.Samples
	most := 0
	for thread, list := range c.ThreadSamples(c.P, facts.WaitingAt(c.Instants(waiting))) {
		n := 0
		for _, a := range list {
			n += finding.Btoi(c.C.Info(sm.Stack[a.Index]).Acts&code.ActLoader != 0)
		}
		if thread == c.B.Thread || 2*n < len(list) || 2*n < len(waiting) || n <= most {
			continue
		}
		if s := inputSites(c, thread)[0]; s.loader != nil && s.loader.Workers > 0 {
			v, most = input(c, s, nil), n
			v.wait, v.part = wait, account.PartBlocked
		}
	}
	return v, v != nil
}
