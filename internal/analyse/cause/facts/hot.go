package facts

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
)

// FuncKey is one function of the program.
type FuncKey struct {
	File, Name model.Str
	First      int32
}

// Compare orders functions by file, name and first line.
func (k FuncKey) Compare(o FuncKey) int {
	return cmp.Or(cmp.Compare(k.File, o.File), cmp.Compare(k.Name, o.Name), cmp.Compare(k.First, o.First))
}

// KeyOf is the function of a frame.
func KeyOf(f *model.Frame) FuncKey { return FuncKey{f.File, f.Function, f.First} }

// Chain is one sample's user frames, outermost first, with the time that it stands for.
type Chain struct {
	Frames []model.Frame
	Weight float64
	Index  int // of the attributed sample
}

// Spot is where time is spent: a line of a function, and the time of the whole unit (the function, or in the function that
// drives the loop only the line).
type Spot struct {
	Frame   model.Frame
	Unit    float64 // ns of the unit
	Line    float64 // ns of the line
	Samples int     // of the unit
	Members []int   // indices of the attributed samples that the unit holds
}

// workerFile is what a DataLoader's worker runs.
const workerFile = "/torch/utils/data/_utils/worker.py"

// FetchFile is where a DataLoader fetches a batch.
const FetchFile = "/torch/utils/data/_utils/fetch.py"

// ChainsOf makes the user frames of chosen samples.
func ChainsOf(cls *code.FrameClasses, sm *model.Samples, attributed []account.Attributed,
	keep func(k int, a *account.Attributed) bool) []Chain {
	return ChainsInside(workerFile, cls, sm, attributed, keep)
}

// ChainsInside makes the user frames of chosen samples that the innermost frame of a file, given by the end of its name, leads to; all
// of them where it is not on the stack.
func ChainsInside(file string, cls *code.FrameClasses, sm *model.Samples, attributed []account.Attributed,
	keep func(k int, a *account.Attributed) bool) []Chain {
	var out []Chain
	cache := map[model.StackID][]model.Frame{}
	for k := range attributed {
		a := &attributed[k]
		if !keep(k, a) {
			continue
		}
		id := sm.Stack[a.Index]
		frames, ok := cache[id]
		if !ok {
			cls.Walk(id, func(fr model.FrameID) bool {
				f := cls.Stacks.Frames[fr]
				if strings.HasSuffix(cls.Strings.Text(f.File), file) {
					return false // of a worker, what is around it ran in the process that forked it
				}
				if n := len(frames); n > 0 && anonymous(cls.Strings.Text(frames[n-1].Function)) && cls.File(f.File) == code.FileUser {
					frames = frames[:n-1] // the line that holds the lambda or comprehension is the place
				}
				if cls.File(f.File) == code.FileUser {
					frames = append(frames, f)
				}
				return len(frames) < 256
			})
			slices.Reverse(frames)
			cache[id] = frames
		}
		out = append(out, Chain{frames, a.Weight, k})
	}
	return out
}

// anonymous says that a function is part of a line of the function around it: a lambda, a comprehension, a generator expression.
func anonymous(name string) bool {
	return strings.HasSuffix(name, ">") && !strings.HasSuffix(name, "<module>")
}

// driverShare is the share of all samples from which a function counts as one that drives the loop: its other lines are other
// parts of the step, so that only a line of it, never the whole function, is a finding's unit.
const driverShare = price.DriverShare

// findDrivers finds the functions that are on the stack for nearly all of the accounted time.
func (c *Facts) findDrivers() map[FuncKey]bool {
	all := ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(int, *account.Attributed) bool { return true })
	out := driversOf(all)
	// What a fetch calls prepares samples, also where that is nearly all of the time.
	fetches := ChainsInside(FetchFile, c.C, &c.P.Samples, c.B.Samples, func(int, *account.Attributed) bool { return true })
	for i := range fetches {
		if inner := fetches[i].Frames; len(inner) < len(all[i].Frames) {
			for k := range inner {
				delete(out, KeyOf(&inner[k]))
			}
		}
	}
	if c.B.PerStep {
		return out
	}
	// Without steps a function that does the work itself is the place, not the loop around it.
	own, total := map[FuncKey]float64{}, Sum(all)
	for _, ch := range all {
		if n := len(ch.Frames); n > 0 {
			own[KeyOf(&ch.Frames[n-1])] += ch.Weight
		}
	}
	for k := range out {
		if own[k] >= 0.5*total && c.Text(k.Name) != "<module>" {
			delete(out, k)
		}
	}
	return out
}

// Working are the samples of the accounted steps in operators and in the interpreter that no finding has claimed.
func (c *Facts) Working(l finding.Ledger) []Chain {
	return ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *account.Attributed) bool {
		return (a.Part == account.PartOps || a.Part == account.PartPython) && !l.Taken(k)
	})
}

// ClaimAll gives a draft the samples of chains, and a part of the time that they stand for.
func (c *Facts) ClaimAll(f *finding.Draft, chains []Chain, part float64) {
	for i := range chains {
		f.Claim.Samples = append(f.Claim.Samples, chains[i].Index)
		f.Claim.Parts[c.B.Samples[chains[i].Index].Part] += part * chains[i].Weight
	}
}

func driversOf(all []Chain) map[FuncKey]bool {
	total := 0.0
	inside := map[FuncKey]float64{}
	for _, ch := range all {
		total += ch.Weight
		seen := map[FuncKey]bool{}
		for i := range ch.Frames {
			if k := KeyOf(&ch.Frames[i]); !seen[k] {
				seen[k] = true
				inside[k] += ch.Weight
			}
		}
	}
	out := map[FuncKey]bool{}
	for k, w := range inside {
		if w >= driverShare*total {
			out[k] = true
		}
	}
	return out
}

// Hottest finds the place that holds most of the chains' time: from the outermost frame down, through functions that drive
// the loop always, through others while one callee has at least half of their time. ok is false where no chain has a user frame.
func Hottest(chains []Chain, drivers map[FuncKey]bool) (Spot, bool) {
	depth := 0
	current := slices.DeleteFunc(slices.Clone(chains), func(ch Chain) bool { return len(ch.Frames) == 0 })
	if len(current) == 0 {
		return Spot{}, false
	}
	current = heaviestGroup(current, func(ch Chain) any { return KeyOf(&ch.Frames[0]) })
	for {
		key := KeyOf(&current[0].Frames[depth])
		type callee struct {
			key  FuncKey
			line int32
		}
		next := heaviestGroup(current, func(ch Chain) any {
			if len(ch.Frames) > depth+1 {
				return callee{key: KeyOf(&ch.Frames[depth+1])}
			}
			return callee{line: ch.Frames[depth].Line}
		})
		leaf := len(next[0].Frames) <= depth+1
		switch {
		case drivers[key] && leaf:
			return SpotOf(next, depth, Sum(next)), true
		case drivers[key] || !leaf && Sum(next) >= 0.5*Sum(current):
			current, depth = next, depth+1
		default:
			return SpotOf(current, depth, Sum(current)), true
		}
	}
}

// Everywhere widens a place that is a whole function to all chains that pass through it, whoever calls it: what ends its work ends it
// for each of its callers. A line of a function that drives the loop stays what it is.
func Everywhere(sp Spot, chains []Chain, drivers map[FuncKey]bool) Spot {
	key := KeyOf(&sp.Frame)
	if drivers[key] {
		return sp
	}
	lines := map[int32]float64{}
	out := Spot{Frame: sp.Frame}
	for _, ch := range chains {
		i := slices.IndexFunc(ch.Frames, func(f model.Frame) bool { return KeyOf(&f) == key })
		if i < 0 {
			continue
		}
		fr := ch.Frames[i]
		out.Unit += ch.Weight
		out.Samples++
		out.Members = append(out.Members, ch.Index)
		if lines[fr.Line] += ch.Weight; lines[fr.Line] > out.Line {
			out.Line, out.Frame = lines[fr.Line], fr
		}
	}
	return out
}

// SpotOf makes the place of a group: the line of the frame at depth that has most time.
func SpotOf(group []Chain, depth int, unit float64) Spot {
	line := heaviestGroup(group, func(ch Chain) any { return ch.Frames[depth].Line })
	s := Spot{Frame: line[0].Frames[depth], Unit: unit, Line: Sum(line), Samples: len(group)}
	for _, ch := range group {
		s.Members = append(s.Members, ch.Index)
	}
	return s
}

// heaviestGroup splits chains by key and gives the group with most time; the first seen wins a tie.
func heaviestGroup(chains []Chain, key func(Chain) any) []Chain {
	groups := map[any][]Chain{}
	weight := map[any]float64{}
	var best any
	for _, ch := range chains {
		k := key(ch)
		groups[k] = append(groups[k], ch)
		weight[k] += ch.Weight
	}
	for _, ch := range chains {
		if k := key(ch); best == nil || weight[k] > weight[best] {
			best = k
		}
	}
	return groups[best]
}

func Sum(chains []Chain) float64 {
	t := 0.0
	for _, ch := range chains {
		t += ch.Weight
	}
	return t
}

// Where makes the place of a spot.
func (c *Facts) Where(sp Spot) finding.Where {
	w := c.At(sp.Frame.File, sp.Frame.Line)
	w.Function = c.Text(sp.Frame.Function)
	return w
}

// At is a finding's place on a line of which no sample tells the function; nowhere for file 0.
func (c *Facts) At(file model.Str, line int32) finding.Where {
	w := finding.Nowhere()
	if file != 0 {
		w.File, w.Line = c.Text(file), int(line)
		w.Source = c.Source(w.File, w.Line)
	}
	return w
}

// LineTimes sums chains by their innermost user line, most first.
func LineTimes(chains []Chain) []Spot {
	type key struct {
		f    FuncKey
		line int32
	}
	index := map[key]int{}
	var out []Spot
	for _, ch := range chains {
		if len(ch.Frames) == 0 {
			continue
		}
		f := ch.Frames[len(ch.Frames)-1]
		k := key{KeyOf(&f), f.Line}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			out = append(out, Spot{Frame: f})
		}
		out[i].Unit += ch.Weight
		out[i].Line += ch.Weight
		out[i].Samples++
		out[i].Members = append(out[i].Members, ch.Index)
	}
	slices.SortStableFunc(out, func(a, b Spot) int { return cmp.Compare(b.Line, a.Line) })
	return out
}
