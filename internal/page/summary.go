package page

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"bottleneck/internal/view"
)

// Summary is what the page opens with, and the list of the views that there are.
type Summary struct {
	Schema    string          `json:"schema"`
	Tool      string          `json:"tool"`
	Title     string          `json:"title"`
	Growing   bool            `json:"growing"`
	Verdict   report.Verdict  `json:"verdict"`
	Account   *report.Account `json:"account,omitempty"`
	Breakdown []report.Part   `json:"breakdown"`
	Findings  []Card          `json:"findings"`
	Notes     []string        `json:"notes"` // what is missing or could not be made
	Next      []string        `json:"next"`  // commands to look further
	Views     []View          `json:"views"`
	Steps     *SoFar          `json:"so_far,omitempty"` // of a run that goes on
	Command   string          `json:"command"`          // serves this page with all of its data
	// Generation counts how often the session was read, where it grows; Problem is why it could not be read again.
	Generation int    `json:"generation"`
	Problem    string `json:"problem,omitempty"`
	Runs       []Run  `json:"runs,omitempty"`    // instead of all else: a folder of several runs
	InList     bool   `json:"in_list,omitempty"` // this is a run of such a folder
}

// emptySummary has no list that is null.
func emptySummary() *Summary {
	return &Summary{Schema: Schema, Breakdown: []report.Part{}, Findings: []Card{}, Notes: []string{}, Next: []string{}, Views: []View{}}
}

// View is a view that this session has something for. The page shows no other.
type View struct {
	ID    string `json:"id"`   // in the page's address
	Kind  string `json:"kind"` // table, flame, timeline, source, panels, what-if
	Title string `json:"title"`
	Group string `json:"group"`
	Part  string `json:"part"` // the part that it shows
	Rows  int    `json:"rows"` // of a table
	// Within is the view of pictures that shows this table too; the page's list names that one.
	Within string `json:"within,omitempty"`
}

// Card is a finding.
type Card struct {
	Cause    string        `json:"cause"` // cause, or cause/sub
	Title    string        `json:"title"`
	Share    float64       `json:"share"` // 0..1
	Of       string        `json:"of"`    // "step" or "run"
	Where    report.Where  `json:"where"`
	Saving   *Saving       `json:"saving,omitempty"`
	Evidence []string      `json:"evidence"`
	Because  string        `json:"because,omitempty"`
	Place    *report.Where `json:"because_where,omitempty"`
	Fix      report.Fix    `json:"fix"`
	Caveat   string        `json:"caveat,omitempty"`
	Basis    string        `json:"basis,omitempty"`
	Show     []Link        `json:"show"`
}

// Saving is what a fix would save, in milliseconds per step or of the run.
type Saving struct {
	report.Range
	Whole float64 `json:"whole_ms"` // the step or the run that it is saved from; 0 unknown
	Of    string  `json:"of"`       // "step" or "run"
	Text  string  `json:"text"`
	After string  `json:"after,omitempty"` // what is left to save once the findings above are fixed
}

// Link leads to a place in a view.
type Link struct {
	Text string   `json:"text"`
	View string   `json:"view"`
	Find string   `json:"find,omitempty"` // what to look for there
	File string   `json:"file,omitempty"`
	Line int      `json:"line,omitempty"`
	From *float64 `json:"from_us,omitempty"` // a stretch of the timeline, microseconds from its start
	To   *float64 `json:"to_us,omitempty"`
}

// Summary makes the first part.
func (p *Page) Summary() *Summary {
	r := p.report
	out := emptySummary()
	out.Tool, out.Title, out.Growing = r.Tool, view.Title(r), r.Growing
	out.Verdict, out.Account, out.Breakdown = r.Verdict, r.Account, r.Breakdown
	out.Notes, out.Next, out.Views, out.Command = p.notes(), r.Next, p.listed(), p.viewCommand()
	out.Steps = stepsSoFar(r)
	for i := range r.Findings {
		out.Findings = append(out.Findings, p.card(i))
	}
	return out
}

// viewCommand serves this page.
func (p *Page) viewCommand() string {
	command, path := "bottleneck view ", "PATH"
	if p.diff != nil {
		command += "--before " + shellQuote(p.diff.Before.Path) + " "
	}
	if len(p.report.Inputs) > 0 {
		path = shellQuote(p.report.Inputs[0].Path)
	}
	return command + path
}

func (p *Page) notes() []string {
	r := p.report
	out := append([]string{}, r.Environment.Missing...)
	if r.Run != nil {
		out = append(out, r.Run.Notes...)
	}
	for _, in := range r.Inputs {
		if in.Note != "" {
			out = append(out, in.Path+": "+in.Note)
		}
	}
	return append(out, r.Unread...)
}

// allViews lists what there is to see: pictures first, then tables.
func (p *Page) allViews() []View {
	out := []View{}
	if p.timeline != nil {
		out = append(out, View{ID: "timeline", Kind: "timeline", Title: "Timeline", Group: groupPictures, Part: "timeline"})
	}
	for _, f := range flameViews {
		if make := p.flames[f.name]; make() != nil {
			out = append(out, View{ID: "flame-" + f.name, Kind: "flame", Title: f.title, Group: groupPictures, Part: "flame/" + f.name})
		}
	}
	if files := p.sourceFiles(); len(files) > 0 {
		out = append(out, View{ID: "source", Kind: "source", Title: "Source", Group: groupPictures, Part: "sources"})
	}
	if p.hasWhatIf() {
		out = append(out, View{ID: "what-if", Kind: "what-if", Title: "What if", Group: groupPictures, Part: "what-if"})
	}
	out = append(out, p.comparisonViews()...)
	shown := map[string]bool{}
	panels := func(v *panelView) {
		if v != nil && !shown[v.id] && p.hasPanels(v.id) {
			out = append(out, View{ID: v.id, Kind: "panels", Title: v.title, Group: v.group, Part: "panels/" + v.id})
			shown[v.id] = true
		}
	}
	for i := range p.tables {
		t := &p.tables[i]
		v := panelOf(t.Name)
		panels(v)
		if v != nil && t.Name == v.id {
			continue // it stands below the pictures
		}
		view := View{ID: t.Name, Kind: "table", Title: t.Title, Group: t.Group, Part: "table/" + t.Name, Rows: t.Rows}
		if v != nil {
			view.Within = v.id
		} else if t.Group == groupCompare {
			view.Within = compareView
		}
		out = append(out, view)
	}
	return out
}

func (p *Page) card(i int) Card {
	f := &p.report.Findings[i]
	c := Card{Cause: f.Cause, Title: units.UpperFirst(f.Title), Share: f.Share, Of: f.Of, Where: f.Where, Evidence: []string{},
		Fix: f.Fix, Caveat: f.Caveat, Show: p.links(f)}
	if f.Sub != "" {
		c.Cause += "/" + f.Sub
	}
	for _, e := range f.Evidence {
		c.Evidence = append(c.Evidence, e.Text)
	}
	if f.Because != nil {
		c.Because, c.Place = f.Because.Title, &f.Because.Where
	}
	if f.Confidence != nil && f.Confidence.Level != "" {
		c.Basis = f.Confidence.Text()
	}
	c.Saving = p.saving(f, i > 0)
	return c
}

func (p *Page) saving(f *report.Finding, after bool) *Saving {
	s := f.Saving
	if s == nil || s.StepMs == nil && s.RunS == nil {
		return nil
	}
	out := &Saving{Text: view.SavingText(s)}
	if s.StepMs != nil {
		out.Range, out.Of = *s.StepMs, "step"
	} else {
		out.Range, out.Of = report.Range{Low: s.RunS.Low * 1e3, Mid: s.RunS.Mid * 1e3, High: s.RunS.High * 1e3}, "run"
	}
	if a := p.report.Account; a != nil && a.Unit == out.Of {
		out.Whole = a.TotalMs
	} else if out.Of == "run" && p.report.Run != nil {
		out.Whole = p.report.Run.WallS * 1e3
	}
	if after && s.InOrderMs != nil {
		out.After = view.InOrderText(s)
	}
	return out
}

// SoFar is what a run that goes on has done.
type SoFar struct {
	Steps  int      `json:"steps"`
	StepMs *float64 `json:"step_ms,omitempty"` // median
	WaitMs *float64 `json:"wait_ms,omitempty"` // data wait of a mean step
}

func stepsSoFar(r *report.Report) *SoFar {
	if !r.Growing {
		return nil
	}
	out := &SoFar{}
	for i := range r.Steps {
		out.Steps += r.Steps[i].Count
	}
	if len(r.Steps) > 0 {
		for _, q := range []*report.Quantiles{r.Steps[0].Baseline, r.Steps[0].Traced} {
			if q != nil {
				out.StepMs = &q.MedianMs
				break
			}
		}
	}
	for i := range r.Breakdown {
		if r.Breakdown[i].Part == "data wait" && r.Account != nil && r.Account.Unit == "step" {
			out.WaitMs = &r.Breakdown[i].Ms
		}
	}
	return out
}
