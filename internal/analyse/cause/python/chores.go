package python

import (
	"regexp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/pysource"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// chore is work of a library that is one thing to the user, whichever operators it calls on its way and however long the
// interpreter takes for it.
type chore struct {
	files []string // parts of paths; with "*" the end of the path of a module of the standard library
	// ids of texts
	title, evidence, fix, caveat string
	together                     bool // one switch ends it wherever it is asked for
	looped                       bool // it is one where a loop within the step asks for it each time, with its backward passes
}

// chores are looked for in this order; a sample is of the first whose files lie below the user's code.
var chores = []chore{
	{files: []string{"/torch/_tensor_str.py", "/numpy/_core/arrayprint.py", "/numpy/core/arrayprint.py", "/pandas/io/formats/"},
		title: "python.title-text", evidence: "python.text", fix: "python.fix-text", caveat: "python.caveat-text"},
	{files: []string{"*/copy.py"},
		title: "python.title-copies", evidence: "python.copies", fix: "python.fix-copies", caveat: "python.caveat-copies"},
	{files: []string{"/torch/distributions/constraints.py", "/torch/distributions/distribution.py"},
		title: "python.title-validated", evidence: "python.validated", fix: "python.fix-validated", caveat: "python.caveat-validated",
		together: true},
	{files: []string{"/torch/nn/utils/parametrize.py"},
		title: "python.title-parametrized", evidence: "python.parametrized", fix: "python.fix-parametrized",
		caveat: "python.caveat-parametrized", together: true, looped: true},
}

// FindChores names the functions that ask for chores: operators and interpreter alike, whichever of the two the samples show. It comes
// before launch and python, which would see many small operators or a busy interpreter there.
func FindChores(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	known := map[model.Str]int{}
	var out []finding.Draft
	for i := range chores {
		chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool {
			switch a.Part {
			case account.PartPython, account.PartOps, account.PartSync, account.PartGC:
				return choreOf(c, c.P.Samples.Stack[a.Index], known) == i
			}
			return false
		})
		if chores[i].looped {
			lines := map[facts.PlaceKey]bool{}
			chains = slices.DeleteFunc(chains, func(ch facts.Chain) bool { return !inLoop(c, &ch, lines) })
		}
		sp, ok := facts.Hottest(chains, c.Drivers)
		if chores[i].together {
			sp.Unit, sp.Samples, sp.Members = facts.Sum(chains), len(chains), membersOf(chains)
		}
		if ok && c.Share(sp.Unit) >= finding.Floor && sp.Samples >= facts.MinSamples {
			out = append(out, choreFinding(c, &chores[i], sp))
		}
	}
	return out
}

func choreFinding(c *facts.Facts, ch *chore, sp facts.Spot) finding.Draft {
	f := finding.NewDraft(finding.Finding{Cause: finding.Python, Where: c.Where(sp), Share: c.Share(sp.Unit),
		Confidence: c.Basis(sp.Samples)}, nil)
	f.Claim = choreClaim(c, sp.Members)
	f.Title = wording.Say(ch.title, wording.With("share", c.ShareOf(f.Share, sp.Members)))
	t := c.PerStep(sp.Unit)
	if f.Step = f.By(price.PythonChore).Sampled(sp.Samples).Scale(t); ch.looped {
		f.Step = f.By(price.Parametrized).Times(t)
	}
	f.Run = c.OverRun(f.Step)
	f.Evidence = []wording.Text{wording.Say(ch.evidence, wording.Time("time", t), c.Said())}
	f.Fix.Advice, f.Caveat = []wording.Text{wording.Say(ch.fix)}, []wording.Text{wording.Say(ch.caveat)}
	c.Grows(&f.Finding, sp.Members)
	return f
}

// inLoop says that a line on a chain stands in a loop of a function that does not drive the steps, and does not call what the loop goes
// over, as layers one after the other. known keeps what is known of lines.
func inLoop(c *facts.Facts, ch *facts.Chain, known map[facts.PlaceKey]bool) bool {
	return slices.ContainsFunc(ch.Frames, func(f model.Frame) bool {
		key := facts.PlaceKey{F: facts.KeyOf(&f), Line: f.Line}
		looped, seen := known[key]
		if src := c.S.Sources[c.Text(f.File)]; !seen && src != nil && !c.Drivers[key.F] {
			at := pysource.OutermostLoop(src.Lines, f.Line)
			looped = at > 0 && !callsItsOwn(src.Lines[at-1:f.Line])
		}
		known[key] = looped
		return looped
	})
}

// goesOver are the names that a loop gives to what it goes over.
var goesOver = regexp.MustCompile(`^\s*(?:async\s+)?for\s+(.+?)\s+in\b`)

// callsItsOwn says of a loop's lines that the last one calls what a name of the loop stands for, or something at that place of a list.
func callsItsOwn(lines []string) bool {
	for _, line := range lines {
		m := goesOver.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for _, name := range names.FindAllString(m[1], -1) {
			own := regexp.MustCompile(`(?:^|[^\w.])` + name + `(?:\.\w+)*\s*\(|\[[^\]]*\b` + name + `\b[^\]]*\](?:\.\w+)*\s*\(`)
			if own.MatchString(lines[len(lines)-1]) {
				return true
			}
		}
	}
	return false
}

var names = regexp.MustCompile(`[A-Za-z_]\w*`)

// choreClaim is a claim to samples (indices of attributed ones) whose operators are all small, and which no later rule shall see.
func choreClaim(c *facts.Facts, members []int) finding.Claim {
	claim := finding.Claim{Parts: finding.Parts{}, Samples: members}
	for _, m := range members {
		claim.Parts[c.B.Samples[m].Part] += c.B.Samples[m].Weight
	}
	claim.Small = claim.Parts[account.PartOps]
	return claim
}

// choreOf is the chore that a stack's frames below the user's innermost one do, -1 for none. known keeps what files are.
func choreOf(c *facts.Facts, id model.StackID, known map[model.Str]int) int {
	found := -1
	c.C.Walk(id, func(fr model.FrameID) bool {
		file := c.C.Stacks.Frames[fr].File
		i, seen := known[file]
		if !seen {
			i = choreFile(strings.ReplaceAll(c.Text(file), `\`, "/"))
			known[file] = i
		}
		found = i
		return i < 0 && c.C.File(file) != code.FileUser
	})
	return found
}

// choreFile is the chore that a file is of, -1 for none.
func choreFile(path string) int {
	for i := range chores {
		for _, part := range chores[i].files {
			end, standard := strings.CutPrefix(part, "*") // of the standard library
			if !standard && strings.Contains(path, part) || standard && strings.HasSuffix(path, end) &&
				code.ClassifyFile(path) == code.FileLibrary && !strings.Contains(path, "-packages/") {
				return i
			}
		}
	}
	return -1
}
