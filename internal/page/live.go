package page

import (
	"strings"
	"sync"
)

// Live is the page of a session that grows: it is replaced each time the session was read again. Its methods may be called by many at
// a time.
type Live struct {
	mu         sync.Mutex
	now        *Page
	generation int
	problem    string
}

// NewLive begins with a page.
func NewLive(p *Page) *Live { return &Live{now: p, generation: 1} }

// Show replaces the page.
func (l *Live) Show(p *Page) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now, l.problem = p, ""
	l.generation++
}

// Fails says that the session could not be read again. What was read before is shown on.
func (l *Live) Fails(problem string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.problem = problem
}

// Part makes one part of the page as it is now.
func (l *Live) Part(name string) (any, error) {
	l.mu.Lock()
	p, generation, problem := l.now, l.generation, l.problem
	l.mu.Unlock()
	if name != "summary" {
		return p.Part(name)
	}
	s := p.Summary()
	s.Generation, s.Problem = generation, problem
	return s, nil
}

// Run is one run of a folder of several.
type Run struct {
	Name    string   `json:"name"`
	Title   string   `json:"title,omitempty"`
	Begun   int64    `json:"begun_unix_ns,omitempty"`
	Read    bool     `json:"read"` // the verdict is known, or why there is none
	Verdict string   `json:"verdict,omitempty"`
	Bound   string   `json:"bound,omitempty"`
	Level   string   `json:"level,omitempty"` // of confidence
	StepMs  *float64 `json:"step_ms,omitempty"`
	Problem string   `json:"problem,omitempty"`
}

// Runs is a list of runs with their verdicts; each has a page of its own, which is made when it is first asked for.
type Runs struct {
	mu         sync.Mutex
	title      string
	tool       string
	runs       []Run
	generation int
	open       func(i int) (*Page, error)
	pages      map[int]*Page
	used       []int // the last one was asked for last
}

// maxOpen is how many runs' pages are kept.
const maxOpen = 3

// NewRuns makes the list of a folder; open makes the page of one of them.
func NewRuns(title, tool string, runs []Run, open func(i int) (*Page, error)) *Runs {
	return &Runs{title: title, tool: tool, runs: runs, open: open, pages: map[int]*Page{}}
}

// Set replaces a row of the list.
func (r *Runs) Set(i int, run Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs[i] = run
	r.generation++
}

// Part makes the list ("summary"), or a part of a run ("run/3/summary").
func (r *Runs) Part(name string) (any, error) {
	if name == "summary" {
		return r.summary(), nil
	}
	number, rest, ok := RunPart(name)
	if !ok || number >= len(r.runs) {
		return nil, ErrNoPart
	}
	p, err := r.page(number)
	if err != nil {
		return nil, err
	}
	part, err := p.Part(rest)
	if s, is := part.(*Summary); is {
		s.InList = true
	}
	return part, err
}

func (r *Runs) summary() *Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := emptySummary()
	s.Title, s.Tool, s.Generation = r.title, r.tool, r.generation
	s.Runs = append([]Run{}, r.runs...)
	return s
}

func (r *Runs) page(i int) (*Page, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, n := range r.used {
		if n == i {
			r.used = append(append(r.used[:k:k], r.used[k+1:]...), i)
			return r.pages[i], nil
		}
	}
	p, err := r.open(i)
	if err != nil {
		return nil, err
	}
	r.pages[i], r.used = p, append(r.used, i)
	if len(r.used) > maxOpen {
		delete(r.pages, r.used[0])
		r.used = r.used[1:]
	}
	return p, nil
}

// RunPart reads the number of a run before the name of one of its parts.
func RunPart(name string) (number int, rest string, ok bool) {
	rest, ok = strings.CutPrefix(name, "run/")
	digits, rest, cut := strings.Cut(rest, "/")
	if !ok || !cut || digits == "" || len(digits) > 6 {
		return 0, "", false
	}
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, "", false
		}
		number = number*10 + int(d-'0')
	}
	return number, rest, true
}
