package usage

import "bottleneck/internal/model"

// Use is what a process used while another one, or itself, took its steps, as long as no profiler recorded there: per step.
type Use struct {
	Steps                    float64 // that were seen
	User, System             float64 // ns
	MinorFaults, MajorFaults float64
	Read, Written            *float64 // bytes from and to disks; nil unknown
	Waits, Pushed            *float64 // times that the first thread left its core to wait, and for others; nil unknown
}

// PerStep tells what a process used in each of a driver's steps of a kind, after the warm-up. ok is false where too little was seen. Times
// of the two processes must be of one clock.
func PerStep(p, driver *model.Process, kind model.Str) (out Use, ok bool) {
	plain, _ := intervalsOf(p.Usage, driver, kind)
	for i := range plain {
		out.Steps += plain[i].steps
	}
	if len(plain) < pagingLooks || out.Steps < pagingSteps {
		return Use{}, false
	}
	each := func(of func(*model.Usage) int64) float64 {
		sum := int64(0)
		for i := range plain {
			sum += of(plain[i].b) - of(plain[i].a)
		}
		return max(float64(sum)/out.Steps, 0)
	}
	first, last := plain[0].a, plain[len(plain)-1].b
	out.User = each(func(u *model.Usage) int64 { return int64(u.User) })
	out.System = each(func(u *model.Usage) int64 { return int64(u.System) })
	out.MinorFaults = each(func(u *model.Usage) int64 { return u.MinorFaults })
	out.MajorFaults = each(func(u *model.Usage) int64 { return u.MajorFaults })
	if first.Read >= 0 && last.Read >= 0 {
		read := each(func(u *model.Usage) int64 { return u.Read })
		written := each(func(u *model.Usage) int64 { return u.Written })
		out.Read, out.Written = &read, &written
	}
	if first.First != nil && last.First != nil {
		waits := each(func(u *model.Usage) int64 { return ofFirst(u).Waits })
		pushed := each(func(u *model.Usage) int64 { return ofFirst(u).Pushed })
		out.Waits, out.Pushed = &waits, &pushed
	}
	return out, true
}

func ofFirst(u *model.Usage) model.ThreadUse {
	if u.First == nil {
		return model.ThreadUse{}
	}
	return *u.First
}
