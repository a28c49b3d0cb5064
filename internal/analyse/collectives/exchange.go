package collectives

import (
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// TransferShare is the part of the time in collectives on CPU threads in which all ranks are in the call: before it the first ranks
// wait for the last. It compares the same windows of every process's traces; ok is false where fewer than least calls can be.
func TransferShare(s *model.Session, of []*model.Process) (share float64, ok bool) {
	windows := map[int64][]*model.Trace{} // by their first step: ranks trace the same ones, and number their windows apart
	for _, t := range s.Traces {
		if t.Process < 0 || t.Process >= len(s.Processes) || !slices.Contains(of, s.Processes[t.Process]) {
			continue
		}
		if p := s.Processes[t.Process]; t.Window >= 0 && t.Window < len(p.Windows) {
			first := p.Windows[t.Window].FirstStep
			windows[first] = append(windows[first], t)
		}
	}
	const least = 4
	all, moved, n := 0.0, 0.0, 0
	for _, traces := range windows {
		if len(traces) < 2 || len(traces) != len(of) {
			continue
		}
		lists := make([][]Collective, len(traces))
		for i, t := range traces {
			lists[i] = hostCollectives(t, s.Strings)
		}
		calls := Match(lists)
		clocks := AlignClocks(Numbers(traces), calls)
		for _, m := range calls {
			last, _ := LastStart(m, clocks)
			n++
			for i := range m {
				dur := m[i].end.Sub(m[i].start)
				all += float64(dur)
				moved += float64(dur - min(dur, max(0, last.Sub(m[i].start-model.Time(clocks[i].Offset)))))
			}
		}
	}
	if n < least || all <= 0 {
		return 0, false
	}
	return moved / all, true
}

// Exchange is what a step sends in collectives that run on CPU threads, as the traced steps have it.
type Exchange struct {
	Steps  int     // traced steps
	Calls  float64 // per step
	Bytes  float64 // of a call's tensors, on average; 0 where the trace knows none
	Hidden float64 // ns per step in which other operators run meanwhile
}

// ExchangeOf counts the accounted process's collectives on CPU threads in its traced steps.
func ExchangeOf(s *model.Session, b *account.Breakdown) (e Exchange) {
	lists, computing := map[*model.Trace][]Collective{}, map[*model.Trace]stats.Set{}
	known := 0.0
	for _, st := range account.TracedSteps(s, b) {
		list, done := lists[st.Trace]
		if !done {
			list = hostCollectives(st.Trace, s.Strings)
			lists[st.Trace], computing[st.Trace] = list, hostCompute(st.Trace, s.Strings)
		}
		e.Steps++
		for _, call := range list {
			if call.start < st.Start || call.start >= st.End {
				continue
			}
			e.Calls++
			e.Hidden += float64(computing[st.Trace].LenIn(stats.Interval{From: int64(call.start), To: int64(call.end)}))
			if call.call.bytes >= 0 {
				e.Bytes += float64(call.call.bytes)
				known++
			}
		}
	}
	e.Calls /= max(float64(e.Steps), 1)
	e.Hidden /= max(float64(e.Steps), 1)
	e.Bytes /= max(known, 1)
	return e
}

// Meeting is how many of the ranks are in collectives at a time, over the accounted steps.
type Meeting struct {
	In []float64 // share of the time with exactly so many ranks in a collective, from none to all
}

// MeetingOf compares what the ranks of one host do at the same moments: one sampler takes the samples of all of them in one go. Unlike
// traced steps, these have nothing of a window's start, which ranks do not reach together. ok is false for ranks of several hosts, and
// where too few moments show all ranks.
func MeetingOf(of []*account.Breakdown) (m Meeting, ok bool) {
	if len(of) < 2 || slices.ContainsFunc(of, func(b *account.Breakdown) bool {
		return len(b.Samples) == 0 || b.Process.Host != of[0].Process.Host
	}) {
		return m, false
	}
	period := 0.0
	for i := range of[0].Samples {
		period += of[0].Samples[i].Weight
	}
	near := model.Time(period / float64(len(of[0].Samples)) / 4)
	counts := make([]int, len(of)+1)
	moments := 0
	next := make([]int, len(of))
	for i := range of[0].Samples {
		at, in, all := sampled(of[0], i), 0, true
		for k, b := range of {
			for next[k] < len(b.Samples)-1 && distance(sampled(b, next[k]+1), at) <= distance(sampled(b, next[k]), at) {
				next[k]++
			}
			all = all && distance(sampled(b, next[k]), at) <= near
			if b.Samples[next[k]].Part == account.PartComm {
				in++
			}
		}
		if all {
			moments++
			counts[in]++
		}
	}
	if moments < account.MinRestSamples {
		return m, false
	}
	for _, n := range counts {
		m.In = append(m.In, float64(n)/float64(moments))
	}
	return m, true
}

// sampled is when the i-th attributed sample was taken.
func sampled(b *account.Breakdown, i int) model.Time {
	return b.Process.Samples.Time[b.Samples[i].Index]
}

func distance(a, b model.Time) model.Time { return max(a-b, b-a) }
