package input

import (
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/pysource"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// inputOfSelf looks at the samples of the driving thread inside its data waits: without workers it fetches itself.
func inputOfSelf(c *facts.Facts, v *inputView) {
	sm := &c.P.Samples
	v.cls = c.C
	queued, all := 0, 0.0
	// What leads to the DataLoader, or where there is none to the loop's own line, belongs to the trainer, not to the data set.
	chains := facts.ChainsInside(loaderFile, c.C, sm, c.B.Samples, func(_ int, a *account.Attributed) bool {
		return a.Part == account.PartDataWait && v.waitsAt(sm.Time[a.Index])
	})
	inner := make([]facts.Chain, 0, len(chains))
	for _, ch := range chains {
		i := c.B.Samples[ch.Index].Index
		all += ch.Weight
		if !fetchesItself(c.C, sm.Stack[i]) && facts.Sleeping(sm, i) && c.C.Info(sm.Stack[i]).Acts&code.ActQueue != 0 {
			queued++
		}
		k := 0
		for k < len(ch.Frames) && c.Drivers[facts.KeyOf(&ch.Frames[k])] {
			k++
		}
		ch.Frames = ch.Frames[k:]
		inner = append(inner, ch)
		v.see(c.C, sm, i, ch)
	}
	v.settle(inner, nil, all)
	v.queued = float64(queued) / float64(max(v.samples, 1))
	v.maker, v.served = makes(c, v)
}

// inputOfWorkers looks at what the workers did while they fetched.
func inputOfWorkers(c *facts.Facts, v *inputView) {
	var chains []facts.Chain
	all, fetches, fetchTime := 0.0, 0.0, 0.0
	for _, w := range v.serving {
		fetches += float64(len(w.Fetches))
		fetchTime += w.Mean * float64(len(w.Fetches))
		got := facts.ChainsOf(w.Cls, &w.P.Samples, w.Samples, func(int, *account.Attributed) bool { return true })
		for _, ch := range got {
			v.see(w.Cls, &w.P.Samples, w.Samples[ch.Index].Index, ch)
		}
		chains = append(chains, got...)
		all += facts.Sum(got)
		v.cls = w.Cls
	}
	if fetches > 0 {
		v.fetch = fetchTime / fetches
	}
	v.uneven()
	slices.Sort(v.asks)
	v.settle(chains, facts.WorkerMains(chains), all)
	v.maker, v.served = makes(c, v)
}

// see counts one sample of the fetch.
func (v *inputView) see(cls *code.FrameClasses, sm *model.Samples, i int, ch facts.Chain) {
	v.samples++
	if facts.Sleeping(sm, i) {
		v.asleep = append(v.asleep, ch)
	} else {
		v.awake = append(v.awake, ch)
	}
	if released(sm, i) {
		v.native++
	}
	if sm.State[i] == model.StateCPU && sm.Flags[i]&model.SampleRunsPython != 0 && sm.Flags[i]&model.SampleInNative == 0 &&
		cls.Info(sm.Stack[i]).UserLeaf {
		v.plain = append(v.plain, ch)
	}
	cls.Walk(sm.Stack[i], func(fr model.FrameID) bool {
		v.leaves[facts.KeyOf(&cls.Stacks.Frames[fr])] += ch.Weight
		return false
	})
	v.pictures.see(cls, sm.Stack[i], ch)
	if inArchive(cls, sm.Stack[i]) {
		v.unpacked++
	}
	if (v.loader == nil || !v.loader.Iterable) && collates(cls, sm.Stack[i]) {
		v.collated++
	}
	if asks(cls, sm, i) {
		v.asks = append(v.asks, sm.Time[i])
	}
}

// settle turns the counts of samples into shares and finds the place with most of the fetch.
func (v *inputView) settle(chains []facts.Chain, mains map[facts.FuncKey]bool, all float64) {
	if v.samples < facts.MinSamples {
		return // chance
	}
	n := float64(v.samples)
	v.blocked, v.native, v.unpacked, v.collated, v.mains = float64(len(v.asleep))/n, v.native/n, v.unpacked/n, v.collated/n, mains
	if v.hot, v.hotOK = facts.Hottest(chains, mains); all > 0 {
		v.hotPart = v.hot.Unit / all
	}
	v.all = all
}

// freed is the share of the fetch in which what the hot function made is let go. CPython takes a function's frame off the stack before it
// clears its variables, so that samples see this at the line that called it. In the zoo's programs it was 4 to 6 % of a fetch, and went
// with the function.
func (v *inputView) freed() float64 {
	if !v.hotOK || v.all <= 0 {
		return 0
	}
	hot := facts.KeyOf(&v.hot.Frame)
	callers := map[facts.PlaceKey]bool{}
	for _, ch := range v.awake {
		for i := 1; i < len(ch.Frames); i++ {
			if facts.KeyOf(&ch.Frames[i]) == hot {
				callers[facts.PlaceKey{F: facts.KeyOf(&ch.Frames[i-1]), Line: ch.Frames[i-1].Line}] = true
				break
			}
		}
	}
	t := 0.0
	for _, ch := range v.plain {
		if n := len(ch.Frames); n > 0 && facts.KeyOf(&ch.Frames[n-1]) != hot &&
			callers[facts.PlaceKey{F: facts.KeyOf(&ch.Frames[n-1]), Line: ch.Frames[n-1].Line}] {
			t += ch.Weight
		}
	}
	return min(t/v.all, 1-v.hotPart)
}

// lead makes the place one of the stage that is blamed: where the fetch sleeps for storage, where it works for a transformation. Without
// that a line that sleeps for somewhat less than half of the fetch would stand for one that computes.
func (v *inputView) lead(sub string) {
	chains := v.awake
	switch {
	case v.own, v.samples < facts.MinSamples:
		return
	case sub == "storage" && v.blocked >= 0.5:
		chains = v.asleep
	case sub != "transform":
		return
	case v.makesAnew():
		v.hot, v.hotOK, v.hotPart, v.alike = v.anew, true, v.anewPart, false
		return
	case v.shrinks():
		v.hot, v.hotOK = facts.Hottest(v.pictures.chains, v.mains)
		v.hotPart, v.alike = v.hot.Unit/v.all, false
		return
	case v.hotPart < price.HotFetch:
		// The time is the loader's own, items one by one and their collation, or that of libraries which prepare them.
		v.hotOK, v.hotPart, v.library = false, 0, !v.light()
		return
	}
	if sp, ok := facts.Hottest(chains, v.mains); ok && v.all > 0 && (facts.KeyOf(&sp.Frame) != facts.KeyOf(&v.hot.Frame) ||
		sp.Frame.Line != v.hot.Frame.Line) {
		v.hot, v.hotPart = sp, sp.Unit/v.all
	}
}

// inside is the function that takes most of the fetch itself, of whatever package, and its share; "" where none was seen.
func (v *inputView) inside() (file, function string, share float64) {
	var most facts.FuncKey
	for key, t := range v.leaves {
		if t > v.leaves[most] || t == v.leaves[most] && key.Compare(most) < 0 {
			most = key
		}
	}
	if v.all <= 0 || v.leaves[most] == 0 {
		return "", "", 0
	}
	return v.cls.Strings.Text(most.File), v.cls.Strings.Text(most.Name), v.leaves[most] / v.all
}

// collateFile holds what torch's own loader puts samples together with: tensors and numbers of one shape, which a data set of whole batches
// has together already.
const collateFile = "/torch/utils/data/_utils/collate.py"

// collates says that a stack is in what a fetch of the DataLoader's calls with samples that it has, and that this is not torch's own: what
// puts graphs together, or texts of many lengths, does so anew for each batch, however its samples were prepared.
func collates(cls *code.FrameClasses, id model.StackID) (collates bool) {
	var called model.FrameID
	some := false
	cls.Walk(id, func(fr model.FrameID) bool {
		if strings.HasSuffix(cls.Strings.Text(cls.Stacks.Frames[fr].File), facts.FetchFile) {
			if some {
				f := &cls.Stacks.Frames[called]
				name := cls.Strings.Text(f.Function)
				collates = !strings.HasSuffix(name, "__getitem__") && !strings.HasSuffix(name, "__getitems__") &&
					!strings.HasSuffix(cls.Strings.Text(f.File), collateFile)
			}
			return false
		}
		called, some = fr, true
		return true
	})
	return collates
}

// fetchesItself says that a stack is inside of a fetch of the DataLoader's, which runs in its process then: a queue below it is the
// data set's own.
func fetchesItself(cls *code.FrameClasses, id model.StackID) (itself bool) {
	cls.Walk(id, func(fr model.FrameID) bool {
		itself = strings.HasSuffix(cls.Strings.Text(cls.Stacks.Frames[fr].File), facts.FetchFile)
		return !itself
	})
	return itself
}

// asks says that a sample of a fetch waits for what another thread or process makes: in a queue, a pipe or a connection.
func asks(cls *code.FrameClasses, sm *model.Samples, i int) bool {
	info := cls.Info(sm.Stack[i])
	if !fetchesItself(cls, sm.Stack[i]) {
		return false
	}
	if info.Acts&code.ActQueue != 0 {
		return true
	}
	if !facts.Sleeping(sm, i) || !info.UserLeaf {
		return false
	}
	fr := &cls.Stacks.Frames[info.User]
	return pysource.AsksFor(cls.Source(cls.Strings.Text(fr.File), int(fr.Line)))
}

// asking says that the fetch mostly waits for what another thread or process makes.
func (v *inputView) asking() bool { return v.samples > 0 && 2*len(v.asks) >= v.samples }

// makes finds who computes what the fetch waits for, in this process or one beside it. One that only sleeps or reads itself stands for
// storage; ok is false then.
func makes(c *facts.Facts, v *inputView) (o facts.OtherSide, ok bool) {
	if !v.asking() || len(v.asks) < facts.MinSamples {
		return o, false
	}
	o, ok = c.WaitedForAt(v.asks)
	return o, ok && o.Asleep < 0.5
}

// serve says who makes what is waited for, and where.
func (v *inputView) serve(c *facts.Facts, f *finding.Finding) {
	f.Title = wording.Say("input.title-maker", wording.Share("share", f.Share), c.Said(), wording.Named("side", v.maker.Process))
	f.Evidence = append(f.Evidence, wording.Say("input.side-works", wording.Count("samples", v.maker.Samples),
		wording.Named("side", v.maker.Process), wording.Named("in", finding.In(v.maker.Place))))
	f.Fix.Advice = []wording.Text{wording.Say("input.fix-maker"), wording.Say("input.fix-maker-workers")}
	if v.maker.Sharing > 1 {
		f.Fix.Advice[0] = wording.Say("input.fix-makers", wording.Count("n", v.maker.Sharing))
	}
	if v.maker.Own {
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-maker-own"))
	}
}

// ask says that the fetch waits for an answer of which nothing else is known.
func (v *inputView) ask(c *facts.Facts, f *finding.Finding) {
	f.Title = wording.Say("input.title-ask", wording.Share("share", f.Share), c.Said())
	f.Fix.Advice = []wording.Text{wording.Say("input.fix-ask")}
	if v.hotOK && pysource.StartsCommand(c.Source(c.Text(v.hot.Frame.File), int(v.hot.Frame.Line))) {
		f.Title = wording.Say("input.title-command", wording.Share("share", f.Share), c.Said())
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-command")}
	}
	v.alsoWorkers(c, f, "input.fix-workers-alone")
	if v.copies.device {
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-device"))
	}
	f.Fix.Action.Uncertain = true
}
