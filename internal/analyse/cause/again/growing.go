package again

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
)

// growingLine is a line that calls a model, as far as its calls were looked at: how many there are, and those in turn of which each is
// given as many rows more as the one before, with the same weights and without gradients.
type growingLine struct {
	file  model.Str
	line  int32
	calls int
	turns []turn
}

// turn is such calls one after the other, as for one text.
type turn struct {
	calls       int
	from, to    int64 // rows of the first and of the last one
	by          int64
	first, last model.Time
}

// growingCalls is the line that has most calls in such turns; nil where there is none. A mask of all tokens, or keys and values, may grow
// beside the newest token: what has the fewest rows must grow.
func growingCalls(rows []model.Asked) (best *growingLine) {
	type caller struct {
		module int64
		file   model.Str
		line   int32
	}
	calls := map[caller][]*model.Asked{}
	var order []caller // that of the first calls
	for i := range rows {
		at := caller{rows[i].Module, rows[i].File, rows[i].Line}
		if calls[at] == nil {
			order = append(order, at)
		}
		calls[at] = append(calls[at], &rows[i])
	}
	for _, at := range order {
		l := &growingLine{file: at.file, line: at.line, calls: len(calls[at]), turns: turns(calls[at])}
		if len(l.turns) > 0 && (best == nil || l.grown() > best.grown()) {
			best = l
		}
	}
	return best
}

// turns are the calls of one model at one line that grow.
func turns(calls []*model.Asked) (out []turn) {
	for i := 1; i < len(calls); i++ {
		a, b := calls[i-1], calls[i]
		by := b.Fewest - a.Fewest
		if a.Fewest <= 0 || by <= 0 || a.Gradients || b.Gradients || a.Weights != b.Weights {
			continue
		}
		if n := len(out); n > 0 && out[n-1].last == a.Time && out[n-1].by == by {
			out[n-1].calls, out[n-1].to, out[n-1].last = out[n-1].calls+1, b.Fewest, b.Time
			continue
		}
		out = append(out, turn{calls: 2, from: a.Fewest, to: b.Fewest, by: by, first: a.Time, last: b.Time})
	}
	return slices.DeleteFunc(out, func(t turn) bool { return t.calls < price.PrefixCalls })
}

// grown is how many of the line's calls go on with a text. The first one of each is computed whole in any case.
func (l *growingLine) grown() (n int) {
	for _, t := range l.turns {
		n += t.calls - 1
	}
	return n
}

// share is these as a part of all.
func (l *growingLine) share() float64 { return float64(l.grown()) / float64(max(l.calls, 1)) }

// longestTurn is the turn with the most rows.
func (l *growingLine) longestTurn() turn {
	return slices.MaxFunc(l.turns, func(a, b turn) int { return cmp.Compare(a.to, b.to) })
}

// growths are the line's turns as steps that grow, where each call is a step.
func (l *growingLine) growths(steps []model.Step) (out []growth) {
	number := func(t model.Time) int64 {
		for i := range steps {
			if steps[i].Start <= t && t < steps[i].End {
				return steps[i].Number
			}
		}
		return -1
	}
	for _, t := range l.turns {
		first, last := number(t.first), number(t.last)
		if first >= 0 && last-first == int64(t.calls-1) && t.to >= price.PrefixTokens*t.by {
			out = append(out, growth{number: last, rows: t.to, by: t.by, steps: int64(t.calls)})
		}
	}
	return out
}

// long says that the line's texts are long from their beginning, and grow by so little that the steps' time cannot show it.
func (l *growingLine) long() bool {
	return !slices.ContainsFunc(l.turns, func(t turn) bool {
		return t.from < price.PrefixLong*t.by || float64(t.to) > price.PrefixHidden*float64(t.from)
	})
}

// through says that traced steps multiply as many rows with weights as the line's calls are given, as far as they tell, and that something
// in them attends: what each token is to be computed from is then in its keys and values.
func (l *growingLine) through(c *facts.Facts, rows []account.StepRows) bool {
	least := slices.MinFunc(l.turns, func(a, b turn) int { return cmp.Compare(a.from, b.from) }).from
	if len(rows) > 0 && slices.MaxFunc(rows, func(a, b account.StepRows) int { return cmp.Compare(a.Rows, b.Rows) }).Rows < least {
		return false
	}
	attends := false
	account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, _ bool) {
		name := c.Text(ev.Name[id])
		attends = attends || strings.Contains(name, "attention") || strings.HasSuffix(name, "softmax")
	})
	return attends
}

// beneath are the chains within a call from the line.
func (l *growingLine) beneath(c *facts.Facts, chains []facts.Chain) []facts.Chain {
	stacks := map[model.StackID]bool{}
	return slices.DeleteFunc(slices.Clone(chains), func(ch facts.Chain) bool {
		id := c.P.Samples.Stack[c.B.Samples[ch.Index].Index]
		found, seen := stacks[id]
		if !seen {
			c.C.Walk(id, func(fr model.FrameID) bool {
				f := &c.C.Stacks.Frames[fr]
				found = f.File == l.file && f.Line == l.line
				return !found
			})
			stacks[id] = found
		}
		return !found
	})
}
