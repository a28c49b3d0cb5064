package ranks

import (
	"math"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/collectives"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
	"bottleneck/internal/wording"
)

// Limits of what counts as many small messages.
const (
	smallCalls   = 8       // collectives per step
	smallMessage = 256_000 // bytes of one, on average: at a few hundred µs for a call its transfer matters less than the call
)

// FindComm names communication that nothing hides and that no late rank explains.
func FindComm(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	t := c.B.Part(account.PartComm)
	ranks := rankViews(c)
	waits, late := t, 0.0 // what every rank waits, on average; what is lost by ranks that are late in turns
	if len(ranks) > 1 {
		for _, r := range ranks {
			waits = min(waits, r.comm*float64(len(c.B.Windows)))
		}
		t = waits
		if c.Share(waits) >= finding.Floor {
			t, late = sentAndLate(c, ranks, waits)
		}
	}
	x := collectives.Exchange{}
	if c.Share(waits) >= finding.Floor {
		x = collectives.ExchangeOf(c.S, c.B)
	}
	small := x.Calls >= smallCalls && (x.Bytes > 0 && x.Bytes <= smallMessage || x.Bytes <= 0 && c.PerStep(t) <= price.SmallWait*x.Calls)
	sent, late := c.PerStep(t), c.PerStep(late)
	if small {
		t = waits // each of the calls is a chance to be late
	}
	if c.Share(t) < finding.Floor {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Comm, Where: finding.Nowhere(), Share: c.Share(t)},
		finding.Parts{account.PartComm: waits})
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool { return a.Part == account.PartComm })
	sp, placed := facts.Hottest(chains, c.Drivers)
	if placed {
		f.Where = c.Where(sp)
	}
	f.Title = wording.Say("comm.title", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("comm.waits", wording.Time("t", c.PerStep(waits)), c.Said())}
	if c.PerStep(waits) > price.SentClearly*sent {
		f.Evidence = append(f.Evidence, wording.Say("comm.sent", wording.Time("t", sent)))
	}
	f.Confidence = c.Basis(len(chains))
	if small {
		f.Title = wording.Say("comm.title-small", wording.Share("share", f.Share), c.Said())
		sendTogether(&f, x, sent, late)
	} else {
		if late > price.LateClearly*sent {
			f.Title = wording.Say("comm.title-late", wording.Share("share", f.Share),
				wording.Share("late", c.Share(waits)-f.Share), c.Said())
		}
		f.Step = f.By(price.SentSeldom).Times(sent)
		f.Step.Mid += lateSeldom * late
		f.Step.High = price.SentSeldom.Bounds().High * (sent + late)
		if c.Cores > 0 && float64(facts.LocalRanks(c))*facts.TorchThreads(c) >= c.Cores {
			f.Step.High += x.Hidden // sending beside computing takes cores from it, at most as long as it lasts
		}
		if placed {
			priceAround(c, &f, chains, facts.KeyOf(&sp.Frame))
		}
		sendSeldom(&f)
	}
	f.Run = c.OverRun(f.Step)
	return []finding.Draft{f}
}

// sendSeldom advises to send less often, and beside computing.
func sendSeldom(f *finding.Draft) {
	f.Fix.Advice = []wording.Text{wording.Say("comm.fix-seldom"), wording.Say("comm.fix-overlap")}
	f.Caveat = []wording.Text{wording.Say("comm.caveat-seldom", wording.Nth("nth", price.Seldom)), wording.Say("comm.caveat-overlap")}
}

// sentAndLate splits what every rank waits, in ns of the accounted steps: with all ranks in the call, and what ranks lose by being late in
// turns, which makes each of them wait without anything being sent. Collectives of the same steps on all ranks tell the two apart; without
// those all of it counts as sent.
func sentAndLate(c *facts.Facts, ranks []rankView, waits float64) (sent, late float64) {
	var all []*model.Process
	var accounts []*account.Breakdown
	for _, r := range ranks {
		all, accounts = append(all, r.p), append(accounts, r.b)
	}
	share, ok := collectives.TransferShare(c.S, all)
	if !ok {
		return waits, 0
	}
	// That the ranks hold the same collectives the traces say; how long they wait in them for each other steps that are not traced do.
	m, ok := collectives.MeetingOf(accounts)
	if !ok {
		return waits * share, waits * (1 - share)
	}
	n := len(ranks)
	for in := 1; in < n; in++ {
		late += m.In[in] * c.B.Total * idleBeside(c, n-in, n)
	}
	if s := findLateRank(c, ranks); s.found {
		late -= (s.rank.own - s.mean) * float64(len(c.B.Windows)) // which that rank's own finding has
	}
	return min(m.In[n]*c.B.Total, waits), max(late, 0)
}

// idleBeside is what is lost while only computing of n ranks compute, 0..1: with its work shared out evenly a job that has a core for each
// rank would be done with it in computing/n of the time; ranks that already share all cores are not done sooner.
func idleBeside(c *facts.Facts, computing, n int) float64 {
	busy := float64(computing) / float64(n)
	if c.Cores > 0 && facts.LocalRanks(c) >= n {
		busy = max(busy, min(1, float64(computing)*facts.TorchThreads(c)/c.Cores))
	}
	return 1 - busy
}

// callsFile holds the functions of torch.distributed that call collectives.
const callsFile = "/torch/distributed/distributed_c10d.py"

// priceAround adds what is computed only where something is sent: within the calls, before the thread waits in them, and what the function
// that calls them does beside them (copies into and out of what is sent, a division by the number of ranks).
func priceAround(c *facts.Facts, f *finding.Draft, calls []facts.Chain, exchange facts.FuncKey) {
	inside := func(ch facts.Chain) bool {
		return slices.ContainsFunc(ch.Frames, func(fr model.Frame) bool { return facts.KeyOf(&fr) == exchange })
	}
	called, beside, rest := 0.0, 0.0, 0.0
	for _, ch := range calls {
		if inside(ch) {
			called += ch.Weight
		}
	}
	within, around := map[account.PartID]float64{}, map[account.PartID]float64{}
	for _, ch := range facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool {
		return a.Part != account.PartComm && !a.Exact
	}) {
		a := &c.B.Samples[ch.Index]
		switch {
		case callsCollective(c, c.P.Samples.Stack[a.Index]):
			within[a.Part] += ch.Weight
			continue
		case inside(ch):
			beside += ch.Weight
			around[a.Part] += ch.Weight
		}
		rest += ch.Weight
	}
	if beside <= price.AroundCalls*min(called, rest) {
		for part, t := range stats.InOrder(around) {
			within[part] += t
		}
	}
	all := 0.0
	for part, t := range stats.InOrder(within) {
		all += t
		f.Claim.Parts[part] += price.SentSeldom.Mid * t
	}
	if all == 0 {
		return
	}
	per := c.PerStep(all)
	f.Step.Mid += price.SentSeldom.Mid * per
	f.Step.High += per
	f.Evidence = append(f.Evidence, wording.Say("comm.around", wording.Time("t", per)))
}

// callsCollective says that a stack ends in a function that calls collectives.
func callsCollective(c *facts.Facts, id model.StackID) (yes bool) {
	c.C.Walk(id, func(fr model.FrameID) bool {
		yes = strings.HasSuffix(c.Text(c.C.Stacks.Frames[fr].File), callsFile)
		return false
	})
	return yes
}

// lateSeldom is the share of waiting for late ranks that ends with it: what ranks lose by chance in n steps evens out to about 1/√n of what
// it comes to step by step.
var lateSeldom = 1 - 1/math.Sqrt(price.Seldom)

// sendTogether prices a finding about many small messages for sending them in one, in ns per step with all ranks in the call
// and for late ones: what is left is one call, and the copies into and out of its tensor.
func sendTogether(f *finding.Draft, x collectives.Exchange, sent, late float64) {
	gone := 1 - 1/x.Calls
	together := f.By(price.SentTogether).Bounds()
	f.Step = finding.Bounds(together.Low*gone*sent, gone*(together.Mid*sent+price.LateTogether.Mid*late), gone*(sent+late))
	calls := wording.Say("comm.calls", wording.Value("calls", x.Calls))
	if x.Bytes > 0 {
		calls = wording.Say("comm.calls-sized", wording.Value("calls", x.Calls), wording.Size("size", x.Bytes))
	}
	f.Evidence = append(f.Evidence, calls)
	f.Fix.Advice = []wording.Text{wording.Say("comm.fix-together")}
	f.Caveat = []wording.Text{wording.Say("comm.caveat-together")}
}
