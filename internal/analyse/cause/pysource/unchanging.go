package pysource

import (
	_ "embed" // pure.txt
	"maps"
	"regexp"
	"slices"
	"strings"
)

// At is a line that was seen to run, in its function.
type At struct {
	Source []string // of the file
	Name   string   // of the function, <module> for a file's own body
	Line   int32
}

var (
	// drawn matches what gives something else each time.
	drawn = regexp.MustCompile(`(?i)rand|normal_?\(|dropout|bernoulli|multinomial|shuffle|sample|choice|poisson|uniform|exponential_|` +
		`cauchy|geometric_|seed|\btime\b|perf_counter|monotonic`)
	// learned matches statements whose names stand for what an optimizer changes.
	learned    = regexp.MustCompile(`requires_grad|Parameter\(|[oO]ptim|\bparameters\(|\bSGD\(|\bAdamW?\(`)
	noGraph    = regexp.MustCompile(`no_grad|inference_mode|set_grad_enabled`)
	branch     = regexp.MustCompile(`^(?:if|elif|else|while|for|async\s+for|except)\b`)
	otherwise  = regexp.MustCompile(`^(?:elif|else|except)\b`)
	rangeHead  = regexp.MustCompile(`^for\s+.+?\s+in\s+(range\(.*\)):$`)
	importLine = regexp.MustCompile(`^(?:import|from)\b`)
	notPure    = regexp.MustCompile(`^(?:global|nonlocal|yield|raise|await|del)\b`)
	dottedEnd  = regexp.MustCompile(`[A-Za-z_][\w.]*$`)
	called     = regexp.MustCompile(`(\.?)([A-Za-z_]\w*)\(`)
	bareCall   = regexp.MustCompile(`^([A-Za-z_]\w*)\((.*)\)$`)
	inPlace    = regexp.MustCompile(
		`^([A-Za-z_][\w.]*?)(?:\[.*\]\s*(?:[-+*/@|&^%]|//|\*\*)?=[^=]|\s*(?:[-+*/@|&^%]|//|\*\*)=|\.[a-z]\w*[a-z0-9]_\()`)
	trainsHere = regexp.MustCompile(`\.(?:backward|step)\(`)
	isView     = regexp.MustCompile(`^([A-Za-z_][\w.]*)(?:\[[^\[\]]*\]|\.T\b|\.data\b|` +
		`\.(?:view|reshape|t|transpose|permute|unsqueeze|squeeze|flatten|expand|detach|narrow|select|contiguous|to|float|numpy|cpu)` +
		`\([^()]*\))*$`)
	keyword   = regexp.MustCompile(`\b[A-Za-z_]\w*\s*=([^=])`)
	notNames  = regexp.MustCompile(`^(?:if|else|elif|and|or|not|in|is|None|True|False|return|for|lambda|while|with|as|assert|yield|print)$`)
	asksShape = regexp.MustCompile(
		`[A-Za-z_][\w.]*(?:\[[^\[\]]*\])?\.(?:shape|size\([^()]*\)|dim\(\)|ndim|numel\(\)|device|dtype)(?:\[[^\[\]]*\])?`)
)

//go:embed pure.txt
var pureNames string

// pure are functions and methods, of PyTorch, NumPy and Python, that give the same for the same.
var pure = func() map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq(pureNames) {
		out[name] = true
	}
	return out
}()

// asks matches methods that change nothing of what they are called on, though what they give may be something else each time.
var asks = regexp.MustCompile(
	`^(?:size|dim|numel|nelement|stride|is_contiguous|item|tolist|numpy|detach|type|backward|get|items|keys|values|format)$`)

// Unchanging says that the last of lines, each called from the one before, computes the same in each step: all that it is made of was given
// a value before the loop of the steps, or is made of such. Where the text leaves a doubt it does not.
func (r *Reader) Unchanging(lines []At) bool {
	var given map[string]bool // parameters of the function that is called next; nil before the loop
	for i := range lines {
		w, here, ok := r.worldAt(&lines[i])
		if !ok || w.withoutGraph(here) && given != nil {
			return false
		}
		if w.loop = w.stepLoop(here); given == nil && w.loop < 0 {
			continue
		}
		if given != nil && w.loop >= 0 && !w.trains(w.loop) {
			w.loop = -1 // it turns within a step
		}
		if w.given = given; given == nil && (w.withoutGraph(here) || w.loop < 0) {
			return false
		}
		names := w.until(here)
		if i+1 == len(lines) {
			return w.clean(w.all[here].text, names)
		}
		given = w.handed(w.all[here].text, r, &lines[i+1], names)
	}
	return false
}

// world is what is known of one function while it runs.
type world struct {
	*unit
	own   int             // the function's head, -1 for a file's body
	end   int             // the statement after its last
	loop  int             // the head of the loop around the statement that is asked about of which each turn is a step or more, -1 for none
	given map[string]bool // parameters, and whether they stay what they are; nil in the function whose loop it is
	depth int             // of functions that are looked into, one from within the other
	// carried are names that a turn of the loop hands to the next one, for loops within a step; those of steps are read without them.
	carried []string
	// inStep says that the loop turns within a step, where what is learned stays what it is.
	inStep bool
}

// worldAt is the function that a line stands in, and the line's statement; ok is false where the text is not that of what ran.
func (r *Reader) worldAt(at *At) (w world, here int, ok bool) {
	w = world{unit: r.unitOf(at.Source), own: -1, loop: -1}
	if here = w.index(at.Line); here < 0 {
		return w, here, false
	}
	w.own, w.end = w.within[here], len(w.all)
	if w.own < 0 {
		return w, here, at.Name == "<module>"
	}
	w.end = w.blockEnd(w.own)
	return w, here, w.nameOf(w.own) == at.Name
}

// blockEnd is the index after the last statement of a block, given by its head.
func (w *world) blockEnd(head int) int { return w.keepReader.end(head) }

// nameOf is the name of the function that a head begins.
func (w *world) nameOf(head int) string { return defLine.FindStringSubmatch(w.all[head].text)[1] }

// stepLoop is the head of the outermost loop around a statement in its function that trains, or of the outermost one where none does; -1
// for none.
func (w *world) stepLoop(at int) int {
	head, trains := -1, -1
	w.eachAround(at, func(i int) {
		if loopLine.MatchString(w.all[i].text) {
			head = i
			if w.trains(i) {
				trains = i
			}
		}
	})
	if trains >= 0 {
		return trains
	}
	return head
}

// trains says that a loop goes backward or steps an optimizer: it turns once for each step, others within a step.
func (w *world) trains(head int) bool {
	for i := head + 1; i < w.blockEnd(head); i++ {
		if trainsHere.MatchString(w.all[i].text) {
			return true
		}
	}
	return false
}

// eachAround hands out the heads of the blocks around a statement in its function, the innermost first.
func (w *world) eachAround(at int, take func(head int)) { headsAround(w.all, at, w.own, take) }

// headsAround hands out the heads of the blocks around a statement, the innermost first, down to one that they stand behind; -1 for none.
func headsAround(all []codeLine, at, behind int, take func(head int)) {
	least := all[at].indent
	for i := at - 1; i > behind; i-- {
		if st := &all[i]; st.indent < least {
			least = st.indent
			take(i)
		}
	}
}

// decoratedWithoutGraph says that a decorator of the function with this head has PyTorch keep no graph.
func decoratedWithoutGraph(all []codeLine, head int) (without bool) {
	for i := head - 1; i >= 0 && strings.HasPrefix(all[i].text, "@"); i-- {
		without = without || noGraph.MatchString(all[i].text)
	}
	return without
}

// withoutGraph says that a statement stands where PyTorch keeps no graph, so that nothing tells whether weights go into it.
func (w *world) withoutGraph(at int) (without bool) {
	w.eachAround(at, func(head int) { without = without || noGraph.MatchString(w.all[head].text) })
	return without || decoratedWithoutGraph(w.all, w.own)
}

// until are the names that are the same at each turn when a statement runs, and those that are not. Names that are missing are of what is
// around the function, or were given a value before the loop.
func (w *world) until(at int) map[string]bool {
	from, end := w.own+1, w.end
	if w.given == nil {
		from, end = w.loop, w.blockEnd(w.loop)
	}
	names, turn := maps.Clone(w.given), map[string]bool{} // turn: as a turn of the loop leaves them
	if names == nil {
		names = map[string]bool{}
	}
	also := append(w.alsoChanged(from, end), w.carried...)
	for _, to := range []int{end, at} {
		for name, same := range w.given {
			names[name] = same
		}
		for _, name := range also {
			names[name] = false
		}
		for i := from; i < to; i++ {
			if i == w.loop { // the turn before has left what the loop gives values to
				for j := i; j < w.blockEnd(i); j++ {
					for _, name := range w.defines[j] {
						before, known := names[name]
						names[name] = turn[name] && (before || !known)
					}
				}
			}
			w.take(i, at, names, also)
		}
		turn = maps.Clone(names)
	}
	for _, name := range also {
		names[name] = false
	}
	return names
}

// take goes on by one statement. at: the one that is asked about; also: names of what changes under another name.
func (w *world) take(i, at int, names map[string]bool, also []string) {
	st := &w.all[i]
	defined := w.defines[i]
	if len(defined) == 0 {
		return
	}
	same, certain := w.clean(st.text, names), true // certain: it runs at each turn
	turns := loopLine.MatchString(st.text)
	if turns { // the same ones in each step, unless it turns once for each
		m := rangeHead.FindStringSubmatch(st.text)
		same = m != nil && w.clean(m[1], names) && i != w.loop && (at < i || w.blockEnd(i) <= at || !w.trains(i))
	}
	w.eachAround(i, func(head int) {
		if text := w.all[head].text; branch.MatchString(text) && (at < head || w.blockEnd(head) <= at) {
			certain = false
			same = same && !otherwise.MatchString(text) && (loopLine.MatchString(text) || w.clean(strings.TrimSuffix(text, ":"), names))
		}
	})
	m := assigned.FindStringSubmatch(st.text)
	anew := turns || m != nil && m[2] == "" && !strings.Contains(m[1], "[") && unclosed(m[1]) == 0
	for _, name := range defined {
		if before, known := names[name]; known && !before && !(anew && certain) {
			continue
		}
		names[name] = same && !slices.Contains(also, name)
	}
}

// clean says that the value in a statement is the same at each turn.
func (w *world) clean(text string, names map[string]bool) bool {
	if drawn.MatchString(text) {
		return false
	}
	if m := assigned.FindStringSubmatch(text); m != nil && unclosed(m[1]) == 0 && !loopLine.MatchString(text) {
		value := m[3]
		for _, in := range indexed.FindAllString(m[1], -1) {
			value += " " + in
		}
		if m[2] != "" {
			value += " " + m[1]
		}
		text = value
	}
	text = asksShape.ReplaceAllString(strings.TrimPrefix(text, "return "), "0") // batches have one shape
	for _, m := range called.FindAllStringSubmatch(text, -1) {
		if !pure[m[2]] && (m[1] == "." || !w.pureFunction(m[2])) {
			return false
		}
	}
	for _, name := range namesIn(keyword.ReplaceAllString(text, " $1")) {
		if !w.cleanName(name, names) {
			return false
		}
	}
	return true
}

// cleanName says that what a name stands for is the same at each turn.
func (w *world) cleanName(name string, names map[string]bool) bool {
	if called, is := strings.CutSuffix(name, "("); is {
		i := strings.LastIndexByte(called, '.')
		if i < 0 {
			return true // a function: clean has asked about it
		}
		name = called[:i]
	}
	if notNames.MatchString(name) {
		return true
	}
	if strings.HasSuffix(name, ".data") || strings.Contains(name+".", ".grad.") {
		return false
	}
	for other, same := range names {
		if !same && Meets(other, name) {
			return false
		}
	}
	root, _, _ := strings.Cut(name, ".")
	switch _, known := names[root]; {
	case root == "self":
		return w.attributeStays(name)
	case known:
		return true
	}
	return w.outside(root)
}

// attributeStays says that an attribute of self gets its value where the object is made, and nowhere else in the file.
func (w *world) attributeStays(name string) bool {
	parts := strings.Split(name, ".")
	if len(parts) < 2 {
		return true
	}
	attribute, found := "self."+parts[1], false
	for i := range w.all {
		text := w.all[i].text
		found = found || strings.Contains(text, "register_buffer(")
		if !strings.Contains(text, attribute) {
			continue
		}
		for _, name := range w.defines[i] {
			if name != attribute && !strings.HasPrefix(name, attribute+".") {
				continue
			}
			in := w.within[i]
			learns := !w.inStep && (learned.MatchString(text) || strings.Contains(text, "nn."))
			if in < 0 || w.nameOf(in) != "__init__" || learns {
				return false
			}
			found = true
		}
	}
	return found
}

// outside says that a name of what is around what runs at each turn stands for the same throughout, and for nothing that is learned.
func (w *world) outside(root string) bool {
	if w.imports[root] {
		return true
	}
	known := w.given == nil && w.own >= 0 && slices.Contains(parametersOf(w.all[w.own].text), root)
	for i := range w.all {
		st := &w.all[i]
		in := w.within[i]
		if in >= 0 && (in != w.own || w.given != nil) {
			if strings.HasPrefix(st.text, "global ") && slices.Contains(words.FindAllString(st.text, -1), root) {
				return false
			}
			continue
		}
		if !w.inStep && slices.Contains(w.learns[i], root) {
			return false
		}
		if slices.Contains(w.defines[i], root) {
			if w.given != nil && w.around(i, loopLine) >= 0 {
				return false
			}
			known = true
		}
	}
	return known
}

// learnsIn are the names that stand for what is learned in a statement: one that is given a parameter, of which a gradient is asked, or
// that an optimizer is given.
func learnsIn(text string) []string {
	m := learned.FindStringIndex(text)
	if m == nil || defLine.MatchString(text) {
		return nil
	}
	names := append(definedIn(text), words.FindAllString(dottedEnd.FindString(text[:m[0]]), -1)...)
	if _, arguments, ok := strings.Cut(text[m[0]:], "("); ok {
		open := 1
		for i, r := range arguments {
			if open += unclosed(string(r)); open == 0 {
				arguments = arguments[:i]
				break
			}
		}
		names = append(names, words.FindAllString(arguments, -1)...)
	}
	return names
}

// maxPureDepth bounds how many functions of the file are looked into, one from within the other.
const maxPureDepth = 3

// pureFunction says that a function of the file gives the same for the same.
func (w *world) pureFunction(name string) bool {
	head := w.function(name)
	if head < 0 || w.depth >= maxPureDepth {
		return false
	}
	asked := askedPure{name, w.depth}
	same, known := w.pures[asked]
	if !known {
		same = w.readsPure(head)
		w.pures[asked] = same
	}
	return same
}

// readsPure reads the function with this head for pureFunction.
func (w *world) readsPure(head int) bool {
	f := world{unit: w.unit, own: head, end: w.blockEnd(head), loop: -1, given: map[string]bool{}, depth: w.depth + 1}
	for _, parameter := range parametersOf(w.all[head].text) {
		f.given[parameter] = true
	}
	names := f.until(f.end)
	for i := head + 1; i < f.end; i++ {
		if text := f.all[i].text; strings.HasPrefix(text, "return") && !f.clean(text, names) || notPure.MatchString(text) {
			return false
		}
	}
	return true
}

// handed are the parameters of a function that a statement calls, and whether what each is given stays the same.
func (w *world) handed(text string, r *Reader, to *At, names map[string]bool) map[string]bool {
	out := map[string]bool{}
	next, _, ok := r.worldAt(to)
	if !ok || next.own < 0 {
		return out
	}
	parameters := parametersOf(next.all[next.own].text)
	for _, name := range parameters {
		out[name] = false
	}
	if len(parameters) > 0 && parameters[0] == "self" {
		out["self"], parameters = true, parameters[1:]
	}
	arguments, ok := argumentsOf(text, to.Name)
	if !ok || slices.ContainsFunc(arguments, func(argument string) bool { return strings.HasPrefix(argument, "*") }) {
		return out
	}
	for _, name := range parameters {
		out[name] = true // its default
	}
	for i, argument := range arguments {
		name := ""
		if m := assigned.FindStringSubmatch(argument); m != nil && unclosed(m[1]) == 0 {
			name, argument = strings.TrimSpace(m[1]), m[3]
		} else if i < len(parameters) {
			name = parameters[i]
		}
		out[name] = w.clean(argument, names)
	}
	return out
}
