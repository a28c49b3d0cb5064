package cause

import (
	"slices"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
)

// Floor is the share of the step (or, for what happens outside of steps, of the run) under which nothing is said.
const Floor = price.Floor

// rules are listed in the order in which they claim time when two rules see the same: exact knowledge before samples, the machine and
// other ranks before the program.
func rules() []rule[*Facts] {
	return []rule[*Facts]{
		{Compile, findCompile},
		{NoDemand, findNoDemand},
		{Input, findInput},
		{IO, findIO},
		{Straggler, stragglers(tryRules)},
		{Comm, findComm},
		{Sync, findSync},
		{GIL, findGIL},
		{Python, findAnomaly},
		{Python, findChores},
		{Python, findBeside}, // before launch and python: it knows why their time is spent
		{Launch, findRecurrent},
		{Launch, findLaunch},
		{Python, findPython},
		{Python, findBetween},
		{Precision, findFormat},
		{Precision, findDouble},
		{MemoryBound, findTables},
		{MemoryBound, findMemoryBound},
		{GC, findGC}, // after python: collections that a function's own objects cause end with it
		{Threads, findThreads},
		{Machine, findMachine},
		{Machine, findSHM},
		{Machine, findGPUMachine},
		{Warmup, findWarmup},
	}
}

// tryRules runs the rules about the program itself, on a copy of the ledger where the facts are those that it is of.
func tryRules(c *Facts, l Ledger) (found []Draft) {
	booked := newBook(c.B)
	if b, ok := l.(*book); ok && b.account == c.B {
		booked = b.clone()
	}
	tried := slices.DeleteFunc(rules(), func(r rule[*Facts]) bool {
		return slices.Contains([]string{Straggler, Comm, Warmup, Machine, Threads}, r.id)
	})
	run(tried, c, booked, func(d *Draft) { found = append(found, *d) })
	return found
}

// Find runs all rules, limits their claims to the time there is, ranks them by what they save over the run and drops what
// stays below the floor. A rule that panics on hostile input is skipped and named. A session without findings gets the
// statement of what it is bound by.
func Find(c *Facts) Result { return find(c, rules()) }

func find(c *Facts, all []rule[*Facts]) Result {
	var res Result
	if c.P.Role == model.RoleLauncher {
		return res // a launcher only waits for its children
	}
	var claims []Finding
	l := newBook(c.B)
	res.Skipped = run(all, c, l, func(d *Draft) {
		f := d.Finding
		f.claim = d.Claim.Parts
		c.atUser(&f)
		c.certain(&f)
		c.beyond(&f)
		f.asleep = c.asleep(&f)
		l.settle(&f)
		claims = append(claims, f)
	})
	behindStraggler(c, claims)
	for _, f := range claims {
		if saved := savedShare(c, &f); saved >= Floor || f.Healthy || f.Stops {
			res.Findings = append(res.Findings, f)
		} else {
			res.Largest = max(res.Largest, saved)
		}
	}
	res.settle(c)
	if f, ok := findCompute(c, l.left[analyse.PartOps]+l.left[analyse.PartGPUCompute]); ok {
		res.Findings = append(res.Findings, f)
	}
	return res
}

// behindStraggler takes the time that the accounted rank waits for a late one off its own findings: as long as it has to wait
// anyway, working faster saves nothing. What slows the late rank is the straggler finding's own reason. Where the accounted rank is
// the late one, its findings about what makes it late are that reason, and keep what they would save beyond it.
func behindStraggler(c *Facts, all []Finding) {
	i := slices.IndexFunc(all, func(f Finding) bool { return f.Cause == Straggler })
	if i < 0 {
		return
	}
	late := &all[i]
	if len(late.claim) > 0 {
		slack := c.perStep(late.claim[analyse.PartComm])
		for k := range all {
			if f := &all[k]; k != i && !f.OfRun && f.Cause != Comm {
				c.less(f, slack)
			}
		}
		return
	}
	left := late.Step.Mid
	for k := range all {
		f := &all[k]
		if k == i || f.OfRun || f.Cause == Comm || !sameReason(late, f) {
			continue
		}
		same := min(f.Step.Mid, left)
		left -= same
		c.less(f, same)
	}
}

// less takes ns per step off a finding's saving.
func (c *Facts) less(f *Finding, ns float64) {
	f.Step = bounds(max(f.Step.Low-ns, 0), max(f.Step.Mid-ns, 0), max(f.Step.High-ns, 0))
	f.Run = c.overRun(f.Step)
}

// sameReason says that a finding of the late rank is about what makes it late: its reason, or the same place.
func sameReason(late, f *Finding) bool {
	if b := late.Because; b != nil && b.Cause == f.Cause && b.Sub == f.Sub && b.Where.File == f.Where.File && b.Where.Line == f.Where.Line {
		return true
	}
	return f.Where.File != "" && f.Where.File == late.Where.File && f.Where.Function == late.Where.Function
}

// savedShare is the part of the whole that a finding would save: of the steady run for what happens in steps, else of the run.
func savedShare(c *Facts, f *Finding) float64 {
	if f.OfRun || c.B.Total <= 0 {
		if c.Wall <= 0 {
			return 0
		}
		return f.Run.Mid / c.Wall
	}
	return f.Step.Mid / c.B.Mean()
}
