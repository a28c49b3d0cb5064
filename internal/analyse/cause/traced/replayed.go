package traced

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/wording"
)

// PriceByReplay is false where no replay can know the finding's price. A removal may take away more than the finding is about; its
// price is at most the finding's own time.
func PriceByReplay(f *finding.Finding, t *Traced, r *replay.Session) bool {
	if f.Healthy || f.Sub != "" || f.Run.High <= 0 {
		return false
	}
	if of := classesOf(f.Cause); of != nil {
		return priceKernels(f, t, r, of)
	}
	removal, ok := r.Removal(f.Cause)
	if !ok {
		return false
	}
	before, after, err := r.Price(removal)
	if err != nil || before <= 0 {
		return false
	}
	price, own := max(1-after/before, 0)*t.replayed(r, before), f.Share*t.Span
	if own <= 0 {
		return false
	}
	gone := min(price, own)
	f.Run = f.Run.Scale(gone / own)
	f.Run.High = max(f.Run.High, gone) // at best the fix ends all that the removal does
	if price <= own {
		f.Evidence = append(f.Evidence, wording.Say("traced.replayed-without", wording.Time("saved", before-after),
			wording.Time("after", after), wording.Time("before", before)))
	}
	return true
}

// replayed is the time that a replay's savings are a share of, ns: that of the replayed steps, which may be much longer than the
// devices were traced for, or that of the devices, of whose steps a report replays the last ones.
func (t *Traced) replayed(r *replay.Session, step float64) float64 {
	return max(t.Span, step*float64(len(r.StepNumbers())*len(t.GPUs)))
}

// priceKernels sets a finding's price to what a replay with faster kernels of its classes saves. Where the device waits for the program
// that launches, faster kernels only let it wait longer: a step takes at least as long as the program needs to launch it.
func priceKernels(f *finding.Finding, t *Traced, r *replay.Session, of []naming.KernelClass) bool {
	time := t.ClassTime(of) * t.alone()
	if time <= 0 {
		return false
	}
	step := 0.0
	saving := func(saved float64, with replay.Change) (ns, after float64, ok bool) { // with so many ns of the kernels saved
		faster, ok := r.KernelsOf(of, max(1-saved/time, 0))
		if !ok {
			return 0, 0, false
		}
		recorded, before, err := r.Price(with)
		if err != nil || recorded <= 0 {
			return 0, 0, false
		}
		step = recorded
		if _, after, err = r.Price(with.And(faster)); err != nil {
			return 0, 0, false
		}
		return min(max((before-after)/recorded, 0)*t.replayed(r, recorded), saved), after, true
	}
	wanted := finding.Bounds(f.Run.Low/t.Busy, f.Run.Mid/t.Busy, f.Run.High)
	mid, after, ok := saving(wanted.Mid, replay.Change{})
	if !ok {
		return false
	}
	low, _, _ := saving(wanted.Low, replay.Change{})
	high, _, _ := saving(wanted.High, replay.Change{Scale: []replay.Scale{{Name: "cpu", Factor: price.TracedHost.Mid}}})
	f.Run = finding.Bounds(min(low, mid), mid, max(mid, high))
	f.Evidence = append(f.Evidence, wording.Say("traced.replayed-shorter", wording.Time("saved", step-after),
		wording.Time("shorter", wanted.Mid), wording.Time("after", after), wording.Time("before", step)))
	if mid < 0.5*wanted.Mid {
		f.Evidence = append(f.Evidence, wording.Say("traced.rest-waits"))
		f.Caveat = append(f.Caveat, wording.Say("traced.caveat-launches"))
	}
	return true
}
