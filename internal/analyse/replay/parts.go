package replay

// Part is what a step's length consists of, ns summed over the steps: the parts of the chain of activities that ends each
// step, in which each began because the one before it ended. They sum to the steps.
type Part struct {
	Name string
	Of   string // a kind within the part, "" where it is not split
	Time float64
}

// lagName is the part for the time between one activity and the next: launching, switching from one kernel to another, waking up.
const lagName = "launching and switching"

// chainParts splits the steps of one trace in a replay.
func (g *Graph) chainParts(t *Times, trace int, only *int64) []Part {
	sums := newSums(g)
	last := int64(-1 << 62)
	for i := range g.windows {
		w := &g.windows[i]
		if w.trace != trace {
			continue
		}
		begin, end := w.fromAt, endOf(t.End, w.to, w.toAt)
		if w.from >= 0 {
			begin = t.End[w.from]
		}
		at := w.to
		if w.tail >= 0 && t.End[w.tail] > end {
			at, end = w.tail, t.End[w.tail]
		}
		begin = max(begin, last)
		last = max(end, begin)
		if !w.asked(only) {
			continue
		}
		g.chain(t, at, begin, last, sums)
	}
	return g.partsOf(sums, func(kind Kind, cat string) [2]string {
		if kind == Other {
			return [2]string{cat, ""}
		}
		return [2]string{kind.String(), cat}
	})
}

// chain adds up what lies on the chain of waits that ends with a node, from one instant to another.
func (g *Graph) chain(t *Times, at int32, begin, end int64, sums *sums) {
	cursor := end
	for n := 0; at >= 0 && cursor > begin && n <= len(g.nodes); n++ {
		nd := &g.nodes[at]
		if stop := max(t.End[at], begin); stop < cursor {
			sums.lag += cursor - stop
			cursor = stop
		}
		if start := max(t.Start[at], begin); start < cursor {
			sums.of[nd.kind][nd.cat] += cursor - start
			cursor = start
		}
		at = t.by[at]
	}
	if cursor > begin {
		sums.lag += cursor - begin
	}
}

// sums are times in ns by kind and category of the nodes, and between them.
type sums struct {
	of  [numKinds][]int64
	lag int64
}

func newSums(g *Graph) *sums {
	s := &sums{}
	for k := range s.of {
		s.of[k] = make([]int64, len(g.categories))
	}
	return s
}

// partsOf turns sums into parts, most time first; name says what a kind and category are called.
func (g *Graph) partsOf(s *sums, name func(kind Kind, category string) [2]string) []Part {
	byName := map[[2]string]int64{{lagName, ""}: s.lag}
	for k := range s.of {
		for c, v := range s.of[k] {
			if v > 0 {
				byName[name(Kind(k), g.categories[c])] += v
			}
		}
	}
	return sortedParts(byName)
}
