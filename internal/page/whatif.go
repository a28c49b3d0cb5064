package page

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
	"bottleneck/internal/view"
)

// Switches are the questions that the page can ask about the steps, and the answer to none of them.
type Switches struct {
	Basis    string   `json:"basis"`
	Note     string   `json:"note,omitempty"` // why nothing can be asked
	Switches []Switch `json:"switches"`
}

// Switch is one change. Those of one group exclude each other.
type Switch struct {
	Key   string `json:"key"`
	Text  string `json:"text"`
	Group string `json:"group"`
}

// Answer is the replayed step beside the measured one.
type Answer struct {
	Document *view.WhatIf `json:"document"` // as what-if --json writes it
	Sentence string       `json:"sentence"`
	Chart    Chart        `json:"chart"`
}

// whatIf answers one question at a time.
type whatIf struct {
	mu       sync.Mutex
	replay   *replay.Session // nil: nothing can be replayed
	switches []Switch
	answers  map[string]*Answer
}

// maxAnswers bounds the answers that are remembered.
const maxAnswers = 300

// hasWhatIf says whether there may be something to replay, without preparing it.
func (p *Page) hasWhatIf() bool { return len(p.report.Steps) > 0 || len(p.session.Traces) > 0 }

func newWhatIf(s *model.Session) *whatIf {
	w := &whatIf{answers: map[string]*Answer{}, switches: []Switch{}}
	w.replay = replay.ForQuestions(s, account.Of(s, account.Driver(s)))
	if w.replay != nil {
		w.switches = switchesOf(w.replay, mostWorkers(s))
	}
	return w
}

// mostWorkers is the largest number of workers of a DataLoader.
func mostWorkers(s *model.Session) int {
	n := 0
	for _, p := range s.Processes {
		for i := range p.Loaders {
			n = max(n, p.Loaders[i].Workers)
		}
	}
	return n
}

// removalWords are what a cause is called where its name says too little.
var removalWords = map[string]string{"input": "no data wait", "sync": "no waiting for the device", "launch": "no launching work on the CPU",
	"python": "no Python", "alloc": "no allocations", "copy": "no copies", "comm-exposed": "no communication",
	"layout": "no changes of layout", "gc": "no garbage collection", "io": "no input and output", "compile": "no compiling",
	"gil": "no waiting for the interpreter's lock"}

// factors that the page offers for the time of a kind of work.
var factors = []string{"0", "0.5", "2"}

func switchesOf(r *replay.Session, workers int) []Switch {
	out := []Switch{}
	for _, cause := range r.Causes() {
		if cause == "straggler" {
			continue // said as ranks that are equal
		}
		words := removalWords[cause]
		if words == "" {
			words = "no " + cause
		}
		out = append(out, Switch{"remove:" + cause, words, "gone"})
	}
	if r.Meets() {
		out = append(out, Switch{"ranks-equal", "ranks equal", "gone"})
	}
	if r.Fetches() {
		for _, n := range []int{0, max(workers, 1), workers + 2, workers + 4, 2*workers + 8} {
			if n != workers {
				out = append(out, Switch{fmt.Sprint("workers:", n), fmt.Sprintf("%d workers", n), "workers"})
			}
		}
	}
	for _, kind := range r.Kinds() {
		for _, f := range factors {
			out = append(out, Switch{"scale:" + kind + "=" + f, kind + " ×" + f, "scale " + kind})
		}
	}
	return out
}

// askWhatIf makes the switches, or the answer to those that are on, joined by commas.
func (p *Page) askWhatIf(keys string) (any, error) {
	if !p.hasWhatIf() {
		return nil, ErrNoPart
	}
	w := p.whatIf()
	if keys == "" {
		return w.list(), nil
	}
	if w.replay == nil {
		return nil, ErrNoPart
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if a := w.answers[keys]; a != nil {
		return a, nil
	}
	a, err := w.ask(strings.Split(keys, ","))
	if err == nil && len(w.answers) < maxAnswers {
		w.answers[keys] = a
	}
	return a, err
}

func (w *whatIf) list() *Switches {
	if w.replay == nil {
		return &Switches{Note: "neither steps nor a complete trace can be replayed here", Switches: []Switch{}}
	}
	return &Switches{Basis: w.replay.Basis(), Switches: w.switches}
}

// maxTogether is up to how many switches of the first group a file holds the answers of all their combinations.
const maxTogether = 4

// embeddedAnswers names the parts of answers that a file holds.
func (p *Page) embeddedAnswers() []string {
	names := []string{}
	if w := p.whatIf(); w.replay != nil {
		for _, keys := range w.embedded() {
			if _, err := p.askWhatIf(keys); err == nil {
				names = append(names, "what-if/"+keys)
			}
		}
	}
	return names
}

// embedded are the questions whose answers a file holds: each switch alone, and a few causes together.
func (w *whatIf) embedded() []string {
	keys := []string{noChange}
	var gone []string
	for _, s := range w.switches {
		keys = append(keys, s.Key)
		if s.Group == "gone" {
			gone = append(gone, s.Key)
		}
	}
	if len(gone) > maxTogether {
		return keys
	}
	for set := range 1 << len(gone) {
		var on []string
		for i, key := range gone {
			if set>>i&1 == 1 {
				on = append(on, key)
			}
		}
		if len(on) > 1 {
			keys = append(keys, strings.Join(on, ","))
		}
	}
	return keys
}

// noChange asks for the steps as they were.
const noChange = "nothing"

var errSwitch = errors.New("no such change")

func (w *whatIf) ask(keys []string) (*Answer, error) {
	c, words, err := w.change(keys)
	if err != nil {
		return nil, err
	}
	a, err := w.replay.Ask(c)
	if err != nil {
		return nil, fmt.Errorf("this cannot be replayed: %w", err)
	}
	if words == "" {
		words = "nothing changed"
	}
	doc := view.BuildWhatIf(w.replay, words, a)
	return &Answer{Document: doc, Sentence: view.WhatIfSentence(doc), Chart: whatIfChart(doc)}, nil
}

// change joins switches into one question, in the words of the command what-if.
func (w *whatIf) change(keys []string) (c replay.Change, words string, err error) {
	var said []string
	for _, key := range keys {
		if key == noChange {
			continue
		}
		if !slices.ContainsFunc(w.switches, func(s Switch) bool { return s.Key == key }) {
			return c, "", fmt.Errorf("%w: %q", errSwitch, key)
		}
		kind, rest, _ := strings.Cut(key, ":")
		switch kind {
		case "remove":
			one, _ := w.replay.Removal(rest)
			c = c.And(one)
			said = append(said, rest+" were gone")
		case "ranks-equal":
			c.RanksEqual = true
			said = append(said, "no rank waited for a late one")
		case "workers":
			n, _ := strconv.Atoi(rest)
			if c.Workers = n; n == 0 {
				c.Workers = replay.NoWorkers
			}
			said = append(said, fmt.Sprintf("%d workers prepared the batches", n))
		case "scale":
			at := strings.LastIndex(rest, "=")
			factor, _ := strconv.ParseFloat(rest[at+1:], 64)
			c.Scale = append(c.Scale, replay.Scale{Name: rest[:at], Factor: factor})
			said = append(said, fmt.Sprintf("%s took %g of its time", rest[:at], factor))
		}
	}
	return c, strings.Join(said, ", "), nil
}

// whatIfChart draws the parts of both steps.
func whatIfChart(doc *view.WhatIf) Chart {
	var series []Series
	index := map[string]int{}
	for _, p := range doc.Parts {
		at, known := index[p.Part]
		if !known {
			at = len(series)
			index[p.Part] = at
			s := newSeries(p.Part)
			s.addIn(0, 0, 0)
			s.addIn(1, 0, 0)
			series = append(series, s)
		}
		*series[at].Y[0] += p.BeforeMs * 1e3
		*series[at].Y[1] += p.AfterMs * 1e3
	}
	c := chartOf("", chartBars, Axis{Head: "time of a " + doc.Unit, Unit: unitTime}, Axis{Unit: unitText}, series...)
	c.Rows = []string{"measured", "replayed"}
	return c
}
