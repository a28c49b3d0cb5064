package cause_test

import (
	"math"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	devices "bottleneck/internal/analyse/cause/traced"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/testkit"
)

// What a step waits for while the device computes is computing: nothing is saved by waiting elsewhere. Kernels that could be faster are
// named, and priced by that time.
func TestStepsThatWaitForTheDevice(t *testing.T) {
	const precise, fast = "ampere_sgemm_128x64_nn", "ampere_fp16_s16816gemm_fp16_128x64"
	for name, c := range map[string]struct {
		works        int
		sleeps       bool
		kernel       string
		gpu, sync    float64 // ms a step
		first        string
		low, highest float64 // of the first finding's saving
	}{
		"bound by the device":           {80, false, fast, 80, 0, finding.Compute, 0, 0},
		"bound by it, asleep":           {80, true, fast, 80, 0, finding.Compute, 0, 0},
		"in fp32":                       {80, false, precise, 80, 0, finding.Precision, 20, 80},
		"the device idles at the waits": {10, false, fast, 10, 70, finding.Sync, 1, 70},
	} {
		t.Run(name, func(t *testing.T) {
			p := testkit.OnDevice(c.works, c.sleeps, c.kernel)
			b := account.Of(p.S, account.Driver(p.S))
			per := func(id account.PartID) float64 { return b.Part(id) / float64(len(b.Windows)) / 1e6 }
			if math.Abs(per(account.PartGPUCompute)-c.gpu) > 0.05*c.gpu+1 || math.Abs(per(account.PartSync)-c.sync) > 0.05*c.sync+1 ||
				math.Abs(per(account.PartOps)-10) > 2 || math.Abs(per(account.PartPython)-10) > 2 {
				t.Errorf("%+v", b.Parts)
			}
			w := device.NewWork(p.S.Traces[0], p.S.Strings)
			on, ok := devices.NewTraced(w.GPUs(), device.Kernels(p.S.Traces, p.S.Strings), []devices.TracePart{devices.PartOf(w)})
			if !ok {
				t.Fatal("no device")
			}
			res := cause.Find(facts.NewFacts(p.S, b), on)
			if len(res.Findings) == 0 || len(res.Skipped) > 0 {
				t.Fatalf("%+v", res)
			}
			f := res.Findings[0]
			if f.Cause != c.first || f.Step.Mid > 0 && (f.Step.Mid/1e6 < c.low || f.Step.Mid/1e6 > c.highest) {
				t.Errorf("first %s saves %+v", f.Cause, f.Step)
			}
			a := &f.Fix.Action
			if c.first == finding.Precision && (a.Line != 39 || a.Code != `torch.set_float32_matmul_precision("high")`) {
				t.Errorf("change %+v", a)
			}
			if c.first == finding.Sync && f.Where.Line != 50 {
				t.Errorf("at %+v", f.Where)
			}
		})
	}
}

// A step whose device computes less lasts as long as its host needs: for its calls, and for waits that are not for the device.
func TestAHostThatWaitsForDataAsWell(t *testing.T) {
	layer := tracedOp{50, "aten::linear", "[[8, 100, 64], [64, 64]]", "", -1, nil}
	p := launched(layer, layer)
	b := account.Of(p.S, account.Driver(p.S))
	c := facts.NewFacts(p.S, b)
	near := func(got, want float64) bool { return math.Abs(got-want) < 3e6 }
	if got := c.FewerOnDevice(0.95, 0); !near(got, 90e6) {
		t.Errorf("with calls of 10 ms, %v of 95 ms are saved", got)
	}
	for i := range b.Parts {
		if b.Parts[i].ID == account.PartGPUCompute {
			b.Parts[i].ID, b.Parts[i].Time = account.PartDataWait, 0.4*b.Total
			b.Parts = append(b.Parts, account.Part{ID: account.PartGPUCompute, Time: 0.6 * b.Total})
			break
		}
	}
	if got := c.FewerOnDevice(0.95, 0); !near(got, 50e6) {
		t.Errorf("with waits of 40 ms beside, %v of 95 ms are saved", got)
	}
}
