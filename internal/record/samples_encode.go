package record

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"bottleneck/internal/model"
)

// Field numbers of the messages that are written and read (opentelemetry/proto/profiles/v1development/profiles.proto,
// common.proto, resource.proto).
const (
	dataResources, dataDictionary                             = 1, 2
	resProfilesResource, resProfilesScopes                    = 1, 2
	scopeProfilesScope, scopeProfilesProfiles                 = 1, 2
	scopeName, scopeVersion                                   = 1, 2
	resourceAttributes                                        = 1
	dictMappings, dictLocations, dictFunctions, dictLinks     = 1, 2, 3, 4
	dictStrings, dictAttributes, dictStacks                   = 5, 6, 7
	profileType, profileSamples, profileTime, profileDuration = 1, 2, 3, 4
	profilePeriodType, profilePeriod, profileAttributes       = 5, 6, 11
	sampleStack, sampleAttributes, sampleValues, sampleTimes  = 1, 2, 4, 5
	stackLocations                                            = 1
	locationLines, locationAttributes                         = 3, 4
	lineFunction, lineLine                                    = 1, 2
	functionName, functionFile, functionStart                 = 1, 3, 4
	typeType, typeUnit                                        = 1, 2
	keyValueKey, keyValueValue                                = 1, 2
	anyString, anyBool, anyInt, anyDouble, anyArray           = 1, 2, 3, 4, 5
	arrayValues                                               = 1
	wireVarint, wireFixed64, wireBytes                        = protowire.VarintType, protowire.Fixed64Type, protowire.BytesType
)

func floatBits(f float64) uint64 { return math.Float64bits(f) }

func putInt(b []byte, field protowire.Number, v int64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, wireVarint), uint64(v))
}

func putFixed(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, wireFixed64), v)
}

func putBytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, wireBytes), v)
}

func putString(b []byte, field protowire.Number, v string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, wireBytes), v)
}

func putPacked(b []byte, field protowire.Number, v []int32) []byte {
	if len(v) == 0 {
		return b
	}
	var body []byte
	for _, x := range v {
		body = protowire.AppendVarint(body, uint64(x))
	}
	return putBytes(b, field, body)
}

// anyValue encodes an AnyValue.
func anyValue(v any) []byte {
	var b []byte
	switch x := v.(type) {
	case string:
		return putString(b, anyString, x)
	case bool:
		return protowire.AppendVarint(protowire.AppendTag(b, anyBool, wireVarint), protowire.EncodeBool(x))
	case int64:
		return protowire.AppendVarint(protowire.AppendTag(b, anyInt, wireVarint), uint64(x))
	case float64:
		return putFixed(b, anyDouble, floatBits(x))
	case []string:
		var list []byte
		for _, s := range x {
			list = putBytes(list, arrayValues, anyValue(s))
		}
		return putBytes(b, anyArray, list)
	}
	return b
}

// encoder builds one ProfilesData with its dictionary.
type encoder struct {
	c          *SampleChunk
	strings    [][]byte
	stringAt   map[string]int32
	functions  [][]byte
	functionAt map[SampleFrame]int32
	locations  [][]byte
	locationAt map[int32]int32 // frame of the table to location
	stacks     [][]byte
	stackAt    map[int32]int32
	attributes [][]byte
	attrAt     map[attribute]int32
	timesBuf   []byte
}

type attribute struct {
	key string
	val any
}

// encode appends the chunk as ProfilesData. Entry 0 of every table is the empty one, as the schema asks.
func (c *SampleChunk) encode(out []byte) []byte {
	e := &encoder{c: c, stringAt: map[string]int32{"": 0}, functionAt: map[SampleFrame]int32{}, locationAt: map[int32]int32{},
		stackAt: map[int32]int32{}, attrAt: map[attribute]int32{}}
	e.strings, e.functions, e.locations = [][]byte{nil}, [][]byte{nil}, [][]byte{nil}
	e.stacks, e.attributes = [][]byte{nil}, [][]byte{nil}
	for _, p := range c.procs {
		out = putBytes(out, dataResources, e.process(p))
	}
	return putBytes(out, dataDictionary, e.dictionary())
}

func (e *encoder) dictionary() []byte {
	b := putBytes(nil, dictMappings, nil)
	for _, t := range []struct {
		field protowire.Number
		rows  [][]byte
	}{{dictLocations, e.locations}, {dictFunctions, e.functions}, {dictLinks, [][]byte{nil}}, {dictStrings, e.strings},
		{dictAttributes, e.attributes}, {dictStacks, e.stacks}} {
		for _, r := range t.rows {
			b = putBytes(b, t.field, r)
		}
	}
	return b
}

func (e *encoder) process(p *ProcessSamples) []byte {
	s := &p.Process
	var r []byte
	add := func(key string, v any) {
		kv := putBytes(putString(nil, keyValueKey, key), keyValueValue, anyValue(v))
		r = putBytes(r, resourceAttributes, kv)
	}
	add(attrSchema, SampleSchema)
	add(attrHost, s.Host)
	add(attrPID, int64(s.PID))
	add(attrPPID, int64(s.PPID))
	add(attrTicks, s.StartTicks)
	add(attrRole, string(s.Role))
	add(attrRank, int64(s.Rank))
	add(attrLocalRank, int64(s.LocalRank))
	add(attrWorld, int64(s.WorldSize))
	add(attrWorker, int64(s.WorkerIndex))
	if s.Listens != model.ListeningUnknown {
		add(attrListens, int64(s.Listens))
	}
	add(attrArgs, s.Args)
	add(attrExecutable, s.Executable)
	add(attrRuntime, s.Python)
	add(attrMono, e.c.mono)
	add(attrUnix, e.c.unix)
	scope := putBytes(nil, scopeProfilesScope, putString(nil, scopeName, "bottleneck"))
	scope = putBytes(scope, scopeProfilesProfiles, e.profile(p))
	return putBytes(putBytes(nil, resProfilesResource, r), resProfilesScopes, scope)
}

func (e *encoder) profile(p *ProcessSamples) []byte {
	kind := func(typ, unit string) []byte {
		return putInt(putInt(nil, typeType, int64(e.str(typ))), typeUnit, int64(e.str(unit)))
	}
	b := putBytes(nil, profileType, kind("samples", "count"))
	for i := range p.groups {
		b = e.group(b, p, &p.groups[i])
	}
	b = putFixed(b, profileTime, uint64(p.Counts.FromNS))
	b = putInt(b, profileDuration, p.Counts.DurNS)
	b = putBytes(b, profilePeriodType, kind("wall", "nanoseconds"))
	if p.Counts.AskedHz > 0 {
		b = putInt(b, profilePeriod, int64(1e9/p.Counts.AskedHz))
	}
	return putPacked(b, profileAttributes, []int32{e.attr(attrHz, p.Counts.AskedHz), e.attr(attrWakes, p.Counts.Snapshots),
		e.attr(attrLate, p.Counts.Late), e.attr(attrFailed, p.Counts.Failed)})
}

// group appends the samples of one thread in one place: one message with all single times, and one for each run.
func (e *encoder) group(b []byte, p *ProcessSamples, g *sampleGroup) []byte {
	attrs := []int32{e.attr(attrThread, int64(g.thread)), e.attr(attrState, StateWord(g.state))}
	if t := p.threads[g.thread]; t != nil && t.name != "" {
		attrs = append(attrs, e.attr(attrThreadName, t.name))
	}
	if g.flags != 0 {
		attrs = append(attrs, e.attr(attrFlags, int64(g.flags)))
	}
	stack := e.stack(g.stack)
	times := g.times
	for _, r := range g.runs {
		if r.n <= 2 {
			times = append(times, r.first)
			if r.n == 2 {
				times = append(times, r.last)
			}
			continue
		}
		b = putBytes(b, profileSamples, e.sample(stack, append(attrs, e.attr(attrRun, true)), []int64{r.first, r.last}, r.n))
	}
	if len(times) == 0 {
		return b
	}
	return putBytes(b, profileSamples, e.sample(stack, attrs, times, 0))
}

// sample encodes one Sample. A run has two times and its count as value; otherwise every time stands for one sample.
func (e *encoder) sample(stack int32, attrs []int32, times []int64, n int64) []byte {
	b := putInt(nil, sampleStack, int64(stack))
	b = putPacked(b, sampleAttributes, attrs)
	if n > 0 {
		b = putBytes(b, sampleValues, protowire.AppendVarint(protowire.AppendVarint(nil, uint64(n-1)), 1))
	}
	e.timesBuf = e.timesBuf[:0]
	for _, t := range times {
		e.timesBuf = protowire.AppendFixed64(e.timesBuf, uint64(t))
	}
	return putBytes(b, sampleTimes, e.timesBuf)
}

func (e *encoder) str(s string) int32 {
	i, ok := e.stringAt[s]
	if !ok {
		i = int32(len(e.strings))
		e.stringAt[s] = i
		e.strings = append(e.strings, []byte(s))
	}
	return i
}

func (e *encoder) attr(key string, val any) int32 {
	a := attribute{key, val}
	i, ok := e.attrAt[a]
	if !ok {
		i = int32(len(e.attributes))
		e.attrAt[a] = i
		e.attributes = append(e.attributes, putBytes(putInt(nil, keyValueKey, int64(e.str(key))), keyValueValue, anyValue(val)))
	}
	return i
}

func (e *encoder) stack(s int32) int32 {
	if s < 0 {
		return 0
	}
	i, ok := e.stackAt[s]
	if !ok {
		var locs []int32
		for at := s; at >= 0; at = e.c.stacks.parent[at] {
			locs = append(locs, e.location(e.c.stacks.frame[at]))
		}
		i = int32(len(e.stacks))
		e.stackAt[s] = i
		e.stacks = append(e.stacks, putPacked(nil, stackLocations, locs))
	}
	return i
}

func (e *encoder) location(frame int32) int32 {
	i, ok := e.locationAt[frame]
	if !ok {
		f := e.c.stacks.frames[frame]
		line := putInt(putInt(nil, lineFunction, int64(e.function(f))), lineLine, int64(f.Line))
		b := putBytes(nil, locationLines, line)
		if f.Native {
			b = putPacked(b, locationAttributes, []int32{e.attr(attrNative, true)})
		}
		i = int32(len(e.locations))
		e.locationAt[frame] = i
		e.locations = append(e.locations, b)
	}
	return i
}

func (e *encoder) function(f SampleFrame) int32 {
	f.Line, f.Native = 0, false
	i, ok := e.functionAt[f]
	if !ok {
		b := putInt(nil, functionName, int64(e.str(f.Function)))
		b = putInt(b, functionFile, int64(e.str(f.File)))
		i = int32(len(e.functions))
		e.functionAt[f] = i
		e.functions = append(e.functions, putInt(b, functionStart, int64(f.First)))
	}
	return i
}

// chunk makes a batch that was read ready to be written again.
func (b *SampleBatch) chunk() *SampleChunk {
	table := NewStackTable()
	stacks := make([]int32, len(b.Stacks))
	for i, frames := range b.Stacks {
		stacks[i] = -1
		for k := len(frames) - 1; k >= 0; k-- {
			if at := frames[k]; at > 0 && int(at) < len(b.Locations) { // 0 is the empty one
				stacks[i] = table.Push(stacks[i], table.Frame(b.Locations[at]))
			}
		}
	}
	p := &ProcessSamples{Process: b.Process, Counts: b.Counts, threads: map[int32]*threadRun{}}
	for i := range b.Samples {
		s := &b.Samples[i]
		g := sampleGroup{groupKey: groupKey{s.Thread, stacks[s.Stack], s.State, s.Flags}}
		if s.N > 0 {
			g.runs = []run{{s.Times[0], s.Times[1], s.N}}
		} else {
			g.times = s.Times
		}
		p.groups = append(p.groups, g)
		if s.Name != "" {
			p.threads[s.Thread] = &threadRun{name: s.Name}
		}
	}
	return &SampleChunk{stacks: *table, procs: []*ProcessSamples{p}, unix: b.Unix, mono: b.Mono}
}
