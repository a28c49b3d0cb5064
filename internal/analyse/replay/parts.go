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
	sums := map[[2]string]int64{}
	last := int64(-1 << 62)
	for i := range g.windows {
		w := &g.windows[i]
		if w.trace != trace {
			continue
		}
		begin, end := w.fromAt, t.end(w.to, w.toAt)
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
	return sortedParts(sums)
}

// chain adds up what lies on the chain of waits that ends with a node, from one instant to another.
func (g *Graph) chain(t *Times, at int32, begin, end int64, sums map[[2]string]int64) {
	cursor := end
	for n := 0; at >= 0 && cursor > begin && n <= len(g.nodes); n++ {
		nd := &g.nodes[at]
		if stop := max(t.End[at], begin); stop < cursor {
			sums[[2]string{lagName, ""}] += cursor - stop
			cursor = stop
		}
		if start := max(t.Start[at], begin); start < cursor {
			sums[[2]string{g.partName(nd), g.categories[nd.cat]}] += cursor - start
			cursor = start
		}
		at = t.by[at]
	}
	if cursor > begin {
		sums[[2]string{lagName, ""}] += cursor - begin
	}
}

func (g *Graph) partName(n *node) string {
	if n.kind == Other {
		return g.categories[n.cat]
	}
	return n.kind.String()
}
