package again

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// jacobiansTold is how many the agent tells of: CALLS of its jacobians.py.
const jacobiansTold = 512

// jacobians are those of one line that are computed in one way.
type jacobians struct {
	file            model.Str
	line            int32
	byRow           bool
	calls           int
	outputs, inputs int64   // of the last one
	call, backward  float64 // ns of the functions' calls, and of going backward
	forward         float64 // ns of backward passes by the ratio of inputs to outputs
	inSteps         float64 // ns of both in accounted steps
}

// FindJacobians names Jacobians that take a backward pass for each of many rows: where the function takes fewer numbers, going forward
// takes fewer passes, and rows that are computed one by one can be computed at once. What a device computes is not timed here.
func FindJacobians(c *facts.Facts, _ finding.Ledger) (out []finding.Draft) {
	if c.OnDevice() || c.Wall <= 0 {
		return nil
	}
	for _, j := range jacobiansOf(c) {
		f := finding.NewDraft(finding.Finding{Cause: finding.Again, Sub: "jacobian", Where: c.At(j.file, j.line),
			Confidence: c.ExactBasis(j.calls)}, nil)
		f.Evidence = []wording.Text{wording.Say("again.jacobian", wording.Time("time", j.call+j.backward), wording.Count("calls", j.calls),
			wording.Count("inputs", j.inputs), wording.Count("outputs", j.outputs))}
		saves := j.ahead
		if j.byRow {
			saves = j.atOnce
		}
		if saved := saves(&f); saved.Mid > 0 {
			j.put(c, &f, saved)
			out = append(out, f)
		}
	}
	return out
}

// atOnce prices one pass for all rows, and says how.
func (j *jacobians) atOnce(f *finding.Draft) finding.Range {
	f.Fix.Advice = []wording.Text{wording.Say("again.fix-jacobian-rows")}
	if j.outputs >= price.JacobianLonger*j.inputs {
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("again.fix-jacobian-forward"))
	}
	f.Caveat = []wording.Text{wording.Say("again.caveat-jacobian-rows")}
	return f.By(price.JacobianAtOnce).Times(j.call + j.backward)
}

// ahead prices a pass forward for each number that goes in, and says how.
func (j *jacobians) ahead(f *finding.Draft) finding.Range {
	f.Evidence = append(f.Evidence, wording.Say("again.jacobian-calls", wording.Time("time", j.call)))
	f.Fix.Advice = []wording.Text{wording.Say("again.fix-jacobian")}
	f.Caveat = []wording.Text{wording.Say("again.caveat-jacobian")}
	left, takes := j.call+j.backward-j.forward, f.By(price.JacobianForward).Times(j.call)
	return finding.Bounds(max(left-takes.High, 0), max(left-takes.Mid, 0), max(left-takes.Low, 0))
}

// put makes a draft one of the steps, with their time, where most Jacobians are computed in accounted ones, else one of the run. saves is
// of those that the agent has told, the first of a run.
func (j *jacobians) put(c *facts.Facts, f *finding.Draft, saves finding.Range) {
	all, told := j.call+j.backward, j.told(c)
	if !c.B.PerStep || j.inSteps < all/2 || told <= 0 {
		f.OfRun, f.Share, f.Run = true, all/c.Wall, saves
		f.Title = wording.Say("again.title-jacobian-run", wording.Share("share", f.Share))
		if j.byRow {
			f.Title = wording.Say("again.title-jacobian-rows-run", wording.Share("share", f.Share))
		}
		return
	}
	t := j.inSteps * c.B.Total / told
	f.Share, f.Step = c.Share(t), saves.Scale(c.PerStep(t)/all)
	f.Run = c.OverRun(f.Step)
	if rest := 1 - f.Run.Mid/saves.Mid; told == c.B.Total && rest > 0 { // in steps that were traced, or warmed up, or of another kind
		f.Elsewhere = saves.Scale(rest)
		f.Run = f.Run.Add(f.Elsewhere)
	}
	if ops, python := c.B.Part(account.PartOps), c.B.Part(account.PartPython); ops+python > 0 {
		f.Claim.Parts = finding.Parts{account.PartOps: t * ops / (ops + python), account.PartPython: t * python / (ops + python)}
	}
	f.Title = wording.Say("again.title-jacobian", wording.Share("share", f.Share), c.Said())
	if j.byRow {
		f.Title = wording.Say("again.title-jacobian-rows", wording.Share("share", f.Share), c.Said())
	}
}

// told is the time of the accounted steps of whose Jacobians the agent tells, ns: only those of its first calls.
func (j *jacobians) told(c *facts.Facts) float64 {
	rows := c.P.Jacobians
	if len(rows) < jacobiansTold {
		return c.B.Total
	}
	return c.InSteps(math.MinInt64, rows[len(rows)-1].End)
}

// jacobiansOf are a process's Jacobians of many rows, of the lines that take most time first. What torch.autograd.functional computes at
// once is left out: how long calling the function takes is not known.
func jacobiansOf(c *facts.Facts) []*jacobians {
	type place struct {
		file  model.Str
		line  int32
		byRow bool
	}
	at := map[place]*jacobians{}
	for i := range c.P.Jacobians {
		r := &c.P.Jacobians[i]
		if r.ByRow && r.Outputs < price.JacobianRows || !r.ByRow && (r.Outputs < price.JacobianLonger*r.Inputs || r.Backward <= r.Start) {
			continue
		}
		key := place{r.File, r.Line, r.ByRow}
		j := at[key]
		if j == nil {
			j = &jacobians{file: r.File, line: r.Line, byRow: r.ByRow}
			at[key] = j
		}
		passes := float64(r.End - r.Backward)
		j.calls++
		j.outputs, j.inputs = r.Outputs, r.Inputs
		j.inSteps += c.InSteps(r.Start, r.End)
		j.call += float64(r.Backward - r.Start)
		j.backward += passes
		j.forward += passes * float64(r.Inputs) / float64(r.Outputs)
	}
	return slices.SortedFunc(maps.Values(at), func(a, b *jacobians) int {
		return cmp.Or(cmp.Compare(b.call+b.backward, a.call+a.backward), cmp.Compare(a.line, b.line), cmp.Compare(a.file, b.file))
	})
}
