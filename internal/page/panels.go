package page

import (
	"slices"
	"sync"
)

// panelView is a view of pictures. It stands in the place of the table of its own name, and shows its tables below.
type panelView struct {
	id, title, group string
	tables           []string // by name; those that the session has
	build            func(*Page) []Chart
	also             []string // tables that have an entry of their own, too
}

var panelViews = []panelView{
	{"steps", "Steps", groupRun, []string{"steps", "slow-steps", "run", "phases"}, stepCharts, nil},
	{"workers", "Workers", groupRun, []string{"loaders", "workers", "stages"}, workerCharts, nil},
	{"ranks", "Ranks", groupRun, []string{"ranks"}, rankCharts, []string{"collectives"}},
	{"memory", "Memory", groupDevice, []string{"memory", "memory-holders", "snapshots", "snapshot-live", "snapshot-oom"},
		memoryCharts, nil},
	{"roofline", "Roofline", groupDevice, []string{"roofline"}, rooflineCharts, nil},
}

// panels gives the views of pictures by name, made when they are first asked for; without pictures and tables there is none.
func (p *Page) panelsOf() map[string]func() *Panels {
	out := map[string]func() *Panels{}
	for _, v := range panelViews {
		out[v.id] = sync.OnceValue(func() *Panels {
			made := &Panels{Title: v.title, Charts: []Chart{}, Tables: p.tablesNamed(append(slices.Clone(v.tables), v.also...))}
			for _, c := range v.build(p) {
				if len(c.Series) > 0 {
					made.Charts = append(made.Charts, c)
				}
			}
			return made
		})
	}
	return out
}

// tablesNamed are the parts of those of some tables that the session has.
func (p *Page) tablesNamed(names []string) []string {
	parts := []string{}
	for _, name := range names {
		if slices.ContainsFunc(p.tables, func(t Table) bool { return t.Name == name }) {
			parts = append(parts, "table/"+name)
		}
	}
	return parts
}

// panelOf is the view of pictures that a table belongs to; nil where it belongs to none.
func panelOf(table string) *panelView {
	for i := range panelViews {
		if v := &panelViews[i]; slices.Contains(v.tables, table) {
			return &panelViews[i]
		}
	}
	return nil
}

// hasPanels says whether there is a table or picture of that name, without making the pictures.
func (p *Page) hasPanels(id string) bool {
	if id == compareView {
		return true
	}
	v := panelViews[slices.IndexFunc(panelViews, func(v panelView) bool { return v.id == id })]
	return len(p.tablesNamed(v.tables)) > 0
}
