package page

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Schema is the name and version of the parts; the page refuses others.
const Schema = "bottleneck.page/1"

// Page makes the parts of one session. Its methods may be called by many at a time.
type Page struct {
	session *model.Session
	report  *report.Report
	tables  []Table
	// What takes a while is made when it is first asked for.
	lineTimes func() map[string][]report.LineTime
	sources   map[string]*model.Source
	flames    map[string]func() *Flame
	panels    map[string]func() *Panels
	steps     func() []oneStep
	whatIf    func() *whatIf
	diff      *report.Diff // nil: nothing is compared
	compared  []string     // parts of its tables
	listed    func() []View
	timeline  *timeline
}

// MaxRows is how many rows the Python tables of a page's report may have: the page draws only those in sight.
const MaxRows = 5000

// ErrNoPart is what Part returns, wrapped with the name, where the session has no such part.
var ErrNoPart = errors.New("no such part")

// New prepares the page of a session with its report.
func New(s *model.Session, r *report.Report) *Page {
	p := &Page{session: s, report: r, tables: tablesOf(r)}
	p.lineTimes = sync.OnceValue(func() map[string][]report.LineTime {
		times := map[string][]report.LineTime{}
		for file, lines := range report.LineTimes(s, report.SampleChoice{}) {
			times[report.CleanPath(file)] = append(times[report.CleanPath(file)], lines...)
		}
		return times
	})
	p.sources = map[string]*model.Source{}
	for file, text := range s.Sources {
		p.sources[report.CleanPath(file)] = text
	}
	p.flames = flamesOf(s)
	p.timeline = newTimeline(s)
	p.steps = sync.OnceValue(func() []oneStep { return stepsOf(s) })
	if len(r.Steps) > 0 {
		p.tables = append(p.tables, withRows(slowTable(r, p.steps()))...)
	}
	p.panels = p.panelsOf()
	p.whatIf = sync.OnceValue(func() *whatIf { return newWhatIf(s) })
	p.listed = sync.OnceValue(p.allViews)
	return p
}

// Ready prepares what the first view needs, before anybody waits for it.
func (p *Page) Ready() *Page {
	p.listed()
	return p
}

// Part makes one part by its name: "summary", or a kind and a name with a slash between them, as Summary.Views lists them.
func (p *Page) Part(name string) (any, error) {
	kind, rest, _ := strings.Cut(name, "/")
	switch kind {
	case "summary":
		if rest == "" {
			return p.Summary(), nil
		}
	case "flame":
		if make := p.flames[rest]; make != nil {
			if f := make(); f != nil {
				return f, nil
			}
		}
	case "timeline", "tile", "find", "path", "shared":
		if part := p.overTime(kind, rest); part != nil {
			return part, nil
		}
	case "panels":
		if make := p.panels[rest]; make != nil && p.hasPanels(rest) {
			return make(), nil
		}
	case "what-if":
		return p.askWhatIf(rest)
	case "sources":
		return &Sources{p.sourceFiles()}, nil
	case "source":
		if src := p.source(rest); src != nil {
			return src, nil
		}
	case "table":
		for i := range p.tables {
			if p.tables[i].Name == rest {
				return &p.tables[i], nil
			}
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrNoPart, name)
}

// overTime makes the parts of the timeline; nil where there is none of that name.
func (p *Page) overTime(kind, rest string) any {
	switch t := p.timeline; {
	case t == nil:
	case kind == "find":
		return t.find(rest)
	case kind == "timeline" && rest == "":
		return t.part(p.report)
	case kind == "path" && rest == "":
		if c := t.path(); c != nil {
			return c
		}
	case kind == "shared" && rest == "":
		if c := t.shared(); c != nil {
			return c
		}
	case kind == "tile":
		if level, index, ok := tileNumber(rest); ok && level < t.levels() {
			return t.tile(level, index)
		}
	}
	return nil
}

// Embedded names the parts that a file of the page holds, the summary first.
func (p *Page) Embedded() []string {
	names := []string{"summary"}
	for _, v := range p.listed() {
		names = append(names, v.Part)
		if _, turned := p.flames[strings.TrimPrefix(v.Part, "flame/")+invertedSuffix]; turned { // differences are not turned round
			names = append(names, v.Part+invertedSuffix)
		}
	}
	for _, v := range p.listed() {
		switch v.Kind {
		case "panels":
			names = append(names, p.panels[v.ID]().Tables...)
		case "what-if":
			names = append(names, p.embeddedAnswers()...)
		}
	}
	names = unique(names)
	for _, f := range p.sourceFiles() {
		names = append(names, f.Part)
	}
	if p.timeline != nil {
		if p.timeline.path() != nil {
			names = append(names, "path")
		}
		if p.timeline.shared() != nil {
			names = append(names, "shared")
		}
		names = append(names, p.timeline.fileTiles()...)
	}
	return names
}

// unique leaves the first of equal names.
func unique(names []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(names, func(name string) bool {
		before := seen[name]
		seen[name] = true
		return before
	})
}
