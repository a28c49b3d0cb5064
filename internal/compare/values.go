package compare

import "bottleneck/internal/report"

// Values judges one kind of time that was measured in turns, in milliseconds, as Diff judges the runs of ab: by pairs, with an interval
// that holds whenever the turns end.
func Values(before, after []float64) *report.Diff {
	d := &report.Diff{InTurns: &report.DiffTurns{Pairs: min(len(before), len(after)), Level: meanLevel}}
	judge(d, timesOf(before), timesOf(after), inTurns)
	return d
}

func timesOf(ms []float64) []timed {
	out := make([]timed, len(ms))
	for i := range ms {
		out[i].Ms = ms[i]
	}
	return out
}
