package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/counts"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/units"
)

// CountedFunc is a function whose lines were counted.
type CountedFunc struct {
	File     string        `json:"file"`
	Line     int           `json:"line"` // its first one; 0 unknown
	Function string        `json:"function"`
	TotalS   float64       `json:"total_s"`             // of its lines, with what they call
	SampledS *float64      `json:"sampled_s,omitempty"` // by the stack samples of the same run
	DeviceUs *float64      `json:"device_us,omitempty"` // of kernels and copies that it launched, a traced step
	Lines    []CountedLine `json:"lines"`
	Notes    []string      `json:"notes"`
}

// CountedLine is a line of such a function, one that never ran too where the text is known.
type CountedLine struct {
	Line    int      `json:"line"`
	Hits    int64    `json:"hits"`
	TimeS   float64  `json:"time_s"`
	Share   float64  `json:"share"`             // of the function's time
	Sampled *float64 `json:"sampled,omitempty"` // share of the function's samples
	// DeviceUs is the time of kernels and copies that were launched from here, a traced step; absent where none were.
	DeviceUs *float64 `json:"device_us,omitempty"`
	Source   string   `json:"source"`
}

// Bounds of what the report has of counted lines, and from where counts and samples are said to disagree.
const (
	maxCountedFuncs = 500
	maxCountedLines = 5000 // of one function, with those that never ran
	manySamples     = 40   // of a function
	farApart        = 0.1  // of the function's time
	dear            = 0.3  // of a line's time that counting took
	worthSaying     = 0.05 // of the function's time in a line, and of its device time without a line
)

// functionKey is a function by file, first line and name.
type functionKey struct {
	file  string
	first int32
	name  string
}

// countedLines fills the functions whose lines were counted, processes added up, most time first.
func (b *Builder) countedLines() {
	sums := map[functionKey]map[int32]*model.CallLine{}
	cost := model.Dur(0)
	for _, calls := range b.S.Calls {
		cost = max(cost, calls.LineCost)
		for i := range calls.Lines {
			l := calls.Lines[i]
			key := functionKey{l.File, l.First, l.Function}
			if sums[key] == nil {
				sums[key] = map[int32]*model.CallLine{}
			}
			if sum := sums[key][l.Line]; sum != nil {
				sum.Hits += l.Hits
				sum.Time += l.Time
				continue
			}
			sums[key][l.Line] = &l
		}
	}
	starts := map[functionKey][]int32{}
	for key, lines := range sums {
		starts[key] = slices.Sorted(maps.Keys(lines))
	}
	sampled, device := b.sampledLines(starts), b.deviceLines(starts)
	for key, lines := range sums {
		b.R.CountedLines = append(b.R.CountedLines, b.countedFunc(key, lines, sampled[key], device[key], cost))
	}
	slices.SortFunc(b.R.CountedLines, func(x, y CountedFunc) int {
		return cmp.Or(cmp.Compare(y.TotalS, x.TotalS), cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line),
			cmp.Compare(x.Function, y.Function))
	})
	b.R.CountedLines = b.R.CountedLines[:min(len(b.R.CountedLines), maxCountedFuncs)]
}

// countedFunc makes one function's rows.
func (b *Builder) countedFunc(key functionKey, lines map[int32]*model.CallLine, sampled, device *lineTimes, cost model.Dur) CountedFunc {
	out := CountedFunc{File: CleanPath(key.file), Line: int(key.first), Function: key.name, Lines: []CountedLine{}, Notes: []string{}}
	total, last := model.Dur(0), int32(0)
	for n, l := range lines {
		total += l.Time
		last = max(last, n)
	}
	out.TotalS = total.Seconds()
	text := b.S.Sources[key.file]
	for _, n := range shownLines(text, key.first, last, lines) {
		row := CountedLine{Line: int(n)}
		if text != nil && n >= 1 && int(n) <= len(text.Lines) {
			row.Source = strings.ReplaceAll(strings.TrimRight(text.Lines[n-1], " \t\r"), "\t", "    ")
		}
		if l := lines[n]; l != nil {
			row.Hits, row.TimeS, row.Share = l.Hits, l.Time.Seconds(), float64(l.Time)/max(float64(total), 1)
		}
		if sampled != nil && sampled.ns[n] > 0 {
			share := sampled.ns[n] / sampled.all
			row.Sampled = &share
		}
		if device != nil && device.ns[n] > 0 {
			row.DeviceUs = new(device.ns[n] / 1e3)
		}
		out.Lines = append(out.Lines, row)
	}
	if sampled != nil {
		seconds := sampled.all / 1e9
		out.SampledS = &seconds
	}
	if cost > 0 {
		out.Notes = dearLines(out.Lines, cost, sampled != nil && sampled.count >= manySamples)
	}
	if device != nil {
		out.DeviceUs = new(device.all / 1e3)
		if left := device.all - device.known(); left > worthSaying*device.all {
			out.Notes = append(out.Notes, fmt.Sprintf("%s of its device time has no line: the trace has those of calls, and not those of "+
				"operators like a + b", units.Percent(left/device.all)))
		}
	}
	return out
}

// shownLines are those of a function from its first line to its end where the text is known, else those that ran.
func shownLines(text *model.Source, first, last int32, lines map[int32]*model.CallLine) (out []int32) {
	if text == nil || first < 1 || int(last) > len(text.Lines) || last-first > maxCountedLines {
		for n := range lines {
			out = append(out, n)
		}
		slices.Sort(out)
		return out[:min(len(out), maxCountedLines)]
	}
	base := indent(text.Lines[first-1])
	for int(last) < len(text.Lines) && last-first < maxCountedLines {
		next := text.Lines[last]
		if strings.TrimSpace(next) != "" && indent(next) <= base {
			break
		}
		last++
	}
	for last > first && strings.TrimSpace(text.Lines[last-1]) == "" {
		last--
	}
	for n := first; n <= last; n++ {
		out = append(out, n)
	}
	return out
}

// indent is how far a line is indented.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// dearLines says of lines whose counted time is mostly that of the counting what they take without it, and where the samples say
// something else.
func dearLines(lines []CountedLine, cost model.Dur, sampled bool) []string {
	out := []string{}
	all := 0.0 // without the counting
	counting := func(l *CountedLine) float64 { return min(float64(l.Hits)*cost.Seconds(), l.TimeS) }
	for i := range lines {
		all += lines[i].TimeS - counting(&lines[i])
	}
	for i := range lines {
		l := &lines[i]
		taken := counting(l)
		if l.Share < worthSaying || taken < dear*l.TimeS {
			continue
		}
		apart := ""
		if seen := pointed(l.Sampled); sampled && math.Abs(l.Share-seen) >= farApart {
			apart = fmt.Sprintf("%s counted, %s sampled; ", units.Percent(l.Share), units.Percent(seen))
		}
		text := fmt.Sprintf("line %d: %sabout %s of its %s are the counting itself (%s a hit), without which it would take %s of the "+
			"function's time", l.Line, apart, units.Seconds(taken), units.Seconds(l.TimeS), units.Seconds(cost.Seconds()),
			units.Percent((l.TimeS-taken)/max(all, 1e-9)))
		out = append(out, text)
	}
	return out
}

// pointed is a number that may be absent, 0 then.
func pointed(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

// lineTimes is time by the lines of a function, in nanoseconds. What has no line is in all only.
type lineTimes struct {
	ns    map[int32]float64
	all   float64
	count int
}

// known is the time that has a line.
func (f *lineTimes) known() (sum float64) {
	for _, ns := range f.ns {
		sum += ns
	}
	return sum
}

// sampledLines adds up the samples that stand in counted functions, whose statements start at these lines, once each; of a statement of
// several lines where it starts. Threads that wait for work are left out.
func (b *Builder) sampledLines(starts map[functionKey][]int32) map[functionKey]*lineTimes {
	out := map[functionKey]*lineTimes{}
	if len(starts) == 0 {
		return out
	}
	for _, p := range b.S.Processes {
		sm := &p.Samples
		period, classes := samplePeriod(b.S, sm), code.NewFrameClasses(b.S, p)
		counts := map[model.StackID]int{}
		for i := range min(sm.Len(), len(sm.Stack), len(sm.State), len(sm.Flags)) {
			if (SampleChoice{}).takes(sm, i) {
				counts[sm.Stack[i]]++
			}
		}
		for stack, n := range counts {
			seen := map[functionKey]bool{}
			classes.Walk(stack, func(id model.FrameID) bool {
				f := classes.Stacks.Frames[id]
				key := functionKey{b.S.Strings.Text(f.File), f.First, b.S.Strings.Text(f.Function)}
				if starts[key] != nil && !seen[key] {
					seen[key] = true
					out[key] = out[key].add(starts[key], f.Line, n, float64(n)*period)
				}
				return true
			})
		}
	}
	return out
}

// deviceLines is the device time that counted functions launched, a traced step; of functions within each other in each of them, and of
// one that calls itself in the innermost call.
func (b *Builder) deviceLines(starts map[functionKey][]int32) map[functionKey]*lineTimes {
	out := map[functionKey]*lineTimes{}
	named := map[string][]functionKey{}
	for key := range starts {
		named[key.name] = append(named[key.name], key)
	}
	steps := 0
	for _, t := range b.S.Traces {
		if len(starts) == 0 || !t.Features.Device || !t.Features.PythonStacks {
			continue
		}
		traced := counts.TracedSteps(b.S, t)
		steps += len(traced)
		device.LaunchCallers(t, b.S.Strings, func(work model.EventID, callers []device.Caller) {
			if times.Within(traced, t.Events.Start[t.Events.Link[work]]) < 0 {
				return
			}
			seen := map[functionKey]bool{}
			for _, c := range callers {
				for _, key := range named[c.Function] {
					if !seen[key] && key.first == c.Line && (key.file == c.File || strings.HasSuffix(key.file, "/"+c.File)) {
						seen[key] = true
						out[key] = out[key].add(starts[key], c.Running, 1, float64(t.Events.Dur[work]))
					}
				}
			}
		})
	}
	for _, f := range out {
		f.all /= float64(max(steps, 1))
		for n := range f.ns {
			f.ns[n] /= float64(max(steps, 1))
		}
	}
	return out
}

// add counts time in a line, or in the statement that it belongs to; line 0 is unknown.
func (f *lineTimes) add(starts []int32, line int32, count int, ns float64) *lineTimes {
	if f == nil {
		f = &lineTimes{ns: map[int32]float64{}}
	}
	i, found := slices.BinarySearch(starts, line)
	if !found {
		i--
	}
	f.count += count
	f.all += ns
	if i >= 0 {
		f.ns[starts[i]] += ns
	}
	return f
}
