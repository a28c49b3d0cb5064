package web_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/page"
	"bottleneck/internal/report"
	"bottleneck/internal/stats"
	"bottleneck/internal/units"
)

// chart is a chart of a view of pictures, by its title.
func chart(t *testing.T, p *page.Page, view, title string) page.Chart {
	t.Helper()
	part, err := p.Part("panels/" + view)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range part.(*page.Panels).Charts {
		if strings.HasPrefix(c.Title, title) {
			return c
		}
	}
	t.Fatalf("%s has no chart %q", view, title)
	return page.Chart{}
}

// reading goes through a chart by keys and gives what it says of each value.
func reading(b *tab, title string, values int) []string {
	b.t.Helper()
	figure := fmt.Sprintf(`[...document.querySelectorAll(".chart")].find(f => f.querySelector("h2")?.innerText.startsWith(%q))`, title)
	b.until(figure)
	return eval[[]string](b, fmt.Sprintf(`(async () => {
		const figure = %s, svg = figure.querySelector("svg"), said = [];
		svg.focus();
		for (let i = 0; i < %d; i++) {
			svg.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }));
			await new Promise(r => setTimeout(r));
			await new Promise(requestAnimationFrame);
			said.push(figure.querySelector(".reads").innerText.trim());
		}
		return said;
	})()`, figure, values))
}

// TestSteps reads the times of steps from the page's chart, and compares their median with the report's.
func TestSteps(t *testing.T) {
	path := imagesRun(t)
	s, r := session(t, path)
	doc := asJSON(t, path)
	p := page.New(s, r)
	b := newTab(t)
	b.open(serve(t, p), "steps")
	b.picture("steps")
	each := chart(t, p, "steps", "Time of each step")
	values := 0
	for _, series := range each.Series {
		values += len(series.X)
		if series.Name == "unprofiled" || strings.HasSuffix(series.Name, ", unprofiled") &&
			strings.HasPrefix(series.Name, doc.Steps[0].Kind) {
			got := middle(series.Y)
			if math.Abs(got-doc.Steps[0].Baseline.MedianMs*1e3) > 1e-3 || len(series.Y) != doc.Steps[0].Baseline.Count {
				t.Errorf("%d points with median %g; the report has %d, %g ms", len(series.Y), got/1e3, doc.Steps[0].Baseline.Count,
					doc.Steps[0].Baseline.MedianMs)
			}
		}
	}
	said := reading(b, "Time of each step", min(values, 12))
	for i, text := range said {
		if !strings.Contains(text, "step "+fmt.Sprint(i)) {
			t.Errorf("value %d reads %q", i, text)
		}
	}
	first := each.Series[0]
	if want := units.Milliseconds(*first.Y[0] / 1e3); !strings.Contains(said[0], want) {
		t.Errorf("the first step reads %q, not %s", said[0], want)
	}
	often := chart(t, p, "steps", "How often")
	sum := 0.0
	for _, n := range often.Series[0].Y {
		sum += *n
	}
	if int(sum) != doc.Steps[0].Baseline.Count {
		t.Errorf("%g steps are counted, the report has %d", sum, doc.Steps[0].Baseline.Count)
	}
	b.until(fmt.Sprintf(`[...document.querySelectorAll(".within .row")].some(r => r.innerText.includes(%q))`,
		units.Milliseconds(doc.Steps[0].Baseline.MedianMs)))
	b.js(`[...document.querySelectorAll(".chart")][0].querySelector(".reads a").click()`)
	b.until(`location.hash.startsWith("#/timeline?from=")`)
}

// middle is the median as reports have it.
func middle(values []*float64) float64 {
	list := []float64{}
	for _, v := range values {
		list = append(list, *v)
	}
	slices.Sort(list)
	return stats.Quantile(list, 0.5)
}

// TestRanks compares the map of ranks by steps with the report's waiting of each rank.
func TestRanks(t *testing.T) {
	path := ranksRun(t)
	s, r := session(t, path)
	doc := asJSON(t, path)
	p := page.New(s, r)
	b := newTab(t)
	b.open(serve(t, p), "ranks")
	waits, own := chart(t, p, "ranks", "Waiting"), chart(t, p, "ranks", "Own time")
	if len(doc.Ranks) != 2 || len(waits.Rows) != len(doc.Ranks) {
		t.Fatalf("%d rows, the report has %d ranks", len(waits.Rows), len(doc.Ranks))
	}
	for row, of := range doc.Ranks {
		if got := rowMean(&waits, row); of.WaitsMs == nil || !nearly(got/1e3, *of.WaitsMs, 1e-6) {
			t.Errorf("rank %d waits %g ms a step on the map, the report has %v", of.Rank, got/1e3, of.WaitsMs)
		}
	}
	b.until(`document.querySelectorAll("svg[data-kind=heat]").length === 2`)
	b.picture("ranks")
	said := reading(b, "Own time", 3)
	if want := units.Milliseconds(*own.Series[0].Y[0] / 1e3); !strings.Contains(said[0], "rank 0") || !strings.Contains(said[0], want) {
		t.Errorf("the first cell reads %q, not rank 0, %s", said[0], want)
	}
}

func rowMean(c *page.Chart, row int) float64 {
	sum, n := 0.0, 0.0
	for i, r := range c.Series[0].Row {
		if r == row {
			sum, n = sum+*c.Series[0].Y[i], n+1
		}
	}
	return sum / n
}

func nearly(a, b, share float64) bool { return a-b <= share*b && b-a <= share*b }

// TestWorkers compares the queue and the stages with the report's.
func TestWorkers(t *testing.T) {
	path := imagesRun(t)
	s, r := session(t, path)
	doc := asJSON(t, path)
	p := page.New(s, r)
	b := newTab(t)
	b.open(serve(t, p), "workers")
	b.until(`document.querySelectorAll(".chart").length === 3`)
	b.picture("workers")
	queue := chart(t, p, "workers", "Batches ready")
	sum := 0.0
	for _, v := range queue.Series[0].Y {
		sum += *v
	}
	if got := sum / float64(len(queue.Series[0].Y)); !nearly(got, *doc.Loaders[0].QueueDepth, 1e-9) {
		t.Errorf("%g batches are ready on the chart, the report has %g", got, *doc.Loaders[0].QueueDepth)
	}
	stages := chart(t, p, "workers", "Stages")
	want := doc.Workers[0].Stages[0]
	said := reading(b, "Stages", 1)
	if stages.Rows[0] != fmt.Sprintf("worker %d", doc.Workers[0].Index) || !strings.Contains(said[0], units.Milliseconds(want.Ms)) ||
		!strings.Contains(said[0], want.Name) {
		t.Errorf("the first stage reads %q, the report has %+v", said[0], want)
	}
}

// TestMemory compares peaks of levels and of a snapshot's blocks with the report's.
func TestMemory(t *testing.T) {
	trace, snapshot := realTraces+"torchao/gtx1650_llama_with_stack_memory.json.gz",
		realTraces+"cuda-memory-snapshot/cs336_wedsonlin_512_inference.pickle"
	s, r := session(t, trace)
	doc := asJSON(t, trace)
	p := page.New(s, r)
	b := newTab(t)
	b.open(serve(t, p), "memory")
	b.until(`document.querySelector("svg[data-kind=levels]")`)
	b.picture("memory")
	for i := range doc.Memory {
		level := chart(t, p, "memory", "Memory of "+doc.Memory[i].Device)
		if most := largest(level.Series[0].Y); most != float64(doc.Memory[i].PeakBytes) {
			t.Errorf("%s: the highest level is %g, the report's peak %d", doc.Memory[i].Device, most, doc.Memory[i].PeakBytes)
		}
	}
	s, r = session(t, snapshot)
	doc = asJSON(t, snapshot)
	p = page.New(s, r)
	b.open(serve(t, p), "memory")
	b.until(`document.querySelector("svg[data-kind=blocks]")`)
	b.picture("memory-snapshot")
	blocks, active := chart(t, p, "memory", "Blocks of"), 0.0
	for _, series := range blocks.Series {
		for i, v := range series.Y {
			if series.Name == "active" {
				active += *v
			}
			if series.Width[i] != *v {
				t.Fatalf("block %d of %g bytes is %g wide", i, *v, series.Width[i])
			}
		}
	}
	if want := float64(doc.Snapshots[0].ActiveBytes); active > want || active < 0.9*want {
		t.Errorf("the map shows %g active bytes, the report has %g", active, want)
	}
	b.until(fmt.Sprintf(`[...document.querySelectorAll(".within .row")].some(r => r.innerText.includes(%q))`,
		units.Bytes(float64(doc.Snapshots[0].ReservedBytes))))
}

func largest(values []*float64) float64 {
	most := 0.0
	for _, v := range values {
		most = max(most, *v)
	}
	return most
}

// TestRoofline compares points and roofs with the report's rows.
func TestRoofline(t *testing.T) {
	path := realTraces + "torchao/gtx1650_llama_with_stack_memory.json.gz"
	for _, other := range []string{kernelTrace, path} {
		doc := asJSON(t, other)
		if len(doc.Roofline) == 0 || len(doc.Roofline[0].Ops) == 0 {
			continue
		}
		s, r := session(t, other)
		p := page.New(s, r)
		b := newTab(t)
		b.open(serve(t, p), "roofline")
		c := chart(t, p, "roofline", "Roofline")
		points := 0
		for _, series := range c.Series {
			if !series.Line {
				points += len(series.X)
			}
		}
		want, first := 0, report.RooflineRow{}
		for _, op := range doc.Roofline[0].Ops {
			if op.Bytes != nil && *op.Bytes > 0 && op.TFLOPs > 0 {
				if want == 0 {
					first = op
				}
				want++
			}
		}
		if points != want || *c.Series[0].Y[0] != first.TFLOPs {
			t.Errorf("%s: %d points, the report has %d; the first %g, not %g", other, points, want, *c.Series[0].Y[0], first.TFLOPs)
		}
		b.until(`document.querySelector("svg[data-kind=points]")`)
		b.picture("roofline")
		return
	}
	t.Skip("no trace with shapes")
}

// answered is what the tests read of a document of what-if.
type answered struct {
	Before float64 `json:"before_ms"`
	After  float64 `json:"after_ms"`
	Saved  float64 `json:"saved_ms"`
}

// TestWhatIf throws switches and compares the answers with what-if --json.
func TestWhatIf(t *testing.T) {
	path := imagesRun(t)
	s, r := session(t, path)
	binary, err := binaryOnce()
	if err != nil {
		t.Fatal(err)
	}
	for name, address := range map[string]string{"server": serve(t, page.New(s, r)), "file": file(t, s)} {
		t.Run(name, func(t *testing.T) { askWhatIf(t, binary, path, name, address, s) })
	}
}

func askWhatIf(t *testing.T, binary, path, name, address string, s *model.Session) {
	b := newTab(t)
	b.open(address, "what-if")
	for switches, flags := range map[string][]string{"remove:input": {"--remove", "input"}, "workers:6": {"--workers", "6"}} {
		var want answered
		decode(t, &want, binary, append([]string{"what-if", "--json", "-", path}, flags...)...)
		b.js(`location.hash = "#/what-if?on=%s"`, switches)
		b.until(fmt.Sprintf(`document.querySelector(".answer")?.innerText.includes(%q)`,
			units.Milliseconds(want.After)+" instead of "+units.Milliseconds(want.Before)))
		b.picture("what-if-" + name + "-" + switches)
	}
	b.js(`location.hash = "#/what-if"`)
	b.until(`document.querySelector(".answer")?.innerText.includes("nothing is saved")`)
	b.js(`[...document.querySelectorAll(".switch")].find(s => s.innerText.includes("no data wait")).querySelector("input").click()`)
	b.until(`location.hash.includes("remove%3Ainput") && document.querySelector(".answer")?.innerText.includes("saves")`)
}
