package input

import (
	"regexp"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// sleepCall matches a line that sleeps for a set time, for where the kernel did not say what a thread sleeps for.
var sleepCall = regexp.MustCompile(`\bsleep\s*\(`)

// setTime says that a blocked sample sleeps for a set time: nobody ends that sleep, so nobody is waited for.
func setTime(c *facts.Facts, a *account.Attributed) bool {
	flags := c.P.Samples.Flags[a.Index]
	if flags&(model.SampleTimedSleep|model.SampleOwnLock) != 0 {
		return flags&model.SampleTimedSleep != 0
	}
	info := c.C.Info(c.P.Samples.Stack[a.Index])
	if !info.UserLeaf {
		return false
	}
	fr := c.C.Stacks.Frames[info.User]
	return sleepCall.MatchString(c.Source(c.Text(fr.File), int(fr.Line)))
}

// findSleep names sleeps of the step for set times. What works meanwhile is told, but not said to be waited for.
func findSleep(c *facts.Facts) []finding.Draft {
	f, sp, ok := blockedDraft(c, "sleep", func(a *account.Attributed) bool { return setTime(c, a) })
	if !ok {
		return nil
	}
	f.Title = wording.Say("input.title-sleep", wording.With("share", c.ShareOf(f.Share, sp.Members)))
	t := c.PerStep(sp.Unit)
	alone := 1 - c.OthersWork(sp.Members)
	f.Step = f.By(price.Sleep).Times(t)
	f.Step.Low, f.Step.Mid = f.Step.Low*alone, f.Step.Mid*alone
	f.Run = c.OverRun(f.Step)
	f.Evidence = []wording.Text{wording.Say("input.asleep", wording.Time("off", t), c.Said(), wording.Named("in", finding.In(f.Where)))}
	f.Fix.Advice = []wording.Text{wording.Say("input.fix-sleep")}
	f.Caveat = []wording.Text{wording.Say("input.caveat-sleep")}
	if o, ok := c.WaitedFor(sp.Members); ok && o.Asleep < 0.5 {
		f.Evidence = append(f.Evidence, wording.Say("input.meanwhile", wording.Count("samples", o.Samples),
			wording.Named("side", o.Process), wording.Named("in", finding.In(o.Place))))
	}
	c.AtLoop(&f.Finding, sp.Members)
	return []finding.Draft{f}
}
