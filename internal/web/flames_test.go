package web_test

import (
	"bottleneck/internal/page"
	"bottleneck/internal/units"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// flameOf is a flame graph of a page.
func flameOf(t *testing.T, p *page.Page, name string) *page.Flame {
	t.Helper()
	part, err := p.Part("flame/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return part.(*page.Flame)
}

// pathOf are the names from below the root to a box, without modules' classes.
func pathOf(f *page.Flame, box int) string {
	path := []string{}
	for ; box > 0; box = f.Parent[box] {
		name, _, _ := strings.Cut(f.Names[f.Frame[box]], " (")
		path = append([]string{name}, path...)
	}
	return strings.Join(path, ".")
}

// TestModuleFlame compares the boxes of a recorded model's modules with the report's rows, and opens the picture.
func TestModuleFlame(t *testing.T) {
	path := recordWith(t, []string{"--with-modules"}, "../../examples/images.py", "--epochs", "2", "--images", "1280")
	s, r := session(t, path)
	doc := asJSON(t, path)
	p := page.New(s, r)
	flame := flameOf(t, p, "modules")
	boxes := map[string]int{}
	for i := range flame.Frame {
		boxes[pathOf(flame, i)] = i
	}
	sum, rows := 0.0, 0
	for _, table := range doc.Tables {
		if table.Name != "modules" {
			continue
		}
		for _, row := range table.Rows {
			if row.Cells[1].Text == "" {
				sum += *row.Cells[3].Value // outside modules
				continue
			}
			name, self, total := row.Cells[0].Text, *row.Cells[3].Value, *row.Cells[4].Value
			sum, rows = sum+self, rows+1
			box, ok := boxes[name]
			if !ok && self < flame.Small {
				continue
			}
			if !ok || !nearly(flame.Self[box], self, 1e-6) && self > 1 || !nearly(flame.Total[box], total, 1e-3) && total > 1 {
				t.Errorf("%s: box %d has %g of %g µs, the report has %g of %g", name, box, flame.Self[box], flame.Total[box], self, total)
			}
		}
	}
	if rows < 3 || !nearly(flame.Total[0], sum, 1e-6) {
		t.Errorf("all modules take %g µs, the %d rows of the report %g", flame.Total[0], rows, sum)
	}
	b := newTab(t)
	b.open(serve(t, p), "flame-modules")
	b.until(fmt.Sprintf(`document.querySelector("canvas")?.dataset.boxes === "%d"`, len(flame.Frame)))
	b.js(`document.querySelector("canvas").focus()`)
	b.press(kb.ArrowDown)
	b.until(fmt.Sprintf(`document.querySelector(".chosen-box").innerText.includes(%q)`, "total "+units.Milliseconds(flame.Total[1]/1e3)))
	b.picture("flame-modules")
}

// TestMemoryFlame compares the bytes of a snapshot's flame graph with the report's peak, and those below a line with its holder.
func TestMemoryFlame(t *testing.T) {
	path := realTraces + "cuda-memory-snapshot/cs336_wedsonlin_512_inference.pickle"
	s, r := session(t, path)
	doc := asJSON(t, path)
	p := page.New(s, r)
	flame := flameOf(t, p, "memory")
	peak, holders := float64(doc.Snapshots[0].Recorded.PeakBytes), doc.Snapshots[0].Recorded.AtPeak
	if flame.Unit != "bytes" || flame.Total[0] != peak {
		t.Errorf("%g %s in all, the report's peak is %g", flame.Total[0], flame.Unit, peak)
	}
	compared := 0
	for _, h := range holders {
		place, sum := fmt.Sprintf("%s:%d", h.Where.File, h.Where.Line), 0.0
		for i := range flame.Frame { // a line's own calls of the program's code are holders of their own
			if flame.Places[flame.Frame[i]] == place {
				sum += flame.Total[i]
			}
		}
		if h.Where.File == "" {
			continue
		}
		if compared++; sum < float64(h.Bytes)-peak/1e3 {
			t.Errorf("%s holds %g bytes, the report has %d", place, sum, h.Bytes)
		}
	}
	if compared == 0 {
		t.Errorf("no holder has a place: %+v", holders)
	}
	b := newTab(t)
	b.open(serve(t, p), "flame-memory")
	b.until(fmt.Sprintf(`document.querySelector(".tools [role=status]").innerText === %q`, units.Bytes(peak)+" in all"))
	b.js(`document.querySelector("canvas").focus()`)
	b.press(kb.ArrowDown)
	b.until(fmt.Sprintf(`document.querySelector(".chosen-box").innerText.includes(%q)`, "total "+units.Bytes(flame.Total[1])))
	b.press(kb.ArrowDown, kb.ArrowDown)
	b.picture("flame-memory")
	b.js(`location.hash = "#/flame-memory?show=inverted"`)
	turned := flameOf(t, p, "memory-inverted")
	b.until(fmt.Sprintf(`document.querySelector("canvas")?.dataset.boxes === "%d"`, len(turned.Frame)))
	b.until(fmt.Sprintf(`document.querySelector(".chosen-box").innerText.includes(%q)`, "total "+units.Bytes(peak)))
}

// TestMemoryEventsFlame compares what a trace's devices held at their peaks with the report's rows, and its operators with the holders.
func TestMemoryEventsFlame(t *testing.T) {
	path := realTraces + "torchao/gtx1650_llama_with_stack_memory.json.gz"
	s, r := session(t, path)
	doc := asJSON(t, path)
	p := page.New(s, r)
	flame := flameOf(t, p, "memory")
	for _, m := range doc.Memory {
		device, held := -1, 0.0
		for i := range flame.Frame {
			if name := flame.Names[flame.Frame[i]]; flame.Depth[i] == 1 && name == m.Device+" at its peak" {
				device = i
			}
		}
		for _, h := range m.Holders {
			held += float64(h.Bytes)
		}
		if device < 0 || flame.Total[device] != math.Max(float64(m.PeakBytes), held) {
			t.Errorf("%s: box %d of %v, the report's peak is %d, its holders have %g", m.Device, device, flame.Total, m.PeakBytes, held)
		}
	}
	python := slices.ContainsFunc(flame.Names, func(name string) bool { return strings.Contains(name, ".py(") })
	if len(doc.Memory) == 0 || !python {
		t.Errorf("%d devices; calls of Python: %v", len(doc.Memory), python)
	}
	b := newTab(t)
	b.open(serve(t, p), "flame-memory")
	b.until(fmt.Sprintf(`document.querySelector(".tools [role=status]").innerText === %q`, units.Bytes(flame.Total[0])+" in all"))
	b.picture("flame-memory-events")
}
