package view

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"bottleneck/internal/analyse"
	"bottleneck/internal/model"
)

// SampleChoice says which samples of a session count.
type SampleChoice struct {
	GIL   bool  // only those of threads that held the GIL, or, where there is none, ran Python
	Idle  bool  // those of threads that wait for work too
	Ranks []int // of these ranks only; empty = of every process
}

// takes says whether sample i counts.
func (c SampleChoice) takes(sm *model.Samples, i int) bool {
	if c.GIL && sm.Flags[i]&model.SampleRunsPython == 0 {
		return false
	}
	return c.Idle || sm.State[i] != model.StateIdle
}

// process says whether a process's samples count.
func (c SampleChoice) process(p *model.Process) bool {
	return len(c.Ranks) == 0 || slices.Contains(c.Ranks, p.Rank)
}

// ownTotal is time in nanoseconds: own with no other counted line (or function) running deeper, total with all that it called.
type ownTotal struct{ own, total float64 }

// sampleSums are the chosen samples of a session as thread time, summed by line and by function. In recursion a line or
// function counts once per sample.
type sampleSums struct {
	lines     map[lineKey]ownTotal
	functions map[funcKey]ownTotal
	files     map[model.Str]float64 // total time by file
	all       float64               // ns
	samples   int
	attached  int // of them of threads that ran Python without a GIL
	processes int
	threads   int
}

// sumSamples adds up the chosen samples of every process and thread. A user's line owns the library code that it called,
// as in the report; a library's line and every function own only what ran in them.
func sumSamples(s *model.Session, choice SampleChoice) *sampleSums {
	out := &sampleSums{lines: map[lineKey]ownTotal{}, functions: map[funcKey]ownTotal{}, files: map[model.Str]float64{}}
	for _, p := range s.Processes {
		if choice.process(p) {
			out.process(s, p, choice)
		}
	}
	return out
}

// process adds one process: equal stacks first, so that a long recording costs one walk per stack.
func (o *sampleSums) process(s *model.Session, p *model.Process, choice SampleChoice) {
	sm := &p.Samples
	counts, threads := map[model.StackID]int{}, map[int32]bool{}
	classes := analyse.NewFrameClasses(s, p)
	foreign := agentStacks(classes)
	n := 0
	for i := range min(sm.Len(), len(sm.Thread), len(sm.Stack), len(sm.State), len(sm.Flags)) {
		if choice.takes(sm, i) && !foreign(sm.Stack[i]) {
			counts[sm.Stack[i]]++
			threads[sm.Thread[i]] = true
			if n++; sm.Flags[i]&model.SampleAttached != 0 {
				o.attached++
			}
		}
	}
	if n == 0 {
		return
	}
	o.processes++
	o.threads += len(threads)
	o.samples += n
	period := samplePeriod(s, sm)
	o.all += float64(n) * period
	for stack, n := range counts {
		o.stack(classes, stack, float64(n)*period)
	}
}

// agentStacks tells stacks of the agent's own threads, which hold no frame of the program.
func agentStacks(classes *analyse.FrameClasses) func(model.StackID) bool {
	known := map[model.StackID]bool{}
	return func(id model.StackID) bool {
		agent, ok := known[id]
		if !ok {
			classes.Walk(id, func(frame model.FrameID) bool {
				agent = classes.File(classes.Stacks.Frames[frame].File) == analyse.FileAgent
				return agent
			})
			known[id] = agent
		}
		return agent
	}
}

func (o *sampleSums) stack(classes *analyse.FrameClasses, stack model.StackID, ns float64) {
	lines, functions, files := map[lineKey]bool{}, map[funcKey]bool{}, map[model.Str]bool{}
	innermost, innermostUser := true, true
	classes.Walk(stack, func(id model.FrameID) bool {
		f := classes.Stacks.Frames[id]
		if classes.File(f.File) == analyse.FileAgent {
			return true
		}
		user := classes.File(f.File) == analyse.FileUser
		add := func(sum ownTotal, seen, owns bool) ownTotal {
			if owns {
				sum.own += ns
			}
			if !seen {
				sum.total += ns
			}
			return sum
		}
		line, function := lineKey{f.File, f.Line}, funcKey{f.File, f.Function, f.First}
		o.lines[line] = add(o.lines[line], lines[line], innermost && !user || innermostUser && user)
		o.functions[function] = add(o.functions[function], functions[function], innermost)
		if !files[f.File] {
			o.files[f.File] += ns
		}
		lines[line], functions[function], files[f.File] = true, true, true
		innermost, innermostUser = false, innermostUser && !user
		return true
	})
}

// samplePeriod is the time in nanoseconds that one sample of a process stands for. One sampler watches all processes, so
// the rate may stand with another one.
func samplePeriod(s *model.Session, sm *model.Samples) float64 {
	rate := cmp.Or(sm.AchievedHz, sm.AskedHz)
	for _, p := range s.Processes {
		if rate > 0 {
			break
		}
		rate = cmp.Or(p.Samples.AchievedHz, p.Samples.AskedHz)
	}
	if !(rate > 0 && rate < 1e9) {
		rate = 100
	}
	return 1e9 / rate
}

// maxNearest is how many other files an answer names.
const maxNearest = 5

// SourceFile finds the file of a session that name means: a path as frames name it, or the end of one ("data.py",
// "pkg/data.py"). Where it means none or several, found is "" and near lists the ones it means, else those with samples
// whose names are nearest, most sampled first.
func SourceFile(s *model.Session, name string, choice SampleChoice) (found string, near []string) {
	weight := map[string]float64{}
	for file := range s.Sources {
		weight[file] = 0
	}
	for file, ns := range sumSamples(s, choice).files {
		weight[s.Strings.Text(file)] += ns
	}
	if _, exact := weight[name]; exact {
		return name, nil
	}
	files := slices.SortedFunc(maps.Keys(weight), func(a, b string) int {
		return cmp.Or(cmp.Compare(weight[b], weight[a]), strings.Compare(a, b))
	})
	end := "/" + strings.TrimLeft(path.Clean(strings.ReplaceAll(name, `\`, "/")), "./")
	matches := slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		return !strings.HasSuffix("/"+strings.ReplaceAll(file, `\`, "/"), end)
	})
	// The program's own file is meant before a library's of the same name: server.py before http/server.py.
	if own := slices.DeleteFunc(slices.Clone(matches), func(file string) bool {
		return analyse.ClassifyFile(file) != analyse.FileUser || weight[file] == 0
	}); len(own) == 1 {
		return own[0], nil
	}
	sampled := 0
	for sampled < len(matches) && weight[matches[sampled]] > 0 {
		sampled++
	}
	switch {
	case len(matches) == 1 || sampled == 1:
		return matches[0], nil
	case len(matches) > 1:
		return "", matches[:min(len(matches), maxNearest)]
	}
	return "", nearestFiles(path.Base(end), files, weight)
}

// maxAlike is how many of these are named for their likeness; the others have the most samples.
const maxAlike = 3

// nearestFiles are the sampled files whose base names differ least from name, where they have something in common with
// it, and then those with most time. files are in the order of their time.
func nearestFiles(name string, files []string, weight map[string]float64) []string {
	files = slices.DeleteFunc(files, func(file string) bool { return weight[file] == 0 || strings.HasPrefix(file, "<") })
	name = strings.TrimSuffix(name, ".py")
	distance, unlike := map[string]int{}, map[string]bool{}
	for _, file := range files {
		distance[file], unlike[file] = nameDistance(name, strings.TrimSuffix(path.Base(file), ".py"))
	}
	alike := slices.DeleteFunc(slices.Clone(files), func(file string) bool { return unlike[file] })
	slices.SortStableFunc(alike, func(a, b string) int { return cmp.Compare(distance[a], distance[b]) })
	alike = alike[:min(len(alike), maxAlike)]
	for _, file := range files {
		if len(alike) < maxNearest && !slices.Contains(alike, file) {
			alike = append(alike, file)
		}
	}
	return alike
}

// nameDistance is how many pairs of neighbouring characters one name has and the other lacks: 0 for equal names. unlike
// says that they share none.
func nameDistance(a, b string) (distance int, unlike bool) {
	pairs := map[string]int{}
	for i := range len(a) - 1 {
		pairs[strings.ToLower(a[i:i+2])]++
	}
	for i := range len(b) - 1 {
		pairs[strings.ToLower(b[i:i+2])]--
	}
	sum := 0
	for _, n := range pairs {
		sum += max(n, -n)
	}
	return sum, sum > 0 && sum >= len(a)+len(b)-2
}
