package python

import (
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/pysource"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
)

// lossParts knows which statements of the program's functions give what backward passes begin from: found backwards through the source,
// from the lines that call a backward pass, by the names that statements use and define. It also sees what operators cannot tell: a value
// that has no gradient itself (an advantage, an index, a mask) but that the loss is computed from.
type lossParts struct {
	c          *facts.Facts
	calls      map[facts.FuncKey]map[int32]bool // lines from which backward passes are called
	attributes map[string]bool                  // under which other functions may leave parts of the loss
	read       map[facts.FuncKey][]pysource.Statement
	slices     map[sliceKey][]pysource.Statement
}

type sliceKey struct {
	f      facts.FuncKey
	result bool
}

func partsOfLoss(c *facts.Facts) *lossParts {
	l := &lossParts{c, map[facts.FuncKey]map[int32]bool{}, map[string]bool{}, map[facts.FuncKey][]pysource.Statement{},
		map[sliceKey][]pysource.Statement{}}
	for _, ch := range facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool {
		return c.C.Info(c.P.Samples.Stack[a.Index]).Acts&code.ActBackward != 0
	}) {
		for i := range ch.Frames {
			f := facts.KeyOf(&ch.Frames[i])
			if l.calls[f] == nil {
				l.calls[f] = map[int32]bool{}
			}
			l.calls[f][ch.Frames[i].Line] = true
		}
	}
	for f := range l.calls {
		for _, st := range l.of(f, false) {
			for _, name := range st.Uses {
				if a := pysource.Attribute(name); a != "" {
					l.attributes[a] = true
				}
			}
		}
	}
	clear(l.slices) // they now have the attributes too
	return l
}

// statements are a function's, none where its source is not known.
func (l *lossParts) statements(f facts.FuncKey) []pysource.Statement {
	all, known := l.read[f]
	if src := l.c.S.Sources[l.c.Text(f.File)]; !known && src != nil {
		first := f.First
		if l.c.Text(f.Name) == "<module>" {
			first = 0
		}
		all = pysource.StatementsOf(src.Lines, first)
		l.read[f] = all
	}
	return all
}

// of are the statements of a function that the loss depends on; with result also those that its result depends on.
func (l *lossParts) of(f facts.FuncKey, result bool) []pysource.Statement {
	key := sliceKey{f, result}
	if out, known := l.slices[key]; known {
		return out
	}
	var out []pysource.Statement
	closure(l.statements(f), func(st *pysource.Statement) bool {
		return result && st.Gives || l.calling(f, st) || slices.ContainsFunc(st.Defines, func(d string) bool {
			return l.attributes[pysource.Attribute(d)]
		})
	}, func(st *pysource.Statement, u string) bool {
		return slices.ContainsFunc(st.Defines, func(d string) bool { return pysource.Meets(d, u) })
	}, func(st *pysource.Statement) []string {
		out = append(out, *st)
		return st.Uses
	})
	l.slices[key] = out
	return out
}

// calling says that a backward pass was called from a statement.
func (l *lossParts) calling(f facts.FuncKey, st *pysource.Statement) bool {
	for line := range l.calls[f] {
		if st.From <= line && line <= st.To {
			return true
		}
	}
	return false
}

// holds says that the loss depends on what a place computes: the line at a depth of a chain, or with whole its function.
func (l *lossParts) holds(frames []model.Frame, depth int, whole bool) bool {
	result := false // the loss depends on what this frame's function returns
	for i := range frames[:depth+1] {
		f, line := facts.KeyOf(&frames[i]), frames[i].Line
		part := l.of(f, result)
		if i == depth && whole {
			return result || len(part) > 0
		}
		k := slices.IndexFunc(part, func(st pysource.Statement) bool { return st.From <= line && line <= st.To })
		result = k >= 0 && (i == depth || !l.calling(f, &part[k]))
	}
	return result
}

// readLater says that what a place makes is read back by a later statement of its function or, where the function returns it, of those that
// call it: what is made of it counts too.
func (l *lossParts) readLater(p *besidePlace) bool {
	depth, called := p.depth, false // called: the statements are calls of the place's function, which can read its result themselves
	if p.key.Line == 0 {
		depth, called = depth-1, true
	}
	for ; depth >= 0; depth, called = depth-1, true {
		f := facts.KeyOf(&p.chains[0].Frames[depth])
		here := func(st *pysource.Statement) bool {
			return slices.ContainsFunc(p.chains, func(ch facts.Chain) bool {
				line := ch.Frames[depth].Line
				return facts.KeyOf(&ch.Frames[depth]) == f && st.From <= line && line <= st.To
			})
		}
		read, returned := false, false
		closure(l.statements(f), here, func(st *pysource.Statement, d string) bool {
			return slices.ContainsFunc(st.Uses, func(u string) bool { return pysource.Meets(d, u) })
		}, func(st *pysource.Statement) []string {
			for line := st.From; line <= st.To && !read && (called || !here(st)); line++ {
				read = pysource.ReadsBack(l.c.Source(l.c.Text(f.File), int(line)))
			}
			returned = returned || st.Gives
			return st.Defines
		})
		if read || !returned {
			return read
		}
	}
	return false
}

// closure hands out each statement from which names are followed and each that one of the followed names reaches, once; take gives the
// names that are followed from it.
func closure(all []pysource.Statement, from func(*pysource.Statement) bool, reached func(*pysource.Statement, string) bool,
	take func(*pysource.Statement) []string) {
	in := make([]bool, len(all))
	known := map[string]bool{}
	var fresh []string
	add := func(i int) {
		in[i] = true
		for _, name := range take(&all[i]) {
			if !known[name] {
				known[name] = true
				fresh = append(fresh, name)
			}
		}
	}
	for i := range all {
		if from(&all[i]) {
			add(i)
		}
	}
	for len(fresh) > 0 {
		names := fresh
		fresh = nil
		for i := range all {
			if !in[i] && slices.ContainsFunc(names, func(name string) bool { return reached(&all[i], name) }) {
				add(i)
			}
		}
	}
}
