package page

import (
	"bottleneck/internal/report"
	"cmp"
	"maps"
	"slices"
)

// Sources lists the texts that the session holds, most sampled first.
type Sources struct {
	Files []SourceFile `json:"files"`
}

// SourceFile is one text. Part names the part that holds it.
type SourceFile struct {
	Path  string  `json:"path"`
	Part  string  `json:"part"`
	OwnUs float64 `json:"own_us"`
}

// Source is a program's text with the sampled time of each line, in microseconds of all processes and threads; 0 where no sample was.
type Source struct {
	Path  string    `json:"path"`
	Lines []string  `json:"lines"`
	Own   []float64 `json:"own_us"`
	Total []float64 `json:"total_us"`
}

// sourceFiles makes the list; a text without samples is named only where a finding stands in it.
func (p *Page) sourceFiles() []SourceFile {
	times := p.lineTimes()
	wanted := map[string]bool{}
	for i := range p.report.Findings {
		f := &p.report.Findings[i]
		wanted[report.CleanPath(f.Where.File)] = true
		if f.Fix.Where != nil {
			wanted[report.CleanPath(f.Fix.Where.File)] = true
		}
	}
	files := []SourceFile{}
	for _, path := range slices.Sorted(maps.Keys(p.sources)) {
		if len(times[path]) == 0 && !wanted[path] {
			continue
		}
		f := SourceFile{Path: path, Part: "source/" + path}
		for _, l := range times[path] {
			f.OwnUs += l.Own / 1e3
		}
		files = append(files, f)
	}
	slices.SortStableFunc(files, func(a, b SourceFile) int { return cmp.Compare(b.OwnUs, a.OwnUs) })
	return files
}

// source is one text with its times; nil where the session does not hold it.
func (p *Page) source(path string) *Source {
	text := p.sources[path]
	if text == nil {
		return nil
	}
	out := &Source{Path: path, Lines: text.Lines, Own: make([]float64, len(text.Lines)), Total: make([]float64, len(text.Lines))}
	for _, l := range p.lineTimes()[path] {
		if l.Line >= 1 && l.Line <= len(out.Lines) {
			out.Own[l.Line-1] += l.Own / 1e3
			out.Total[l.Line-1] += l.Total / 1e3
		}
	}
	return out
}
