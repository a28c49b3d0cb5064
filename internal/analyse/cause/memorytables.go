package cause

import (
	"math"
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
	f.Title = wording.Say("memory.tables", wording.Share("share", f.Share), c.unit())
	f.Evidence = []wording.Text{
		wording.Say("memory.table-time", wording.Time("time", per), c.unit(), wording.Time("backward", c.perStep(backward)),
			wording.Time("optimizer", c.perStep(optimizer))),
		wording.Say("memory.table-rows", wording.Count("lookups", math.Round(most.Lookups)), wording.Count("rows", most.Rows),
			wording.Count("width", most.Width), c.unit(), wording.Share("share", most.Lookups/float64(most.Rows))),
	}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-sparse")}
	f.Fix.Action = setArguments("nn.Embedding", Argument{Name: "sparse", Value: "True"})
	c.builtAt(&f.Finding)
	f.Caveat = []wording.Text{wording.Say("memory.caveat-tables")}
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
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("memory.fix-built-at", wording.Named("places", strings.Join(at, ", "))))
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
