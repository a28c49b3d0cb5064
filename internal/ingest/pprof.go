package ingest

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/google/pprof/profile"

	"bottleneck/internal/model"
)

// maxPprof bounds the text of a pprof profile, which is decoded as a whole.
const maxPprof = 256 << 20

// pprofUnits are units of pprof values in ns.
var pprofUnits = map[string]float64{"nanoseconds": 1, "microseconds": 1e3, "milliseconds": 1e6, "seconds": 1e9}

// pprofTimes are the sample types that say where time goes, the best first.
var pprofTimes = []string{"wall", "cpu", "time", "samples", "sample"}

// readPprof reads a pprof profile of time (github.com/google/pprof, protobuf or the older binary form): CPU, wall or
// samples. Profiles of other things (heap, allocations, contention) are named for what they are.
func readPprof(o *opening, src source, r io.Reader) (func() error, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxPprof+1))
	if err == nil && len(data) > maxPprof {
		err = fmt.Errorf("longer than %d MiB", maxPprof>>20)
	}
	var in *profile.Profile
	if err == nil {
		in, err = profile.ParseData(data)
	}
	if err != nil {
		return nil, &UnusableError{Path: src.path, Reason: "a pprof profile that cannot be read: " + err.Error(), err: err}
	}
	value := pprofValue(in)
	if value < 0 {
		return named("pprof", "it holds "+pprofTypes(in)+", no time")(o, src, r)
	}
	p := &stackProfile{}
	kind := in.SampleType[value]
	ns := pprofUnits[kind.Unit]
	if ns == 0 {
		p.period = 1
	} else if in.Period > 0 && in.PeriodType != nil && in.PeriodType.Unit == kind.Unit {
		p.period = float64(in.Period)
	}
	threads := map[string]*profileThread{}
	for _, sample := range in.Sample {
		if err := addPprof(p, threads, sample, value); err != nil {
			return nil, &UnusableError{Path: src.path, Reason: err.Error(), err: err}
		}
	}
	return addProfile(o, src, "pprof", p, ns)
}

// pprofValue is the index of the values that are times or counts of samples, -1 for none.
func pprofValue(in *profile.Profile) int {
	best, at := len(pprofTimes), -1
	for i, t := range in.SampleType {
		rank := slices.Index(pprofTimes, t.Type)
		if rank >= 0 && rank < best && (pprofUnits[t.Unit] > 0 || t.Unit == "count") {
			best, at = rank, i
		}
	}
	return at
}

func pprofTypes(in *profile.Profile) string {
	text := ""
	for i, t := range in.SampleType[:min(len(in.SampleType), 4)] {
		if i > 0 {
			text += ", "
		}
		text += t.Type + " in " + t.Unit
	}
	return cmp.Or(text, "nothing")
}

func addPprof(p *stackProfile, threads map[string]*profileThread, sample *profile.Sample, value int) error {
	name := ""
	for _, key := range []string{"thread", "thread_name", "thread name", "thread id", "thread_id"} {
		if v := sample.Label[key]; len(v) > 0 && name == "" {
			name = v[0]
		}
	}
	t := threads[name]
	if t == nil {
		t = p.thread(name)
		threads[name] = t
	}
	at := model.NoStack
	depth := 0
	for i := len(sample.Location) - 1; i >= 0 && depth < maxProfileDepth; i-- {
		l := sample.Location[i]
		if len(l.Line) == 0 {
			l.Line = []profile.Line{{Function: &profile.Function{Name: fmt.Sprintf("0x%x", l.Address), Filename: pprofObject(l)}}}
		}
		for k := len(l.Line) - 1; k >= 0; k-- { // inlined calls stand innermost first
			line := &l.Line[k]
			if line.Function == nil {
				continue
			}
			var err error
			frame := p.frame(line.Function.Name, line.Function.Filename, int32(line.Function.StartLine), int32(line.Line))
			if at, err = p.push(at, frame); err != nil {
				return err
			}
			depth++
		}
	}
	p.add(t, at, float64(sample.Value[value]))
	return nil
}

func pprofObject(l *profile.Location) string {
	if l.Mapping == nil {
		return ""
	}
	return l.Mapping.File
}
