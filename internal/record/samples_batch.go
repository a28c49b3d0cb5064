package record

import (
	"encoding/binary"

	"bottleneck/internal/model"
)

// batch decodes a ResourceProfiles.
func (d *dictionary) batch(b []byte) (*SampleBatch, error) {
	out := &SampleBatch{Locations: d.locations, Stacks: d.stacks}
	out.Process.Rank, out.Process.WorkerIndex = model.NoRank, -1
	err := fields(b, func(x field) error {
		switch x.num {
		case resProfilesResource:
			return fields(x.body, func(y field) error { return d.resource(out, y) })
		case resProfilesScopes:
			return fields(x.body, func(y field) error {
				if y.num != scopeProfilesProfiles {
					return nil
				}
				return d.profile(out, y.body)
			})
		}
		return nil
	})
	out.InconsistIDs = d.bad
	return out, err
}

func (d *dictionary) resource(out *SampleBatch, y field) error {
	if y.num != resourceAttributes {
		return nil
	}
	var key string
	var val any
	err := fields(y.body, func(z field) error {
		switch z.num {
		case keyValueKey:
			key = string(z.body)
		case keyValueValue:
			val = decodeAny(z.body)
		}
		return nil
	})
	p := &out.Process
	switch v := val.(type) {
	case string:
		if to := map[string]*string{attrHost: &p.Host, attrExecutable: &p.Executable, attrRuntime: &p.Python,
			attrRole: (*string)(&p.Role)}[key]; to != nil {
			*to = v
		}
	case []string:
		if key == attrArgs {
			p.Args = v
		}
	case int64:
		if key == attrListens && (v == int64(model.ListensYes) || v == int64(model.ListensNo)) {
			p.Listens = model.Listening(v)
		}
		if to := map[string]*int{attrPID: &p.PID, attrPPID: &p.PPID, attrRank: &p.Rank, attrLocalRank: &p.LocalRank,
			attrWorld: &p.WorldSize, attrWorker: &p.WorkerIndex}[key]; to != nil {
			*to = int(v)
		}
		if to := map[string]*int64{attrTicks: &p.StartTicks, attrMono: &out.Mono, attrUnix: &out.Unix}[key]; to != nil {
			*to = v
		}
	}
	return err
}

func (d *dictionary) profile(out *SampleBatch, b []byte) error {
	return fields(b, func(x field) error {
		switch x.num {
		case profileSamples:
			if len(out.Samples) >= maxSampleRows {
				return ErrSamplesDamaged
			}
			return d.sample(out, x.body)
		case profileTime:
			out.Counts.FromNS = int64(x.u)
		case profileDuration:
			out.Counts.DurNS = int64(x.u)
		case profileAttributes:
			for _, i := range ints(nil, x) {
				d.count(&out.Counts, i)
			}
		}
		return nil
	})
}

func (d *dictionary) count(c *SampleCounts, i int64) {
	if i < 0 || i >= int64(len(d.attributes)) {
		d.bad++
		return
	}
	a := d.attributes[i]
	switch v := a.val.(type) {
	case float64:
		if a.key == attrHz {
			c.AskedHz = v
		}
	case int64:
		switch a.key {
		case attrWakes:
			c.Snapshots = v
		case attrLate:
			c.Late = v
		case attrFailed:
			c.Failed = v
		}
	}
}

func (d *dictionary) sample(out *SampleBatch, b []byte) error {
	s := StoredSample{}
	var values []int64
	isRun := false
	err := fields(b, func(x field) error {
		switch x.num {
		case sampleStack:
			s.Stack = int32(x.u)
		case sampleValues:
			values = ints(values, x)
		case sampleTimes:
			if x.typ == wireFixed64 {
				s.Times = append(s.Times, int64(x.u))
			}
			for t := x.body; len(t) >= 8; t = t[8:] {
				s.Times = append(s.Times, int64(binary.LittleEndian.Uint64(t)))
			}
		case sampleAttributes:
			for _, i := range ints(nil, x) {
				isRun = d.sampleAttribute(&s, i) || isRun
			}
		}
		return nil
	})
	if s.Stack < 0 || int(s.Stack) >= len(d.stacks) {
		d.bad++
		return err
	}
	if isRun && len(s.Times) == 2 {
		for _, v := range values {
			s.N += v
		}
		s.N = min(max(s.N, 2), maxSampleRun)
	}
	out.Samples = append(out.Samples, s)
	return err
}

// sampleAttribute applies one attribute and says whether it marks a run.
func (d *dictionary) sampleAttribute(s *StoredSample, i int64) bool {
	if i < 0 || i >= int64(len(d.attributes)) {
		d.bad++
		return false
	}
	a := d.attributes[i]
	switch v := a.val.(type) {
	case int64:
		switch a.key {
		case attrThread:
			s.Thread = int32(v)
		case attrFlags:
			s.Flags = uint8(v)
		}
	case string:
		switch a.key {
		case attrState:
			s.State = stateOf(v)
		case attrThreadName:
			s.Name = v
		}
	case bool:
		return a.key == attrRun && v
	}
	return false
}

// EachTime calls f with the time of every sample.
func (s *StoredSample) EachTime(f func(unixNS int64)) {
	if s.N == 0 {
		for _, t := range s.Times {
			f(t)
		}
		return
	}
	first, span := s.Times[0], s.Times[1]-s.Times[0]
	for i := int64(0); i < s.N; i++ {
		f(first + int64(float64(span)*float64(i)/float64(s.N-1)))
	}
}
