package analyse

import (
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

func TestTablesCloseOnRealTraces(t *testing.T) {
	slowtrace.OnReal(t, func(t *testing.T, trace *model.Trace, s *model.Strings) {
		for _, p := range account.StepPartsOf(trace, s) {
			var sum model.Dur
			for _, d := range p.Parts {
				sum += d
			}
			if sum != p.End.Sub(p.Start) || p.Parts[account.StepOther] < 0 {
				t.Errorf("step %d: parts sum to %v of %v", p.Number, sum, p.End.Sub(p.Start))
			}
		}
		var kernels, events, streams model.Dur
		for i := range trace.Events.Len() {
			if trace.Events.Kind[i].Device() {
				events += trace.Events.Dur[i]
			}
		}
		for _, k := range device.Kernels([]*model.Trace{trace}, s) {
			kernels += k.Dur
			if k.Min > k.Mean() || k.Mean() > k.Max {
				t.Errorf("%s: min %d, mean %d, max %d", k.Name, k.Min, k.Mean(), k.Max)
			}
		}
		for _, st := range device.Streams(trace, s) {
			streams += st.Busy
		}
		if kernels != events || streams != events {
			t.Errorf("events %d, kernels %d, streams %d", events, kernels, streams)
		}
		for _, c := range device.Copies(trace, s) {
			if c.Exposed < 0 || c.Exposed > c.Dur {
				t.Errorf("%+v", c)
			}
		}
	})
}
