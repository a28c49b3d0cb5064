package cause

import (
	"strings"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// chore is work of a library that is one thing to the user, whichever operators it calls on its way and however long the
// interpreter takes for it.
type chore struct {
	files []string // parts of paths; with "*" the end of the path of a module of the standard library
	// ids of texts
	title, evidence, fix, caveat string
}

// chores are looked for in this order; a sample is of the first whose files lie below the user's code.
var chores = []chore{
	{files: []string{"/torch/_tensor_str.py", "/numpy/_core/arrayprint.py", "/numpy/core/arrayprint.py", "/pandas/io/formats/"},
		title: "python.title-text", evidence: "python.text", fix: "python.fix-text", caveat: "python.caveat-text"},
	{files: []string{"*/copy.py"},
		title: "python.title-copies", evidence: "python.copies", fix: "python.fix-copies", caveat: "python.caveat-copies"},
}

// findChores names the functions that ask for chores: operators and interpreter alike, whichever of the two the samples show. It comes
// before launch and python, which would see many small operators or a busy interpreter there.
func findChores(c *Facts, _ Ledger) []Draft {
	known := map[model.Str]int{}
	var out []Draft
	for i := range chores {
		chains := chainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *analyse.Attributed) bool {
			switch a.Part {
			case analyse.PartPython, analyse.PartOps, analyse.PartSync, analyse.PartGC:
				return c.choreOf(c.P.Samples.Stack[a.Index], known) == i
			}
			return false
		})
		sp, ok := hottest(chains, c.drivers)
		if ok && c.share(sp.unit) >= Floor && sp.samples >= minSamples {
			out = append(out, c.choreFinding(&chores[i], sp))
		}
	}
	return out
}

func (c *Facts) choreFinding(ch *chore, sp spot) Draft {
	f := draft(Finding{Cause: Python, Where: c.where(sp), Share: c.share(sp.unit), Confidence: c.basis(sp.samples)}, nil)
	f.Claim = c.chores(sp.members)
	f.Title = wording.Say(ch.title, wording.With("share", c.shareOf(f.Share, sp.members)))
	t := c.perStep(sp.unit)
	f.Step = f.by(price.PythonChore).Sampled(sp.samples).Scale(t)
	f.Run = c.overRun(f.Step)
	f.Evidence = []wording.Text{wording.Say(ch.evidence, wording.Time("time", t), c.unit())}
	f.Fix.Advice, f.Caveat = []wording.Text{wording.Say(ch.fix)}, []wording.Text{wording.Say(ch.caveat)}
	c.grows(&f.Finding, sp.members)
	return f
}

// chores is a claim to samples (indices of attributed ones) whose operators are all small, and which no later rule shall see.
func (c *Facts) chores(members []int) Claim {
	claim := Claim{Parts: Parts{}, Samples: members}
	for _, m := range members {
		claim.Parts[c.B.Samples[m].Part] += c.B.Samples[m].Weight
	}
	claim.Small = claim.Parts[analyse.PartOps]
	return claim
}

// choreOf is the chore that a stack's frames below the user's innermost one do, -1 for none. known keeps what files are.
func (c *Facts) choreOf(id model.StackID, known map[model.Str]int) int {
	found := -1
	c.C.Walk(id, func(fr model.FrameID) bool {
		file := c.C.Stacks.Frames[fr].File
		i, seen := known[file]
		if !seen {
			i = choreFile(strings.ReplaceAll(c.text(file), `\`, "/"))
			known[file] = i
		}
		found = i
		return i < 0 && c.C.File(file) != analyse.FileUser
	})
	return found
}

// choreFile is the chore that a file is of, -1 for none.
func choreFile(path string) int {
	for i := range chores {
		for _, part := range chores[i].files {
			end, standard := strings.CutPrefix(part, "*") // of the standard library
			if !standard && strings.Contains(path, part) || standard && strings.HasSuffix(path, end) && analyse.ClassifyFile(path) == analyse.FileLibrary && !strings.Contains(path, "-packages/") {
				return i
			}
		}
	}
	return -1
}
