package cause

import (
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/again"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/input"
	"bottleneck/internal/analyse/cause/launch"
	"bottleneck/internal/analyse/cause/machine"
	"bottleneck/internal/analyse/cause/memory"
	"bottleneck/internal/analyse/cause/precision"
	"bottleneck/internal/analyse/cause/python"
	"bottleneck/internal/analyse/cause/ranks"
	"bottleneck/internal/analyse/cause/timed"
	"bottleneck/internal/analyse/cause/traced"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
)

// rules are listed in the order in which they claim time when two rules see the same: exact knowledge before samples, the machine and
// other ranks before the program.
func rules() []rule[*facts.Facts] {
	return []rule[*facts.Facts]{
		{finding.Compile, timed.FindCompile},
		{finding.NoDemand, traced.FindNoDemand},
		{finding.Input, input.FindInput},
		{finding.IO, timed.FindViews}, // before the checkpoints, of which it is a part that need not be written at all
		{finding.IO, timed.FindIO},
		{finding.Straggler, ranks.Stragglers(tryRules)},
		{finding.Comm, ranks.FindComm},
		{finding.Sync, traced.FindSync},
		{finding.Launch, launch.FindOnHost}, // before copies: on the line that makes the tensor; before launch: it is no mere call
		{finding.Launch, launch.FindPlans},  // before again: what a KV cache leaves needs plans as well
		{finding.Again, again.FindOrdered},  // before asks: a product waits for the device only to put its matrix in order
		{finding.Copy, traced.FindCopies},
		{finding.Alloc, traced.FindAllocations},
		{finding.Sync, traced.FindAsks}, // before launch: what asks nothing is launched no more, and the device has work meanwhile
		{finding.GIL, python.FindGIL},
		{finding.Python, python.FindAnomaly},
		{finding.Python, python.FindChores},
		{finding.Python, python.FindBeside}, // before launch and python: it knows why their time is spent
		{finding.Again, again.FindAnswered}, // before prefix: what is known of a part needs no keys and values
		{finding.Again, again.FindPrefix},   // before launch: what is no longer computed is no longer called
		{finding.Again, again.FindWriting},
		{finding.Again, again.FindActivations}, // before frozen: layers that keep nothing may look as if no gradient went through them
		{finding.Again, again.FindJacobians},   // before launch and backward: what no pass computes is no longer called
		{finding.Again, again.FindBackward},    // before launch: what no pass computes is no longer called
		{finding.Again, again.FindLosses},
		{finding.Again, again.FindInLoop}, // before launch, for the same reason
		{finding.Again, again.FindAsked},  // before frozen: what is known of the inputs is sure
		{finding.Again, again.FindUnchanging},
		{finding.Again, again.FindFrozen},
		{finding.UnusedGradients, again.FindUnusedGraph},
		{finding.Launch, memory.FindHeads},              // before launch: what is computed at once is no longer called
		{finding.MemoryBound, memory.FindRepeatedHeads}, // before launch: copies that are not made are not launched
		{finding.Launch, launch.FindParameters},
		{finding.Launch, launch.FindRecurrent},
		{finding.Launch, launch.FindCells},
		{finding.Launch, launch.FindColumns},
		{finding.Launch, launch.FindAtOnce}, // after what knows more of such loops
		{finding.Launch, launch.FindBatch},
		{finding.Launch, launch.FindRows},
		{finding.Launch, launch.FindLaunch},
		{finding.Python, python.FindPython},
		{finding.Python, python.FindBetween},
		{finding.UnusedGradients, again.FindGraphAfter},
		{finding.Launch, python.FindCallsBetween},
		// Before the allocator: PyTorch's fallback takes and gives back a table for each picture, attention and one-hot vectors a matrix.
		{finding.Precision, precision.FindFormat},
		{finding.MemoryBound, memory.FindAttention},
		{finding.MemoryBound, memory.FindOneHots},
		{finding.MemoryBound, memory.FindPairs},
		{finding.MemoryBound, memory.FindProducts},
		{finding.MemoryBound, memory.FindContraction},
		{finding.MemoryBound, memory.FindFewRows},
		{finding.MemoryBound, memory.FindSorted},
		{finding.MemoryBound, memory.FindComputedRows},
		{finding.MemoryBound, memory.FindDiagonals},
		{finding.MemoryBound, memory.FindProductOrder},
		{finding.MemoryBound, memory.FindZeros},
		{finding.MemoryBound, memory.FindFourierLength},
		{finding.MemoryBound, memory.FindSeparable},
		{finding.MemoryBound, memory.FindLongFilter},
		{finding.MemoryBound, memory.FindUnfolded},
		{finding.MemoryBound, memory.FindRegrown},
		{finding.MemoryBound, memory.FindSuppression},
		{finding.Padding, memory.FindUnread},
		{finding.MemoryBound, memory.FindTables}, // whole gradients and moments are made anew at each step
		{finding.Machine, machine.FindAllocator}, // before what computes less: the kernel's count is exact
		{finding.UnusedGradients, again.FindUnusedGradients},
		{finding.Again, memory.FindUnmade},
		{finding.Precision, precision.FindDenormalProducts}, // before padding: fewer places end none of it
		{finding.Padding, again.FindPadding},                // after launch: tiny operators do not become faster with fewer places
		{finding.Precision, precision.FindDenormals},
		{finding.Precision, precision.FindDouble},
		{finding.MemoryBound, memory.FindMemoryBound},
		{finding.GC, python.FindGC}, // after python: collections that a function's own objects cause end with it
		{finding.Threads, machine.FindThreads},
		{finding.Machine, machine.FindMachine},
		{finding.Machine, machine.FindSHM},
		{finding.Machine, machine.FindGPUMachine},
		{finding.Warmup, timed.FindWarmup},
		{finding.Warmup, timed.FindTrials},
		{finding.Again, again.FindValidation},
		{finding.MemoryGrowth, memory.FindGrowth},
		{finding.MemoryGrowth, memory.FindCopies},
	}
}

// computing is what no finding has claimed of the time in which something computes, ns over the windows: operators that only launch what a
// device computes do not.
func computing(c *facts.Facts, l *book) float64 {
	ops := l.left[account.PartOps]
	if c.OnDevice() && c.B.Ops != nil {
		ops = min(ops, c.B.Ops.OnHost*float64(c.B.Steps()))
	}
	return ops + l.left[account.PartGPUCompute]
}

// tryRules runs the rules about the program itself, on a copy of the ledger where the facts are those that it is of.
func tryRules(c *facts.Facts, l finding.Ledger) (found []finding.Draft) {
	booked := newBook(c.B)
	if b, ok := l.(*book); ok && b.account == c.B {
		booked = b.clone()
	}
	tried := slices.DeleteFunc(priced(rules(), c.S, false), func(r rule[*facts.Facts]) bool {
		return slices.Contains([]string{finding.Straggler, finding.Comm, finding.Warmup, finding.Machine, finding.Threads}, r.id)
	})
	run(tried, c, booked, func(d *finding.Draft) { found = append(found, *d) })
	return found
}

// Find runs all rules, limits their claims to the time there is, ranks them by what they save over the run and drops what
// stays below the floor. A rule that panics on hostile input is skipped and named. A session without findings gets the
// statement of what it is bound by.
// t is of the devices that the accounted process uses, nil without any.
func Find(c *facts.Facts, t *traced.Traced) Result { return find(c, t, priced(rules(), c.S, false)) }

// priced are the rules whose causes a session can price.
func priced[Facts any](rules []rule[Facts], s *model.Session, traced bool) []rule[Facts] {
	return slices.DeleteFunc(rules, func(r rule[Facts]) bool { return replay.Hides(s, r.id, traced) })
}

func find(c *facts.Facts, t *traced.Traced, all []rule[*facts.Facts]) Result {
	var res Result
	if c.P.Role == model.RoleLauncher {
		return res // a launcher only waits for its children
	}
	var claims []finding.Finding
	l := newBook(c.B)
	res.Skipped = run(all, c, l, func(d *finding.Draft) {
		f := d.Finding
		f.Booked = d.Claim.Parts
		c.AtUser(&f)
		c.CalledFrom(&f)
		notAgain(c, &f)
		certain(c, &f)
		timed.Beyond(c, &f)
		f.Asleep = timed.Asleep(c, &f)
		l.settle(&f)
		claims = append(claims, f)
	})
	kernels, skipped := onDevice(c, t, l)
	claims, res.Skipped = append(claims, kernels...), append(res.Skipped, skipped...)
	behindStraggler(c, claims)
	for _, f := range claims {
		if saved := facts.SavedShare(c, &f); saved >= finding.Floor || f.Healthy || f.Stops {
			res.Findings = append(res.Findings, f)
		} else {
			res.Largest = max(res.Largest, saved)
		}
	}
	res.Findings = append(res.Findings, otherKinds(c, res.Findings)...)
	res.Findings = oneFunction(c, res.Findings)
	restOfRun(c, res.Findings)
	cheaperRounds(c, res.Findings)
	res.settle(c)
	if f, ok := traced.FindCompute(c, computing(c, l)); ok {
		notAgain(c, &f)
		if t != nil {
			f.Evidence = append(f.Evidence, t.Kinds()...)
		}
		res.Findings = append(res.Findings, f)
	}
	return res
}

// behindStraggler takes the time that the accounted rank waits for a late one off its own findings: as long as it has to wait
// anyway, working faster saves nothing. What slows the late rank is the straggler finding's own reason. Where the accounted rank is
// the late one, its findings about what makes it late are that reason, and keep what they would save beyond it.
func behindStraggler(c *facts.Facts, all []finding.Finding) {
	i := slices.IndexFunc(all, func(f finding.Finding) bool { return f.Cause == finding.Straggler })
	if i < 0 {
		return
	}
	late := &all[i]
	if len(late.Booked) > 0 {
		slack := c.PerStep(late.Booked[account.PartComm])
		for k := range all {
			if f := &all[k]; k != i && !f.OfRun && f.Cause != finding.Comm {
				less(c, f, slack)
			}
		}
		return
	}
	left := late.Step.Mid
	for k := range all {
		f := &all[k]
		if k == i || f.OfRun || f.Cause == finding.Comm || !sameReason(late, f) {
			continue
		}
		same := min(f.Step.Mid, left)
		left -= same
		less(c, f, same)
	}
}

// less takes ns per step off a finding's saving.
func less(c *facts.Facts, f *finding.Finding, ns float64) {
	f.Step = finding.Bounds(max(f.Step.Low-ns, 0), max(f.Step.Mid-ns, 0), max(f.Step.High-ns, 0))
	f.Run = c.OverRun(f.Step)
}

// sameReason says that a finding of the late rank is about what makes it late: its reason, or the same place.
func sameReason(late, f *finding.Finding) bool {
	if b := late.Because; b != nil && b.Cause == f.Cause && b.Sub == f.Sub && b.Where.File == f.Where.File && b.Where.Line == f.Where.Line {
		return true
	}
	return f.Where.File != "" && f.Where.File == late.Where.File && f.Where.Function == late.Where.Function
}
