package ranks

import (
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// rankView is one rank's account.
type rankView struct {
	p    *model.Process
	b    *account.Breakdown
	comm float64 // ns per step waiting in collectives
	own  float64 // ns per step of everything else
}

// Ranks accounts for every rank that has steps; where none has, as in a recording of a job that was running already, for the
// whole recording of each.
func Ranks(s *model.Session) []*account.Breakdown {
	var out []*account.Breakdown
	stepped := slices.ContainsFunc(s.Processes, func(p *model.Process) bool { return p.Rank >= 0 && len(p.Steps) > 0 })
	for _, p := range s.Processes {
		if p.Rank >= 0 && (len(p.Steps) > 0 || !stepped && p.Samples.Len() > 0) && p.Role != model.RoleWorker &&
			p.Role != model.RoleCompile {
			out = append(out, account.Of(s, p))
		}
	}
	return out
}

func rankViews(c *facts.Facts) []rankView {
	if c.P.Rank < 0 {
		return nil
	}
	var out []rankView
	for _, b := range Ranks(c.S) {
		if n := float64(len(b.Windows)); n > 0 && len(b.Samples) > 0 {
			comm := b.Part(account.PartComm) / n
			out = append(out, rankView{b.Process, b, comm, max(b.Mean()-comm, 0)})
		}
	}
	return out
}

// lateRank is the rank that works longest per step.
type lateRank struct {
	rank         rankView
	mean, others float64 // ns per step outside of collectives, of all ranks and of the others
	found        bool    // it is late enough to be a finding
}

func findLateRank(c *facts.Facts, ranks []rankView) lateRank {
	l := lateRank{rank: ranks[0]}
	for _, r := range ranks {
		l.mean += r.own / float64(len(ranks))
		if r.own > l.rank.own {
			l.rank = r
		}
	}
	l.others = max((l.mean*float64(len(ranks))-l.rank.own)/float64(len(ranks)-1), 0)
	l.found = l.rank.own-l.mean >= finding.Floor*c.B.Mean() && l.rank.own >= price.LateLead*l.others
	return l
}

// Trial gives what the rules about the program find on other facts, of which nothing is booked.
type Trial func(c *facts.Facts, l finding.Ledger) []finding.Draft

// Stragglers is the rule on late ranks, which tries the others on the late one.
func Stragglers(trial Trial) func(*facts.Facts, finding.Ledger) []finding.Draft {
	return func(c *facts.Facts, l finding.Ledger) []finding.Draft { return findStraggler(c, trial, l) }
}

// findStraggler names the rank for which the others wait: in a synchronous job all steps last equally long, and the late rank
// is the one that waits least in collectives.
func findStraggler(c *facts.Facts, trial Trial, l finding.Ledger) []finding.Draft {
	ranks := rankViews(c)
	if len(ranks) < 2 {
		return nil
	}
	lead := findLateRank(c, ranks)
	if !lead.found {
		return nil
	}
	late, others := lead.rank, lead.others
	saved := late.own - others
	f := finding.NewDraft(finding.Finding{Cause: finding.Straggler, Where: finding.Nowhere(), Share: saved / c.B.Mean(),
		Confidence: c.Basis(len(late.b.Samples))}, nil)
	f.Step = f.By(price.Late).Times(saved)
	f.Run = c.OverRun(f.Step)
	if late.p != c.P {
		f.Claim.Parts = finding.Parts{account.PartComm: min(saved*float64(len(c.B.Windows)), c.B.Part(account.PartComm))}
	}
	f.Evidence = append(f.Evidence, wording.Say("straggler.lead", wording.Time("longer", saved), wording.Count("rank", late.p.Rank),
		wording.Time("own", late.own), wording.Time("others", others), c.Said()))
	for _, r := range ranks {
		if r.p != late.p {
			f.Evidence = append(f.Evidence, wording.Say("straggler.waits", wording.Time("t", r.comm),
				wording.Count("rank", r.p.Rank), c.Said()))
		}
		if len(f.Evidence) > 4 {
			break
		}
	}
	f.Where.Rank = late.p.Rank
	placed, shared := whyLate(c, trial, l, &f.Finding, late, ranks)
	switch {
	case placed && !shared:
		f.Step = f.By(price.LateAlone).Times(saved)
		f.Run = c.OverRun(f.Step)
	case shared:
		// The others do the same work, only less of it: work can be shared out anew, it cannot be removed.
		even := saved * float64(len(ranks)-1) / float64(len(ranks))
		// On a busy machine the same work lasts longer here by chance, and that cannot be saved; a reason of its own is no chance.
		mine := float64(1)
		if f.Because == nil {
			mine = notByChance(c, late.own/others)
		}
		f.Share *= mine
		f.Step = finding.Bounds(price.LateShared.Bounds().Low*even*min(mine, c.OwnCPU()), even*mine, saved)
		f.Run = c.OverRun(f.Step)
	}
	f.Title = wording.Say("straggler.title", wording.Share("share", f.Share), wording.Count("rank", late.p.Rank), c.Said())
	lateFix(&f.Finding, late.p.Rank, placed && !shared)
	f.Caveat = []wording.Text{wording.Say("straggler.caveat")}
	return []finding.Draft{f}
}

// lateFix says what helps: where the rank alone does what makes it late, that, else sharing the work out anew.
func lateFix(f *finding.Finding, rank int, alone bool) {
	if !alone {
		f.Fix.Advice = []wording.Text{wording.Say("straggler.fix-even")}
		return
	}
	f.Fix.Advice = []wording.Text{wording.Say("straggler.fix-alone")}
	if f.Because != nil {
		f.Fix = f.Because.Fix
	}
	f.Fix.Advice = append([]wording.Text{wording.Say("straggler.fix-because", wording.Count("rank", rank))}, f.Fix.Advice...)
}

// notByChance is the share of the late rank's lead in work, ratio times the others', that a busy machine does not explain, 0..1. At
// the worst other programs take cores from that rank alone, which makes its work longer by the inverse of what they left: what goes
// beyond that is more work.
func notByChance(c *facts.Facts, ratio float64) float64 {
	left := c.OwnCPU()
	worst := 1 / max(left, price.LeastCores)
	if worst <= 1 || ratio >= worst {
		return 1
	}
	return left + (1-left)*max(ratio-1, 0)/(worst-1)
}

// whyLate runs the rules on the late rank alone and takes the first finding of its own as the reason; where the late rank does
// the same as the others, only more of it, the line with the largest difference is the place.
// It reports whether a line was found, and whether the others run it as well.
func whyLate(c *facts.Facts, trial Trial, l finding.Ledger, f *finding.Finding, late rankView, ranks []rankView) (placed, shared bool) {
	sub := c
	if late.p != c.P {
		sub = facts.NewFacts(c.S, late.b)
	}
	if best, also, ok := lateLine(sub, late, ranks); ok {
		placed, shared = true, also
		f.Where = sub.Where(best)
		f.Where.Rank = late.p.Rank
		f.Evidence = append(f.Evidence, wording.Say("straggler.at", wording.Time("t", best.Line), wording.Named("in", finding.In(f.Where))))
	}
	found := trial(sub, l)
	for i := range found {
		if b := &found[i].Finding; facts.SavedShare(sub, b) >= finding.Floor && b.Step.Mid >= 0.5*f.Step.Mid &&
			(f.Because == nil || b.Step.Mid > f.Because.Step.Mid) {
			b.Where.Rank = late.p.Rank
			f.Because = b
		}
	}
	if f.Because != nil && f.Because.Where.File != "" {
		f.Where = f.Because.Where
	}
	return placed, shared
}
