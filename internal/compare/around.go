package compare

import (
	"bottleneck/internal/report"
	"bottleneck/internal/stats"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// around lists what differs between the sides' surroundings, by their first runs.
func around(before, after *report.Report) []report.DiffFact {
	out := []report.DiffFact{}
	add := func(what, a, b string) {
		if a != b && (a != "" || b != "") {
			out = append(out, report.DiffFact{What: what, Before: a, After: b})
		}
	}
	a, b := &before.Environment, &after.Environment
	add("Python", a.Python, b.Python)
	add("PyTorch", a.Torch, b.Torch)
	add("CUDA", a.CUDA, b.CUDA)
	add("HIP", a.HIP, b.HIP)
	add("system", a.OS, b.OS)
	add("host", a.Host, b.Host)
	add("CPU", a.CPUModel, b.CPUModel)
	add("cores", whole(a.CPUs), whole(b.CPUs))
	add("CPU quota", number(a.CPUQuota), number(b.CPUQuota))
	add("cores that may be used", list(a.Affinity), list(b.Affinity))
	add("GPU", gpus(a), gpus(b))
	add("GPU clock", clocks(a), clocks(b))
	for name := range stats.InOrder(union(a.Threads, b.Threads)) {
		add(name, a.Threads[name], b.Threads[name])
	}
	packages(add, a.Packages, b.Packages)
	add("arguments", arguments(before), arguments(after))
	add("batch size", size(items(before)), size(items(after)))
	add("DataLoader workers", loaderWorkers(before), loaderWorkers(after))
	if x, y := busy(a), busy(b); math.Abs(x-y) >= 0.25 {
		add("cores that other programs kept busy", number(a.OthersBusyCores), number(b.OthersBusyCores))
	}
	return out
}

func whole(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', 3, 64)
}

func size(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

func list(v []int) string {
	if len(v) == 0 {
		return ""
	}
	return strings.Trim(fmt.Sprint(v), "[]")
}

func busy(e *report.Environment) float64 {
	if e.OthersBusyCores == nil {
		return 0
	}
	return *e.OthersBusyCores
}

func gpus(e *report.Environment) string {
	var names []string
	for _, g := range e.GPUs {
		names = append(names, g.Name)
	}
	slices.Sort(names)
	if n := len(names); n > 1 && names[0] == names[n-1] {
		return fmt.Sprintf("%d × %s", n, names[0])
	}
	return strings.Join(names, ", ")
}

func clocks(e *report.Environment) string {
	for _, g := range e.GPUs {
		if g.ClockMHz != nil {
			return fmt.Sprintf("%.0f MHz", *g.ClockMHz)
		}
	}
	return ""
}

func union(a, b map[string]string) map[string]bool {
	out := map[string]bool{}
	for _, m := range []map[string]string{a, b} {
		for name := range m {
			out[name] = true
		}
	}
	return out
}

func packages(add func(what, a, b string), before, after []report.Package) {
	versions := [2]map[string]string{{}, {}}
	for side, list := range [][]report.Package{before, after} {
		for _, p := range list {
			versions[side][p.Name] = p.Version
		}
	}
	for name := range stats.InOrder(union(versions[0], versions[1])) {
		if name != "torch" {
			add("package "+name, versions[0][name], versions[1][name])
		}
	}
}

// arguments are a command without its interpreter and without folders of the program, which a copy of it has others of.
func arguments(r *report.Report) string {
	if r.Run == nil || len(r.Run.Command) == 0 {
		return ""
	}
	words := slices.Clone(r.Run.Command)
	for i, w := range words {
		if i == 0 || strings.HasSuffix(w, ".py") {
			words[i] = path.Base(w)
		}
	}
	return strings.Join(words, " ")
}

func loaderWorkers(r *report.Report) string {
	if len(r.Loaders) == 0 {
		return ""
	}
	return strconv.Itoa(r.Loaders[0].Workers)
}

// program is the script or module of a command, "" unknown.
func program(r *report.Report) string {
	if r.Run == nil {
		return ""
	}
	for i, w := range r.Run.Command {
		if w == "-m" && i+1 < len(r.Run.Command) && !strings.HasPrefix(r.Run.Command[i+1], "torch.distributed") {
			return r.Run.Command[i+1]
		}
		if strings.HasSuffix(w, ".py") {
			return path.Base(w)
		}
	}
	return ""
}

// leastShared is the share of the time of both sides that must be in names of both for them to be of one program.
const leastShared = 0.2

// unlike lists what makes the sides two workloads.
func (c *comparison) unlike() []report.DiffFact {
	out := []report.DiffFact{}
	a, b := c.before[0].Report, c.after[0].Report
	add := func(what, x, y string) { out = append(out, report.DiffFact{What: what, Before: x, After: y}) }
	shared, known := c.shared()
	p, q := program(a), program(b)
	one := p == q && p != "" && (c.inTurns || c.oneText(p)) // a fix can take away most of what took time
	if known && shared < leastShared && !one || p != q && p != "" && q != "" && shared < 0.5 {
		add("program", describe(p, a), describe(q, b))
	}
	if len(a.Steps) > 0 && len(b.Steps) > 0 && a.Steps[0].Kind != b.Steps[0].Kind && isNamed(a) && isNamed(b) {
		add("kind of step", a.Steps[0].Kind, b.Steps[0].Kind)
	}
	if x, y := items(a), items(b); c.per == perStep && x > 0 && y > 0 && math.Abs(x-y) > 0.01*max(x, y) {
		add("batch size (compare --per item)", size(x), size(y))
	}
	if x, y := len(a.Ranks), len(b.Ranks); max(x, 1) != max(y, 1) {
		add("ranks", strconv.Itoa(max(x, 1)), strconv.Itoa(max(y, 1)))
	}
	return out
}

// leastText is the share of a program's lines that must be in both sides' text of it for them to be of one program.
const leastText = 0.5

// oneText says that both sides keep the text of a program, and that most of it is the same.
func (c *comparison) oneText(program string) bool {
	var texts [2][]string
	for i, side := range [2][]timed{c.before, c.after} {
		for file, lines := range side[0].Sources {
			if path.Base(strings.ReplaceAll(file, `\`, "/")) == program {
				texts[i] = lines
			}
		}
	}
	has := map[string]bool{}
	for _, line := range texts[0] {
		has[strings.TrimSpace(line)] = true
	}
	same := 0
	for _, line := range texts[1] {
		if has[strings.TrimSpace(line)] {
			same++
		}
	}
	return same > 0 && float64(same) >= leastText*float64(max(len(texts[0]), len(texts[1])))
}

// isNamed says that the kind of step is the program's word, not that of a trace from elsewhere.
func isNamed(r *report.Report) bool { return r.Run != nil }

func describe(program string, r *report.Report) string {
	if program != "" {
		return program
	}
	if len(r.Inputs) > 0 {
		return path.Base(r.Inputs[0].Path)
	}
	return ""
}

// shared is the largest share, over the kinds that have names, of the time of both sides that names of both have; known is false where no
// kind has rows on both sides.
func (c *comparison) shared() (most float64, known bool) {
	for kind, s := range c.sums {
		if kind == "part" || kind == "wait" || kind == "worker" {
			continue
		}
		both, all := 0.0, 0.0
		sides := [2]*sums{s[0], s[1]}
		if len(sides[0].order) == 0 || len(sides[1].order) == 0 {
			continue
		}
		known = true
		for i, side := range sides {
			for _, key := range side.order {
				ms := meanOf(side.items[key].ms)
				all += ms
				if sides[1-i].items[key] != nil {
					both += ms
				}
			}
		}
		if all > 0 {
			most = max(most, both/all)
		}
	}
	return most, known
}
