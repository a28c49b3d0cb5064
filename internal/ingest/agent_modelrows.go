package ingest

import (
	"encoding/json"
	"math"

	"bottleneck/internal/model"
)

// maxUpdates bounds what is kept of optimizers' parameters.
const maxUpdates = 1 << 10

func (a *agentRows) readUpdates(r row) bool {
	t, ok := r.integer(1)
	u := model.Updates{Time: model.Time(t), Optimizer: r.number(2), Parameters: r.number(3), Steps: r.number(4), Backwards: r.number(5),
		Optimizers: r.number(6)}
	if !ok || min(u.Optimizer, u.Steps) <= 0 || min(u.Parameters, u.Backwards, u.Optimizers) < 0 {
		return false
	}
	if len(a.p.Updates) < maxUpdates {
		a.p.Updates = append(a.p.Updates, u)
	}
	return true
}

// maxSaved bounds what is kept of calls of torch.save.
const maxSaved = 1 << 12

func (a *agentRows) readSaved(r row) bool {
	start, end, ok := r.times(1)
	s := model.Saved{Start: start, End: end, Thread: int(r.number(3)), Used: r.number(4), Stored: r.number(5),
		File: a.texts.Intern(r.text(6)), Line: int32(clamp(r.number(7), 0, math.MaxInt32))}
	if !ok || s.Used < 0 || s.Stored <= s.Used {
		return false
	}
	if len(a.p.Saved) < maxSaved {
		a.p.Saved = append(a.p.Saved, s)
	}
	return true
}

// maxPadding bounds what is kept of the filling of batches.
const maxPadding = 1 << 12

func (a *agentRows) readPadding(r row) bool {
	t, ok := r.integer(1)
	p := model.Padding{Time: model.Time(t), Loader: a.loader(r, 2), Rows: r.number(3), Width: r.number(4), Filled: r.number(5),
		Longest: r.number(6), File: a.texts.Intern(r.text(7)), Line: int32(clamp(r.number(8), 0, math.MaxInt32))}
	const most = 1 << 31
	if !ok || p.Rows <= 0 || p.Width <= 0 || p.Rows > most || p.Width > most || p.Longest < 0 || p.Longest > p.Width || p.Filled < 0 ||
		p.Filled > p.Rows*p.Longest {
		return false
	}
	if (p.Loader >= 0 || p.File != 0) && len(a.p.Padding) < maxPadding {
		a.p.Padding = append(a.p.Padding, p)
	}
	return true
}

// maxAsked bounds what is kept of calls of models, maxUnused of the weights that get gradients for nothing, maxSizes of their sizes in
// each.
const maxAsked, maxUnused, maxSizes = 1 << 10, 1 << 8, 1 << 6

// maxJacobians bounds what is kept of Jacobians; the agent tells of half as many.
const maxJacobians = 1 << 10

// maxDenormals bounds what is kept of tensors with denormal numbers.
const maxDenormals = 1 << 10

func (a *agentRows) readAsked(r row) bool {
	q, ok := a.asked(r, 12)
	if rows, known := r.integer(8); known && rows >= 0 {
		q.Rows = rows
		if fewest, told := r.integer(9); told && fewest >= 0 && fewest <= rows {
			q.Fewest = fewest
		}
	}
	if rows, columns := r.number(10), r.number(11); rows > 0 && columns > 0 {
		q.Zeros = [2]int64{rows, columns}
	}
	if ok && len(a.p.Asked) < maxAsked {
		a.p.Asked = append(a.p.Asked, q)
	}
	return ok
}

func (a *agentRows) readPart(r row) bool {
	q, ok := a.asked(r, 8)
	if ok && len(a.p.Parts) < maxAsked {
		a.p.Parts = append(a.p.Parts, q)
	}
	return ok
}

// asked is what rows of models' calls and of their parts' have in common; the call's end is in the column that is given.
func (a *agentRows) asked(r row, end int) (q model.Asked, ok bool) {
	t, ok := r.integer(1)
	ended := r.number(end)
	how := r.number(5)
	q = model.Asked{Time: model.Time(t), Module: r.number(2), Inputs: a.texts.Intern(r.text(3)), Weights: r.number(4),
		File: a.texts.Intern(r.text(6)), Line: int32(clamp(r.number(7), 0, math.MaxInt32)),
		Rows: -1, Fewest: -1, Gradients: how&1 != 0, Trained: how&2 != 0, Random: how&4 != 0,
		Training: how&8 != 0, Unread: how&16 != 0, LooseInts: how&32 != 0, LooseFloats: how&64 != 0}
	if ended >= t {
		q.End = model.Time(ended)
	}
	return q, ok && q.Module > 0 && q.Weights >= 0
}

func (a *agentRows) readUnused(r row) bool {
	t, ok := r.integer(1)
	u := model.Unused{Time: model.Time(t), Module: r.number(2), Class: a.texts.Intern(r.text(3)), File: a.texts.Intern(r.text(4)),
		Line: int32(clamp(r.number(5), 0, math.MaxInt32))}
	var sizes [][2]int64
	if !ok || u.Module <= 0 || len(r) < 7 || json.Unmarshal(r[6], &sizes) != nil {
		return false
	}
	for _, s := range sizes[:min(len(sizes), maxSizes)] {
		if s[0] <= 0 || s[1] <= 0 {
			return false
		}
		if u.Sizes == nil {
			u.Sizes = map[int64]int64{}
		}
		u.Sizes[s[0]] = s[1]
	}
	if len(a.p.Unused) < maxUnused {
		a.p.Unused = append(a.p.Unused, u)
	}
	return true
}

func (a *agentRows) readJacobian(r row) bool {
	called, ok := r.integer(1)
	began, _ := r.integer(2)
	ended, _ := r.integer(3)
	way := r.number(4)
	j := model.Jacobian{Start: model.Time(called), Backward: model.Time(began), End: model.Time(ended), ByRow: way == 1,
		Outputs: r.number(5), Inputs: r.number(6), File: a.texts.Intern(r.text(7)), Line: int32(clamp(r.number(8), 0, math.MaxInt32))}
	if !ok || called > began || began > ended || way < 0 || way > 1 || j.Outputs <= 0 || j.Inputs <= 0 {
		return false
	}
	if len(a.p.Jacobians) < maxJacobians {
		a.p.Jacobians = append(a.p.Jacobians, j)
	}
	return true
}

func (a *agentRows) readDenormal(r row) bool {
	t, ok := r.integer(1)
	d := model.Denormal{Time: model.Time(t), Class: a.texts.Intern(r.text(2)), File: a.texts.Intern(r.text(3)),
		Line: int32(clamp(r.number(4), 0, math.MaxInt32)), Size: r.number(5), Read: r.number(6), Found: r.number(7)}
	if !ok || d.Found < 0 || d.Read <= 0 || d.Found > d.Read || d.Read > d.Size {
		return false
	}
	if len(a.p.Denormals) < maxDenormals {
		a.p.Denormals = append(a.p.Denormals, d)
	}
	return true
}
