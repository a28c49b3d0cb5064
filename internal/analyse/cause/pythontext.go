package cause

import (
	"fmt"
	"math"
	"strings"

	"bottleneck/internal/analyse"
	"bottleneck/internal/model"
)

// textFiles are the files of libraries that write tensors, arrays and tables as text.
var textFiles = []string{"/torch/_tensor_str.py", "/numpy/_core/arrayprint.py", "/numpy/core/arrayprint.py", "/pandas/io/formats/"}

// findText names the function in which tensors or arrays are written as text: operators and interpreter alike, whichever of the two
// the samples show. It comes before launch and python, which would see many small operators or a busy interpreter there.
func findText(c *Context) []Finding {
	files := map[model.Str]bool{}
	chains := chainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *analyse.Attributed) bool {
		switch a.Part {
		case analyse.PartPython, analyse.PartOps, analyse.PartSync:
			return c.writesText(c.P.Samples.Stack[a.Index], files)
		}
		return false
	})
	sp, ok := hottest(chains, c.drivers)
	if !ok || c.share(sp.unit) < Floor || sp.samples < minSamples {
		return nil
	}
	f := Finding{Cause: Python, Where: c.where(sp), Share: c.share(sp.unit), Confidence: c.basis(sp.samples), claim: map[analyse.PartID]float64{}}
	for _, m := range sp.members {
		f.claim[c.B.Samples[m].Part] += c.B.Samples[m].Weight
		c.beside[m] = true
	}
	f.Title = fmt.Sprintf("%s writes tensors or arrays as text", c.shareOf(f.Share, sp.members))
	t := c.perStep(sp.unit)
	spread := 1.64 / math.Sqrt(float64(sp.samples)) // of a count of samples, 90 %
	f.Step = Range{max(min(0.8, 0.93*(1-spread)), 0) * t, t, (1 + spread) * t}
	f.Run = c.overRun(f.Step)
	f.Evidence = []Evidence{{Text: fmt.Sprintf("%s per %s in the code that makes text of them, and in the operators that it calls", ms(t), c.Unit()), Value: t / 1e6, Unit: "ms"}}
	f.Fix.Text = "Write them every n-th step, or a number that sums them up. In a call of logging leave the formatting to it, " +
		`log.debug("%s", x) instead of an f-string: it then happens only where the level asks for the line.`
	f.Caveat = "The elements are fetched and compared one after the other to choose their format, which costs far more than what is printed in the end."
	c.grows(&f, sp.members)
	return []Finding{f}
}

// writesText says that a stack's innermost frames, below the user's, write a tensor or an array as text. files keeps what is known of files.
func (c *Context) writesText(id model.StackID, files map[model.Str]bool) (text bool) {
	c.C.Walk(id, func(fr model.FrameID) bool {
		file := c.C.Stacks.Frames[fr].File
		is, known := files[file]
		if !known {
			path := c.text(file)
			for _, part := range textFiles {
				is = is || strings.Contains(path, part)
			}
			files[file] = is
		}
		text = is
		return !is && c.C.File(file) != analyse.FileUser
	})
	return text
}
