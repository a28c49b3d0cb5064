package memory

import (
	"path"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/pysource"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/usage"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// FindGrowth names a process whose memory grows at each step, where a statement is seen that keeps something each time. It saves no time:
// the program ends when the memory does.
func FindGrowth(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	g, ok := usage.GrowthOf(c.P)
	if !ok {
		return nil
	}
	kept := keptAtEachStep(c, g.PerStep)
	end := memoryEnd(c, &g)
	if len(kept) == 0 || end.known && end.seconds > price.GrowthHorizon {
		return nil
	}
	k := &kept[0]
	f := finding.NewDraft(finding.Finding{Cause: finding.MemoryGrowth, Sub: keptSub[k.What], Where: finding.Nowhere(),
		Stops: true, OfRun: true}, nil)
	f.Later = !end.known || end.seconds > price.GrowthSoon
	f.Where.File, f.Where.Line, f.Where.Source = k.File, int(k.Line), c.Source(k.File, int(k.Line))
	f.Title = wording.Say("growth.title", wording.Size("size", g.PerStep))
	f.Evidence = append([]wording.Text{wording.Say("growth.seen", wording.Size("bytes", float64(g.Bytes)),
		wording.Count("steps", int(g.Steps)), wording.Size("held", float64(g.Held)))}, end.text...)
	if g.GivenOut >= 0 && g.GivenOut < holes*g.PerStep {
		f.Evidence = append(f.Evidence, wording.Say("growth.holes", wording.Size("given", g.GivenOut)))
	}
	for _, other := range kept[1:min(len(kept), 1+maxOthersKept)] {
		f.Evidence = append(f.Evidence, wording.Say("growth.other", wording.Named("target", other.Target),
			wording.Named("at", finding.Place(finding.Where{File: other.File, Line: int(other.Line)}))))
	}
	f.Fix.Advice = []wording.Text{wording.Say(keptFix[k.What], wording.Named("target", k.Target))}
	if line, becomes := detached(c, k); becomes != "" {
		f.Fix.Action.Edit(line, becomes)
	}
	f.Caveat = []wording.Text{wording.Say("growth.caveat")}
	basis, several := "growth.basis", "growth.basis-several"
	if g.Inside {
		basis, several = "growth.basis-inside", "growth.basis-inside-several"
	}
	f.Confidence = finding.Confidence{Level: finding.Medium, Why: []wording.Text{wording.Say(basis)}}
	if len(kept) > 1 && kept[1].What == k.What {
		f.Confidence = finding.Confidence{Level: finding.Low, Why: []wording.Text{wording.Say(several, wording.Count("n", len(kept)))}}
	}
	return []finding.Draft{f}
}

// holes is the share of the growth that allocators have given out below which it is said that most of it is free.
const holes = 0.5

// maxOthersKept is how many further places are named.
const maxOthersKept = 2

// keptSub names what is kept, keptFix the text of what to do about it.
var (
	keptSub = map[pysource.Keeping]string{pysource.Graph: "graph", pysource.Hook: "hook", pysource.Objects: "objects",
		pysource.Results: "cache", pysource.Numbers: "numbers"}
	keptFix = map[pysource.Keeping]string{pysource.Graph: "growth.fix-graph", pysource.Hook: "growth.fix-hook",
		pysource.Objects: "growth.fix-objects", pysource.Results: "growth.fix-cache", pysource.Numbers: "growth.fix-numbers"}
)

// keptAtEachStep are the statements that keep something at each step, what keeps most first. Numbers are left out where more grows than
// they can be.
func keptAtEachStep(c *facts.Facts, perStep float64) (out []pysource.Kept) {
	type seenAt struct {
		file string
		ran  pysource.Ran
	}
	seen, ran := map[seenAt]bool{}, map[string][]pysource.Ran{}
	for _, ch := range facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(int, *account.Attributed) bool { return true }) {
		for _, fr := range ch.Frames {
			at := seenAt{c.Text(fr.File), pysource.Ran{Line: fr.Line, Drives: c.Drivers[facts.KeyOf(&fr)]}}
			if !seen[at] {
				seen[at], ran[at.file] = true, append(ran[at.file], at.ran)
			}
		}
	}
	for _, k := range pysource.KeptIn(ownSources(c), ran) {
		if k.What != pysource.Numbers || perStep <= price.GrowthNumbers {
			out = append(out, k)
		}
	}
	return out
}

// ownSources are the program's own files.
func ownSources(c *facts.Facts) map[string][]string {
	sources := map[string][]string{}
	for file, source := range c.S.Sources {
		if source != nil && code.ClassifyFile(file) == code.FileUser {
			sources[file] = source.Lines
		}
	}
	return sources
}

// ending says when memory ends at the rate at which it grows.
type ending struct {
	known   bool
	seconds float64
	text    []wording.Text
}

// memoryEnd sets what the processes of the program hold against what the machine, or the container, has.
func memoryEnd(c *facts.Facts, g *usage.Growth) ending {
	limit := c.S.Environment.MemoryBytes
	if limit == nil || *limit <= 0 {
		return ending{}
	}
	held := int64(0)
	for _, p := range c.S.Processes {
		if n := len(p.Usage); n > 0 && p.Host == c.P.Host && p.Role != model.RoleWorker { // these share their parent's memory
			held += p.Usage[n-1].Private()
		}
	}
	left := max(float64(*limit-held), 0) / float64(max(facts.LocalRanks(c), 1))
	e := ending{known: true, seconds: left / g.PerSecond}
	e.text = []wording.Text{wording.Say("growth.end", wording.Size("limit", float64(*limit)), wording.Count("steps", int(left/g.PerStep)),
		wording.Time("time", e.seconds*1e9))}
	return e
}

// detached is the user's line with what it keeps cut off from its graph, "" where more than a name is kept.
func detached(c *facts.Facts, k *pysource.Kept) (line finding.UserLine, becomes string) {
	name := pysource.OnlyName(k)
	text := c.Source(k.File, int(k.Line))
	if k.What != pysource.Graph || name == "" || strings.Count(text, name) < 1 || path.Ext(k.File) != ".py" {
		return line, ""
	}
	at := strings.LastIndex(text, name)
	return finding.UserLine{File: k.File, Line: int(k.Line), Text: text}, text[:at] + name + ".detach()" + text[at+len(name):]
}
