package page

import (
	"bottleneck/internal/model"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// workerCharts draw the queue of batches, each fetch and each wait over time, and the stages of a batch.
func workerCharts(p *Page) []Chart {
	return []Chart{p.queueChart(), p.fetchChart(), p.stageChart()}
}

// since is an instant on the axis of charts over time: that of the timeline where there is one, so that both tell the same times.
func (p *Page) since(t model.Time) float64 {
	if p.timeline != nil {
		return p.timeline.us(t)
	}
	if p.session.Run != nil {
		return float64(t-p.session.Run.Start) / 1e3
	}
	return float64(t) / 1e3
}

// timeAxis is that axis.
var timeAxis = Axis{Head: "after the start", Unit: unitTime}

func (p *Page) queueChart() Chart {
	var series []Series
	for _, q := range p.session.Processes {
		for loader := range q.Loaders {
			s := newSeries(p.loaderName(q, loader))
			for _, l := range q.Queues {
				if int(l.Loader) == loader {
					s.add(p.since(l.Time), float64(l.Ready))
				}
			}
			series = append(series, s)
		}
	}
	c := chartOf("Batches ready when the program asked for one", chartLevels, timeAxis, Axis{Head: "batches", Unit: unitCount}, series...)
	c.Aside = "at 0 the program waits"
	return c
}

func (p *Page) loaderName(of *model.Process, loader int) string {
	l := &of.Loaders[loader]
	name := cmp.Or(l.Dataset, "DataLoader")
	if file := p.session.Strings.Text(l.File); file != "" {
		name += " at " + placeText(path.Base(strings.ReplaceAll(file, `\`, "/")), int(l.Line))
	}
	if of.Rank >= 0 {
		name += fmt.Sprintf(", rank %d", of.Rank)
	}
	return name
}

// fetchChart has a point for each batch: how long it took to prepare, and how long it was waited for.
func (p *Page) fetchChart() Chart {
	var series []Series
	for _, q := range p.session.Processes {
		wait, fetch := newSeries("waited for, "+processName(q)), newSeries("prepared by "+processName(q))
		for i := range q.Spans {
			sp := &q.Spans[i]
			s := &fetch
			switch sp.Kind {
			case model.SpanDataWait:
				s = &wait
			case model.SpanFetch:
			default:
				continue
			}
			s.add(p.since(sp.Start), float64(sp.End-sp.Start)/1e3)
			if p.timeline != nil {
				s.From, s.To = append(s.From, p.timeline.us(sp.Start)), append(s.To, p.timeline.us(sp.End))
			}
		}
		series = append(series, wait, fetch)
	}
	c := chartOf("Time of each batch", chartPoints, timeAxis, Axis{Head: "time", Unit: unitTime}, series...)
	c.Aside = "a batch leads to its place in the timeline"
	return c
}

// stageChart has a row for each worker: the stages of its mean batch.
func (p *Page) stageChart() Chart {
	var series []Series
	rows := []string{}
	for row := range p.report.Workers {
		w := &p.report.Workers[row]
		rows = append(rows, fmt.Sprintf("worker %d", w.Index))
		for _, stage := range w.Stages {
			at := slices.IndexFunc(series, func(s Series) bool { return s.Name == stage.Name })
			if at < 0 {
				at = len(series)
				series = append(series, newSeries(stage.Name))
			}
			series[at].addIn(row, 0, stage.Ms*1e3)
		}
	}
	c := chartOf("Stages of a batch", chartBars, Axis{Head: "time per batch", Unit: unitTime}, Axis{Unit: unitText}, series...)
	c.Rows = rows
	c.Aside = "by your lines, mean of all batches"
	return c
}
