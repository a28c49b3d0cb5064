package memory

import (
	"math"
	"regexp"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/wording"
)

// FindTables names embedding tables whose gradient holds all rows although a step looks up few of them: making it and the optimizer's
// work grow with the table, not with the batch.
func FindTables(c *facts.Facts, l finding.Ledger) []finding.Draft {
	if c.B.Part(account.PartOps) <= 0 || c.UsesDevice() {
		return nil
	}
	var all, most account.TableGradient
	kept := 0.0
	tables, step := account.TableGradients(c.S, c.B)
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
	scale := c.B.Part(account.PartOps) / step // from ns of a traced step to ns over the windows
	backward, optimizer := scale*all.Backward, scale*all.Optimizer
	time := backward + optimizer
	if c.Share(time-scale*kept) < finding.Floor {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.MemoryBound, Sub: "tables", Where: finding.Nowhere(), Share: c.Share(time),
		Confidence: c.Basis(len(c.B.Samples))},
		finding.Parts{account.PartOps: time})
	f.Claim.Optimizer = optimizer
	tablesPlace(c, l, &f.Finding, optimizer >= backward)
	per, left := c.PerStep(time), c.PerStep(scale*kept)
	f.Step = finding.Bounds(price.SparseTable.Bounds().Low*max(per-2*left, 0), per-left, per)
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("memory.tables", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{
		wording.Say("memory.table-time", wording.Time("time", per), c.Said(), wording.Time("backward", c.PerStep(backward)),
			wording.Time("optimizer", c.PerStep(optimizer))),
		wording.Say("memory.table-rows", wording.Count("lookups", math.Round(most.Lookups)), wording.Count("rows", most.Rows),
			wording.Count("width", most.Width), c.Said(), wording.Share("share", most.Lookups/float64(most.Rows))),
	}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-sparse")}
	f.Fix.Action = finding.SetArguments("nn.Embedding", finding.Argument{Name: "sparse", Value: "True"})
	builtAt(c, &f.Finding)
	f.Caveat = []wording.Text{wording.Say("memory.caveat-tables")}
	return []finding.Draft{f}
}

// buildsTable matches a call that builds an embedding table.
var buildsTable = regexp.MustCompile(`\bEmbedding(Bag)?\(`)

// manyTables is the number of lines from which they are not listed.
const manyTables = 5

// builtAt says where the program builds tables. The change stays a description: the optimizer changes with it.
func builtAt(c *facts.Facts, f *finding.Finding) {
	f.Fix.Action.Uncertain = true
	lines := c.UserLines(func(code string) bool {
		return buildsTable.MatchString(code) && !strings.HasPrefix(code, "class ")
	})
	if len(lines) == 0 || len(lines) >= manyTables {
		return
	}
	f.Fix.Action.File, f.Fix.Action.Line = lines[0].File, lines[0].Line
	f.Fix.Action.Call = "nn." + strings.TrimSuffix(buildsTable.FindString(lines[0].Text), "(")
	if len(lines) > 1 {
		var at []string
		for _, l := range lines {
			at = append(at, finding.Place(finding.Where{File: l.File, Line: l.Line}))
		}
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("memory.fix-built-at", wording.Named("places", strings.Join(at, ", "))))
	}
}

// tablesPlace is the user's line that runs the optimizer, or else the backward pass.
func tablesPlace(c *facts.Facts, l finding.Ledger, f *finding.Finding, optimizer bool) {
	act := code.ActBackward
	if optimizer {
		act = code.ActOptimizer
	}
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *account.Attributed) bool {
		return a.Part == account.PartOps && !l.Taken(k) && c.C.Info(c.P.Samples.Stack[a.Index]).Acts&act != 0
	})
	if sp, ok := facts.Hottest(chains, c.Drivers); ok && len(chains) >= facts.MinSamples {
		f.Where = c.Where(sp)
	}
}
