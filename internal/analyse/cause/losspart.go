package cause

import (
	"slices"

	"bottleneck/internal/analyse"
	"bottleneck/internal/model"
)

// lossParts knows which statements of the program's functions give what backward passes begin from: found backwards through the source,
// from the lines that call a backward pass, by the names that statements use and define. It also sees what operators cannot tell: a value
// that has no gradient itself (an advantage, an index, a mask) but that the loss is computed from.
type lossParts struct {
	c          *Facts
	calls      map[funcKey]map[int32]bool // lines from which backward passes are called
	attributes map[string]bool            // under which other functions may leave parts of the loss
	read       map[funcKey][]statement
	slices     map[sliceKey][]statement
}

type sliceKey struct {
	f      funcKey
	result bool
}

func (c *Facts) lossParts() *lossParts {
	l := &lossParts{c, map[funcKey]map[int32]bool{}, map[string]bool{}, map[funcKey][]statement{}, map[sliceKey][]statement{}}
	for _, ch := range chainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *analyse.Attributed) bool {
		return c.C.Info(c.P.Samples.Stack[a.Index]).Acts&analyse.ActBackward != 0
	}) {
		for i := range ch.frames {
			f := keyOf(&ch.frames[i])
			if l.calls[f] == nil {
				l.calls[f] = map[int32]bool{}
			}
			l.calls[f][ch.frames[i].Line] = true
		}
	}
	for f := range l.calls {
		for _, st := range l.of(f, false) {
			for _, name := range st.uses {
				if a := attribute(name); a != "" {
					l.attributes[a] = true
				}
			}
		}
	}
	clear(l.slices) // they now have the attributes too
	return l
}

// statements are a function's, none where its source is not known.
func (l *lossParts) statements(f funcKey) []statement {
	all, known := l.read[f]
	if src := l.c.S.Sources[l.c.text(f.file)]; !known && src != nil {
		first := f.first
		if l.c.text(f.name) == "<module>" {
			first = 0
		}
		all = statementsOf(src.Lines, first)
		l.read[f] = all
	}
	return all
}

// of are the statements of a function that the loss depends on; with result also those that its result depends on.
func (l *lossParts) of(f funcKey, result bool) []statement {
	key := sliceKey{f, result}
	if out, known := l.slices[key]; known {
		return out
	}
	var out []statement
	closure(l.statements(f), func(st *statement) bool {
		return result && st.gives || l.calling(f, st) || slices.ContainsFunc(st.defines, func(d string) bool { return l.attributes[attribute(d)] })
	}, func(st *statement, u string) bool {
		return slices.ContainsFunc(st.defines, func(d string) bool { return meets(d, u) })
	}, func(st *statement) []string {
		out = append(out, *st)
		return st.uses
	})
	l.slices[key] = out
	return out
}

// calling says that a backward pass was called from a statement.
func (l *lossParts) calling(f funcKey, st *statement) bool {
	for line := range l.calls[f] {
		if st.from <= line && line <= st.to {
			return true
		}
	}
	return false
}

// holds says that the loss depends on what a place computes: the line at a depth of a chain, or with whole its function.
func (l *lossParts) holds(frames []model.Frame, depth int, whole bool) bool {
	result := false // the loss depends on what this frame's function returns
	for i := range frames[:depth+1] {
		f, line := keyOf(&frames[i]), frames[i].Line
		part := l.of(f, result)
		if i == depth && whole {
			return result || len(part) > 0 && l.calls[f] == nil
		}
		k := slices.IndexFunc(part, func(st statement) bool { return st.from <= line && line <= st.to })
		result = k >= 0 && (i == depth || !l.calling(f, &part[k]))
	}
	return result
}

// readLater says that what a place makes is read back by a later statement of its function or, where the function returns it, of those that
// call it: what is made of it counts too.
func (l *lossParts) readLater(p *besidePlace) bool {
	depth, called := p.depth, false // called: the statements are calls of the place's function, which can read its result themselves
	if p.key.line == 0 {
		depth, called = depth-1, true
	}
	for ; depth >= 0; depth, called = depth-1, true {
		f := keyOf(&p.chains[0].frames[depth])
		here := func(st *statement) bool {
			return slices.ContainsFunc(p.chains, func(ch chain) bool {
				line := ch.frames[depth].Line
				return keyOf(&ch.frames[depth]) == f && st.from <= line && line <= st.to
			})
		}
		read, returned := false, false
		closure(l.statements(f), here, func(st *statement, d string) bool {
			return slices.ContainsFunc(st.uses, func(u string) bool { return meets(d, u) })
		}, func(st *statement) []string {
			for line := st.from; line <= st.to && !read && (called || !here(st)); line++ {
				read = readsBack(l.c.source(l.c.text(f.file), int(line)))
			}
			returned = returned || st.gives
			return st.defines
		})
		if read || !returned {
			return read
		}
	}
	return false
}

// closure hands out each statement from which names are followed and each that one of the followed names reaches, once; take gives the names
// that are followed from it.
func closure(all []statement, from func(*statement) bool, reached func(*statement, string) bool, take func(*statement) []string) {
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
