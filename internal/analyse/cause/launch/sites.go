package launch

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
)

// launchKind says what calls tiny operators, which decides what would end it.
type launchKind uint8

const (
	launchLoop      launchKind = iota // a loop of the user's own over elements
	launchSequence                    // a loop of a module's own that calls the same layers for each element of a sequence
	launchCall                        // a call that is made for too little work, such as a model's for one request
	launchSpread                      // many lines, of which none stands out
	launchOptimizer                   // the optimizer's step
	launchRollout                     // a loop that steps an environment: each turn needs the answer to the one before
)

// launchSite is one origin of tiny operators.
type launchSite struct {
	kind        launchKind
	at          facts.Spot
	placed      bool
	ops, python float64 // ns over the windows: in small operators, and in the interpreter around them
	own         bool    // the optimizer is the user's own
	lists       bool    // the optimizer works on lists of parameters already
	built       finding.Where
	fusable     bool         // the optimizer has a form for where it runs that updates all parameters in one call
	class       string       // how the optimizer's class's name begins, "" where it is not known
	isBuilt     bool         // the optimizer's constructor is the place: the program does not call its step itself
	fuses       bool         // torch.compile can be expected to make what it calls faster
	onDevice    bool         // a device waits for what it launches, and no better cure is known
	backward    bool         // the backward pass through what the site calls is part of it
	lines       []facts.Spot // its lines, most first
}

func (s *launchSite) time() float64 { return s.ops + s.python }

// add counts samples of calling as the site's, or a part of them.
func (s *launchSite) add(c *facts.Facts, chains []facts.Chain, part float64) {
	for i := range chains {
		if c.B.Samples[chains[i].Index].Part == account.PartOps {
			s.ops += part * chains[i].Weight
		} else {
			s.python += part * chains[i].Weight
		}
	}
}

// Limits on where tiny operators come from.
const (
	// loopOpsPerLine is the number of operators per step and line from which a loop around that line must be at work.
	loopOpsPerLine = 40
	// maxLaunchPlaces is the number of places that are told besides the optimizer.
	maxLaunchPlaces = 2
)

// launchSites splits the calling of tiny operators, small and python ns over the windows, by who calls: the optimizer, the place
// from which most others come, and the rest; most first.
func launchSites(c *facts.Facts, calls callings, small, python float64) []launchSite {
	first, backward, optimizer := calls.first, calls.backward, calls.optimizer
	if calls.few() {
		return []launchSite{{kind: launchSpread, ops: small, python: python}}
	}
	var out []launchSite
	if site, ok := optimizerSite(c, optimizer); ok {
		out = append(out, site)
	} else {
		backward = append(backward, optimizer...) // no place of its own
	}
	out = append(out, otherSites(c, first, backward)...)
	ops, around := 0.0, 0.0
	for i := range out {
		ops, around = ops+out[i].ops, around+out[i].python
	}
	for i := range out {
		out[i].ops *= small / max(ops, 1)
		out[i].python *= python / max(around, 1)
	}
	slices.SortStableFunc(out, func(a, b launchSite) int { return cmp.Compare(b.time(), a.time()) })
	return out
}

// callings are the samples in operators and in the interpreter around them: of the backward pass, of the optimizer, and of all that
// comes first.
type callings struct{ first, backward, optimizer []facts.Chain }

// few says that they are too few to tell who calls.
func (k callings) few() bool { return len(k.first)+len(k.backward)+len(k.optimizer) < facts.MinSamples }

// allCallings finds them, with all that operators take.
func allCallings(c *facts.Facts, l finding.Ledger) (k callings) {
	around := c.PythonSamples(l, true)
	for _, ch := range facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(i int, a *account.Attributed) bool {
		return a.Part == account.PartOps && !l.Taken(i) && (c.B.PerStep || len(c.Calling) == 0 || c.Calls(a)) || around(i, a)
	}) {
		switch acts := c.C.Info(c.P.Samples.Stack[c.B.Samples[ch.Index].Index]).Acts; {
		case acts&code.ActOptimizer != 0:
			k.optimizer = append(k.optimizer, ch)
		case acts&code.ActBackward != 0:
			k.backward = append(k.backward, ch)
		default:
			k.first = append(k.first, ch)
		}
	}
	return k
}

// callingsOf finds them. Of the operators' time only what small ones take counts.
func callingsOf(c *facts.Facts, l finding.Ledger) callings {
	k := allCallings(c, l)
	o := launchOps{c.B.Ops}
	sizes := sizesByLine(c)
	leaveSmall(c, k.optimizer, sizes, evenly(c, o.smallShare(o.OptimizerTime, o.OptimizerSmall)))
	leaveSmall(c, k.backward, sizes, evenly(c, o.smallShare(o.BackwardTime, o.BackwardSmall)))
	leaveSmall(c, k.first, sizes, byPython(c, o.smallShare(o.Time-o.OptimizerTime-o.BackwardTime,
		o.SmallTime-o.OptimizerSmall-o.BackwardSmall)))
	return k
}

// optimizerSite is the optimizer's step; false where too few samples show it, or where it is fused already.
func optimizerSite(c *facts.Facts, chains []facts.Chain) (launchSite, bool) {
	site := launchSite{kind: launchOptimizer, lines: facts.LineTimes(facts.UpToDriver(chains, c.Drivers))}
	site.add(c, chains, 1)
	if len(chains) < facts.MinSamples || site.time() <= 0 {
		return site, false
	}
	forms, algorithms := map[string]float64{}, map[string]float64{}
	for i := range chains {
		form, algorithm := optimizerForm(c, c.P.Samples.Stack[c.B.Samples[chains[i].Index].Index])
		forms[form] += chains[i].Weight
		if algorithm != "" {
			algorithms[algorithm] += chains[i].Weight
		}
	}
	site.class, site.fusable = fusable(c, algorithms)
	site.own = c.OwnOptimizer(chains)
	site.lists = forms["_multi_tensor"] > forms["_single_tensor"]
	site.at, site.placed = facts.Hottest(chains, c.Drivers)
	if !site.own {
		site.built, site.isBuilt = c.BuiltAt(chains)
	}
	// L-BFGS computes on one vector of all parameters, once for each step that it remembers: there is nothing to put together.
	return site, forms["_fused"] <= max(forms["_single_tensor"], forms["_multi_tensor"]) && 2*algorithms["lbfgs"] <= site.time()
}

// optimizerForm begins the name of the function of torch.optim's that updates the parameters in a stack: it says whether one by one, by
// lists, or at once; algorithm ends it, or is the module of torch.optim's where none does. Both are empty elsewhere in an optimizer.
func optimizerForm(c *facts.Facts, id model.StackID) (form, algorithm string) {
	c.C.Walk(id, func(fr model.FrameID) bool {
		f := &c.C.Stacks.Frames[fr]
		if c.C.File(f.File) == code.FileUser {
			return false
		}
		for _, start := range []string{"_single_tensor", "_multi_tensor", "_fused"} {
			if rest, ok := strings.CutPrefix(c.Text(f.Function), start); ok {
				form, algorithm = start, strings.TrimPrefix(rest, "_")
			}
		}
		const shared = "optimizer.py" // by all of them
		dir, file := path.Split(strings.ReplaceAll(c.Text(f.File), `\`, "/"))
		if algorithm == "" && strings.HasSuffix(dir, "/torch/optim/") && file != shared {
			algorithm = strings.TrimSuffix(file, ".py")
		}
		return form == ""
	})
	return form, algorithm
}

// otherSites are the places from which the remaining operators come, and what else calls them. The backward pass is as long as what was
// called for it before: the sites through which one goes share it.
func otherSites(c *facts.Facts, first, backward []facts.Chain) []launchSite {
	var out []launchSite
	var firsts []float64 // time of each before the backward pass, 0 where none goes through it
	left, all, without, environments := first, facts.Sum(first), 0.0, environmentLoops(c)
	for len(out) < maxLaunchPlaces {
		site, main, rest, ok := launchPlace(c, environments, left)
		if !ok {
			break
		}
		time := facts.Sum(main)
		if (site.kind == launchLoop || site.kind == launchRollout) && withoutGradient(c, &site, (without+time)/max(all, 1)) {
			without, time = without+time, 0
		}
		out, firsts, left = append(out, site), append(firsts, time), rest
	}
	if len(left) > 0 || len(out) == 0 {
		site := launchSite{kind: launchSpread, lines: facts.LineTimes(left)}
		site.add(c, left, 1)
		out, firsts = append(out, site), append(firsts, max(facts.Sum(left), 1))
	}
	shared := 0.0
	for _, t := range firsts {
		shared += t
	}
	for i := range out {
		if part := firsts[i] / max(shared, 1); part > 0 && len(backward) > 0 {
			out[i].add(c, backward, part)
			out[i].backward = true
		}
	}
	return out
}

// launchPlace is the place from which most tiny operators come, with its samples and the others; false where none stands out. What is
// called between two steps of an environment and what is not are looked at apart.
func launchPlace(c *facts.Facts, environments loops, first []facts.Chain) (site launchSite, main, rest []facts.Chain, ok bool) {
	most, least := environments.split(c, first)
	if facts.Sum(most) < facts.Sum(least) {
		most, least = least, most
	}
	if site, main, rest, ok = placeOf(c, environments, most); ok {
		return site, main, slices.Concat(rest, least), true
	}
	return placeOf(c, environments, first)
}

// placeOf is launchPlace of chains that are not told apart.
func placeOf(c *facts.Facts, environments loops, first []facts.Chain) (site launchSite, main, rest []facts.Chain, ok bool) {
	sp, ok := facts.Hottest(first, c.Drivers)
	if !ok || len(first) < facts.MinSamples || sp.Samples < facts.MinSamples || facts.Sum(first) <= 0 {
		return site, nil, nil, false
	}
	looping, main, rest, inner := innerLoop(c, environments, first)
	if inner {
		sp = looping
	} else {
		main, rest = throughSpot(c, first, sp)
	}
	calls := facts.UpToDriver(first, c.Drivers)
	if o := c.B.Ops; (o.Top-o.OptimizerTop-o.BackwardTop)*facts.Sum(main)/facts.Sum(first) < loopOpsPerLine*float64(busyLines(main)) {
		// Few operators per line: no loop inside makes them many, so the call that is made for too little work is the place.
		call, ok := facts.Hottest(calls, c.Drivers)
		if !ok || even(calls, call, c.Drivers) {
			return site, nil, nil, false
		}
		site = launchSite{kind: launchCall, at: call, placed: true, lines: facts.LineTimes(calls)}
		if members, _ := membersAndRest(calls, call); environments.waitForEnvironment(c, members) {
			site.kind = launchRollout
		} else {
			site.nearer(c, first)
		}
		site.add(c, first, 1)
		return site, first, nil, true
	}
	if !inner && even(first, sp, c.Drivers) {
		return site, nil, nil, false
	}
	site = launchSite{kind: launchLoop, at: sp, placed: true, lines: facts.LineTimes(main)}
	own := inner || inLoopOfItsOwn(c, sp) // else whoever calls the place makes its operators many
	switch {
	case own && calledAsModule(c, &sp) && layersRepeat(c):
		site.kind = launchSequence
	case learnsAt(c, &sp):
		site.kind = launchCall
	case through(c, main, model.ModuleFile, "call_impl"), !own && calledAsModule(c, &sp):
		// A model of many layers, or one that is called for one element after the other: in both cases its call does too little.
		site.kind = launchCall
		if call, ok := facts.Hottest(facts.UpToDriver(main, c.Drivers), c.Drivers); ok {
			site.at, site.lines = call, facts.LineTimes(facts.UpToDriver(main, c.Drivers))
			site.nearer(c, main)
		}
	}
	if site.kind != launchSequence && !own && environments.waitForEnvironment(c, main) {
		site.kind = launchRollout
	}
	site.add(c, main, 1)
	return site, main, rest, true
}

// nearer makes the place of a call the line that calls the model, where the loop's own line only leads to it: train() says little.
func (s *launchSite) nearer(c *facts.Facts, chains []facts.Chain) {
	calls := upToModel(c, chains)
	if sp, ok := facts.Hottest(calls, c.Drivers); ok && 2*sp.Unit >= s.at.Unit {
		s.at, s.lines = sp, facts.LineTimes(calls)
	}
}

// upToModel cuts chains behind the user's line that calls the outermost module, and others behind the last function that drives the loop.
func upToModel(c *facts.Facts, chains []facts.Chain) []facts.Chain {
	out := facts.UpToDriver(chains, c.Drivers)
	for i := range out {
		if n, called := c.OutsideModules(c.B.Samples[chains[i].Index].Index); called && n > len(out[i].Frames) {
			out[i].Frames = chains[i].Frames[:min(n, len(chains[i].Frames))]
		}
	}
	return out
}

// throughSpot splits chains into those that pass through a spot's function, whoever calls it, and the others: what ends the calling there
// ends it for a validation, too. Of a function that drives the loop only the spot itself counts.
func throughSpot(c *facts.Facts, chains []facts.Chain, sp facts.Spot) (main, rest []facts.Chain) {
	if c.Drivers[facts.KeyOf(&sp.Frame)] {
		return membersAndRest(chains, sp)
	}
	for _, ch := range chains {
		if slices.ContainsFunc(ch.Frames, func(f model.Frame) bool { return facts.KeyOf(&f) == facts.KeyOf(&sp.Frame) }) {
			main = append(main, ch)
		} else {
			rest = append(rest, ch)
		}
	}
	return main, rest
}

// membersAndRest splits chains into those of a spot and the others.
func membersAndRest(chains []facts.Chain, sp facts.Spot) (main, rest []facts.Chain) {
	taken := map[int]bool{}
	for _, m := range sp.Members {
		taken[m] = true
	}
	for _, ch := range chains {
		if taken[ch.Index] {
			main = append(main, ch)
		} else {
			rest = append(rest, ch)
		}
	}
	return main, rest
}

// busyLines is the number of lines that have a noticeable share of the chains' time, at least 1.
func busyLines(chains []facts.Chain) int {
	n, all := 0, facts.Sum(chains)
	for _, line := range facts.LineTimes(chains) {
		n += finding.Btoi(line.Line >= price.LaunchFaint*all)
	}
	return max(n, 1)
}

// even says that the chains' time is spread over so many lines that none stands out: the spot, which has most, has less than most of it
// and not clearly more than the next one.
func even(chains []facts.Chain, sp facts.Spot, drivers map[facts.FuncKey]bool) bool {
	all, entropy := facts.Sum(chains), 0.0
	if _, rest := membersAndRest(chains, sp); 3*sp.Unit >= all {
		if next, ok := facts.Hottest(rest, drivers); !ok || 2*sp.Unit >= 3*next.Unit {
			return false
		}
	}
	for _, line := range facts.LineTimes(chains) {
		if p := line.Line / all; p > 0 {
			entropy -= p * math.Log(p)
		}
	}
	return sp.Unit < price.LaunchMost*all && math.Exp(entropy) >= price.LaunchEven
}

// through says that below the user's frame most of the time passes through a file's functions, those with a part of the name.
func through(c *facts.Facts, chains []facts.Chain, file, function string) bool {
	t := 0.0
	for i := range chains {
		if c.Passes(c.P.Samples.Stack[c.B.Samples[chains[i].Index].Index], file, function, true) {
			t += chains[i].Weight
		}
	}
	return t >= price.LaunchMost*facts.Sum(chains)
}

// withoutGradient says that no backward pass went through what a place called in traced steps: as calls of models from its lines tell that
// were looked at there, or samples, or where they are too few, because so few operators have a gradient that what else is called accounts
// for them: all but part of the calling, its own and what has no gradient already.
func withoutGradient(c *facts.Facts, site *launchSite, part float64) bool {
	u := account.UntrackedWork(c.S, c.B)
	if u == nil {
		return false
	}
	sp, calls, seen, apart := site.at, 0, 0, 0
	for i := range c.P.Asked {
		a := &c.P.Asked[i]
		at := func(line facts.Spot) bool { return line.Frame.File == a.File && line.Frame.Line == a.Line }
		if a.End > a.Time && facts.Inside(u.Steps, a.Time) && slices.ContainsFunc(site.lines, at) {
			calls++
			apart += finding.Btoi(facts.Inside(u.Runs, a.Time+(a.End-a.Time)/2))
		}
	}
	if calls >= facts.BesideTraced {
		return float64(calls-apart) <= price.BesideTracked*float64(calls)
	}
	apart = 0
	c.TracedChains(u.Steps, func(ch facts.Chain, at model.Time) {
		if slices.ContainsFunc(ch.Frames, func(f model.Frame) bool {
			return facts.KeyOf(&f) == facts.KeyOf(&sp.Frame) && (!c.Drivers[facts.KeyOf(&f)] || f.Line == sp.Frame.Line)
		}) {
			seen++
			apart += finding.Btoi(facts.Inside(u.Runs, at))
		}
	})
	if seen >= facts.BesideTraced {
		return float64(seen-apart) <= price.BesideTracked*float64(seen)
	}
	return float64(u.Tracked) <= (1-part)*float64(u.Tracked+u.Apart)
}
