package input

import (
	"strings"

	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/pysource"
)

// makesAnew says that much of the fetch makes the same for each sample.
func (v *inputView) makesAnew() bool { return v.anewPart > 0 }

// findAnew looks for the line of the fetch in which most of it makes the same for each sample: a transformation that is built in
// __getitem__, a table that is read there. The outermost of such lines counts, with all that it calls.
func (v *inputView) findAnew(c *facts.Facts) {
	if v.loader == nil || v.loader.Iterable || v.samples < facts.MinSamples || v.all <= 0 {
		return // what an iteration does before its loop is done once
	}
	var read pysource.Reader
	known := map[facts.PlaceKey]bool{}
	held := map[facts.PlaceKey][]facts.Chain{}
	var most facts.PlaceKey
	for _, ch := range v.awake {
		for n := range ch.Frames {
			f := &ch.Frames[n]
			at := facts.PlaceKey{F: facts.KeyOf(f), Line: f.Line}
			alike, asked := known[at]
			if source := c.S.Sources[v.cls.Strings.Text(f.File)]; !asked && source != nil && !v.mains[at.F] {
				name := v.cls.Strings.Text(f.Function)
				name = name[strings.LastIndexByte(name, '.')+1:]
				alike = read.AlikeEachCall(pysource.At{Source: source.Lines, Name: name, Line: f.Line})
				known[at] = alike
			}
			if alike {
				held[at] = append(held[at], facts.Chain{Frames: ch.Frames[n:], Weight: ch.Weight, Index: ch.Index})
				break
			}
		}
	}
	for at, list := range held {
		if t, than := facts.Sum(list), facts.Sum(held[most]); t > than || t == than && at.Line > most.Line {
			most = at
		}
	}
	if t := facts.Sum(held[most]); t >= price.HotFetch*v.all {
		v.anew, v.anewPart = facts.SpotOf(held[most], 0, t), t/v.all
	}
}
