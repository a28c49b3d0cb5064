package ingest

import (
	"fmt"
	"io"
	"strings"

	"bottleneck/internal/model"
)

// readGecko reads profiles of profiler.firefox.com: the raw form, whose tables are rows under a schema, and the processed
// form, whose tables are columns (firefox-devtools/profiler, docs-developer). samply, perf script gecko, CPython's sampling
// profiler and `export --to gecko` write one of them.
func readGecko(o *opening, src source, r io.Reader) (func() error, error) {
	g := &geckoReader{in: newJSONStream(r), p: &stackProfile{}, interval: 1}
	err := g.in.object(func(name string) error {
		switch name {
		case "meta":
			var meta struct {
				Interval float64 `json:"interval"`
			}
			err := g.in.value(&meta)
			g.interval = meta.Interval
			return err
		case "shared":
			return g.in.value(&g.shared)
		case "threads":
			return g.in.array(func(int) error {
				var t geckoThread
				if err := g.in.value(&t); err != nil {
					return err
				}
				g.threads = append(g.threads, t)
				return nil
			})
		}
		return g.in.skip()
	})
	var damage []model.Diagnostic
	if err != nil && len(g.threads) > 0 {
		damage = append(damage, model.Diagnostic{Kind: "truncated", Count: 1, FirstOffset: g.in.InputOffset(),
			Text: "damaged, only what comes before is used: " + err.Error()})
		err = nil
	}
	for i := range g.threads {
		if err == nil {
			err = g.thread(&g.threads[i])
		}
	}
	if err != nil {
		return nil, &UnusableError{Path: src.path, Reason: "a gecko profile that cannot be read: " + err.Error(), err: err}
	}
	return addProfile(o, src, "gecko", g.p, 1e6, damage...)
}

type geckoReader struct {
	in       *jsonStream
	p        *stackProfile
	interval float64 // ms
	threads  []geckoThread
	shared   geckoTables // of newer processed profiles
}

// geckoTables are the tables of a thread, or those that all threads share.
type geckoTables struct {
	StackTable  geckoTable `json:"stackTable"`
	FrameTable  geckoTable `json:"frameTable"`
	FuncTable   geckoTable `json:"funcTable"`
	StringTable []string   `json:"stringTable"`
	StringArray []string   `json:"stringArray"`
	Sources     geckoTable `json:"sources"`
}

type geckoThread struct {
	geckoTables
	Name    string     `json:"name"`
	Samples geckoTable `json:"samples"`
}

// table picks a thread's own table, else the shared one.
func table(own, shared *geckoTable) *geckoTable {
	if own.rows() > 0 {
		return own
	}
	return shared
}

func (g *geckoReader) thread(t *geckoThread) error {
	out := g.p.thread(t.Name)
	stacks, frames := table(&t.StackTable, &g.shared.StackTable), table(&t.FrameTable, &g.shared.FrameTable)
	names := &geckoNames{frames: frames, funcs: table(&t.FuncTable, &g.shared.FuncTable), sources: table(&t.Sources, &g.shared.Sources),
		texts: firstTexts(t.StringTable, t.StringArray, g.shared.StringArray, g.shared.StringTable)}
	ids := make([]model.StackID, stacks.rows())
	for i := range ids {
		parent := model.NoStack
		if prefix, ok := stacks.int("prefix", i); ok {
			if prefix < 0 || prefix >= i {
				return fmt.Errorf("stack %d of thread %q is called from %d, which does not stand before it", i, t.Name, prefix)
			}
			parent = ids[prefix]
		}
		frame, ok := stacks.int("frame", i)
		if !ok || frame < 0 || frame >= frames.rows() {
			return fmt.Errorf("stack %d of thread %q names frame %d of %d", i, t.Name, frame, frames.rows())
		}
		var err error
		if ids[i], err = g.p.push(parent, names.frame(g.p, frame)); err != nil {
			return err
		}
	}
	for i := range t.Samples.rows() {
		st, ok := t.Samples.int("stack", i)
		if !ok || st < 0 || st >= len(ids) {
			continue
		}
		weight := 1.0
		if w, ok := t.Samples.float("weight", i); ok {
			weight = w
		}
		interval := g.interval
		if interval <= 0 {
			interval = 1
		}
		g.p.add(out, ids[st], weight*interval)
	}
	return nil
}

// geckoNames finds the text of a frame: in the raw form a location, in the processed form a function's name and file.
type geckoNames struct {
	frames, funcs, sources *geckoTable
	texts                  []string
}

func (n *geckoNames) frame(p *stackProfile, i int) model.FrameID {
	line, _ := n.frames.int("line", i)
	if at, ok := n.frames.int("location", i); ok {
		f := p.locationFrame(strings.ReplaceAll(n.text(at), " [", " ("))
		return f
	}
	fn, _ := n.frames.int("func", i)
	name, _ := n.funcs.int("name", fn)
	file := ""
	if at, ok := n.funcs.int("fileName", fn); ok {
		file = n.text(at)
	} else if src, ok := n.funcs.int("source", fn); ok {
		if at, ok := n.sources.int("filename", src); ok {
			file = n.text(at)
		}
	}
	first, _ := n.funcs.int("lineNumber", fn)
	return p.frame(n.text(name), file, int32(first), int32(line))
}

func (n *geckoNames) text(i int) string {
	if i < 0 || i >= len(n.texts) {
		return ""
	}
	return n.texts[i]
}

func firstTexts(lists ...[]string) []string {
	for _, l := range lists {
		if len(l) > 0 {
			return l
		}
	}
	return nil
}
