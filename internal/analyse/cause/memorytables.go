package cause

import (
	"fmt"
	"regexp"
	"strings"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// findTables names embedding tables whose gradient holds all rows although a step looks up few of them: making it and the optimizer's
// work grow with the table, not with the batch.
func findTables(c *Facts, l Ledger) []Draft {
	if c.B.Part(analyse.PartOps) <= 0 || c.usesDevice() {
		return nil
	}
	var all, most analyse.TableGradient
	kept := 0.0
	tables, step := analyse.TableGradients(c.S, c.B)
	for _, t := range tables {
		used, own := t.Lookups/float64(t.Rows), t.Backward+t.Optimizer
		if t.Tied || used > price.SparseRows {
			continue
		}
		if most.Rows == 0 {
			most = t
		}
		all.Backward += t.Backward
		all.Optimizer += t.Optimizer
		kept += min(own, price.SparseRow.Mid*used*own+price.SparseCall.Mid)
	}
	if most.Rows == 0 || step <= 0 {
		return nil
	}
	scale := c.B.Part(analyse.PartOps) / step // from ns of a traced step to ns over the windows
	backward, optimizer := scale*all.Backward, scale*all.Optimizer
	time := backward + optimizer
	if c.share(time-scale*kept) < Floor {
		return nil
	}
	f := draft(Finding{Cause: MemoryBound, Sub: "tables", Where: nowhere(), Share: c.share(time), Confidence: c.basis(len(c.B.Samples))},
		Parts{analyse.PartOps: time})
	f.Claim.Optimizer = optimizer
	c.tablesPlace(l, &f.Finding, optimizer >= backward)
	per, left := c.perStep(time), c.perStep(scale*kept)
	f.Step = bounds(price.SparseTable.Bounds().Low*max(per-2*left, 0), per-left, per)
	f.Run = c.overRun(f.Step)
	f.Title = wording.Raw(fmt.Sprintf("%s of %s goes over whole embedding tables of which it uses few rows", percent(f.Share), c.each()))
	f.Evidence = []wording.Text{
		wording.Raw(fmt.Sprintf("%s per %s: gradients of all rows %s, the optimizer on them %s", ms(per), c.Unit(), ms(c.perStep(backward)), ms(c.perStep(optimizer))), wording.RawFact(per/1e6, "ms")),
		wording.Raw(fmt.Sprintf("the costliest table has %d rows of %d numbers, and a %s looks up %.0f of them at most (%s)", most.Rows, most.Width, c.Unit(), most.Lookups, percent(most.Lookups/float64(most.Rows))), wording.RawFact(most.Lookups, "")),
	}
	f.Fix.Advice = []wording.Text{wording.Raw("Build the table with sparse=True: its gradient holds the rows in use, and the optimizer changes these alone. SGD and Adagrad take such gradients; in place of Adam, give the tables' parameters to torch.optim.SparseAdam and the others to Adam.")}
	f.Fix.Action = setArguments("nn.Embedding", Argument{"sparse", "True"})
	c.builtAt(&f.Finding)
	f.Caveat = []wording.Text{wording.Raw("A row's moments then change in the steps that use it only, so that training differs a little; weight decay, momentum and clip_grad_norm_ on the tables need dense gradients. What a row in use costs with a sparse gradient is an estimate from other programs.")}
	return []Draft{f}
}

// buildsTable matches a call that builds an embedding table.
var buildsTable = regexp.MustCompile(`\bEmbedding(Bag)?\(`)

// manyTables is the number of lines from which they are not listed.
const manyTables = 5

// builtAt says where the program builds tables. The change stays a description: the optimizer changes with it.
func (c *Facts) builtAt(f *Finding) {
	f.Fix.Action.uncertain = true
	lines := c.userLines(func(code string) bool {
		return buildsTable.MatchString(code) && !strings.HasPrefix(code, "class ")
	})
	if len(lines) == 0 || len(lines) >= manyTables {
		return
	}
	f.Fix.Action.File, f.Fix.Action.Line = lines[0].file, lines[0].line
	f.Fix.Action.Call = "nn." + strings.TrimSuffix(buildsTable.FindString(lines[0].text), "(")
	if len(lines) > 1 {
		var at []string
		for _, l := range lines {
			at = append(at, place(Where{File: l.file, Line: l.line}))
		}
		f.Fix.Advice = append(f.Fix.Advice, wording.Raw(" Tables are built at "+strings.Join(at, ", ")+"."))
	}
}

// tablesPlace is the user's line that runs the optimizer, or else the backward pass.
func (c *Facts) tablesPlace(l Ledger, f *Finding, optimizer bool) {
	act := analyse.ActBackward
	if optimizer {
		act = analyse.ActOptimizer
	}
	chains := chainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *analyse.Attributed) bool {
		return a.Part == analyse.PartOps && !l.Taken(k) && c.C.Info(c.P.Samples.Stack[a.Index]).Acts&act != 0
	})
	if sp, ok := hottest(chains, c.drivers); ok && len(chains) >= minSamples {
		f.Where = c.where(sp)
	}
}
