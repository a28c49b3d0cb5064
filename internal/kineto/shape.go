package kineto

import "encoding/binary"

// A node is one step of a remembered layout: the text between the end of one value and the beginning of the next, and
// how that next value is read. The nodes that were seen to follow a node are its alternatives, the latest first.
type node struct {
	lit       string
	act       action
	field     Field
	odd       bool // the value is not of the key's kind, so the layout says nothing about the next one
	constants bool // phase, cat, pid or tid are set
	inArgs    bool // the value stands inside args
	flow      bool // of an arrow, whose values are passed over where nobody wants them
	phase     byte // set by the text itself, 0 when it has none
	cat       Text // likewise
	pid       ID   // likewise, where few processes and threads make them part of the layout
	tid       ID
	key       Text // of an extra argument
	next      []*node
	likely    *node // the first of next, nil for the root, whose choice depends on the event before
	follow    *node // of an event's first node: the first node of the event that came after one like it
	// last values, the latest first: of arrays by the event's name and the last one, of names by the names before
	memo *[memoSize][2]Text
	prev Text // the last value, of arrays
}

const (
	memoBits     = 12
	memoSize     = 1 << memoBits
	maxLiteral   = 512 // longer layouts are parsed each time
	maxNodes     = 4096
	maxFollowers = 24
	maxIDNodes   = 96 // a file with more pairs of process and thread reads them as values
)

// Codes that stand in for a position.
const (
	failMore = -1 // the text ends within the event
	failBad  = -2 // the text is not what it should be
	failEnd  = -3 // there is no further event: the array ends
)

// event reads one event at p into e and returns the position after it, or a code.
func (s *Scanner) event(p int, e *Event) int {
	b := s.buf
	cur := s.root
	for {
		n := cur.likely
		if n != nil && !s.lenient && stands(b, p, n.lit) {
			p = n.value(b, p)
		} else if n, p = s.step(cur, b, p); p < 0 {
			return p
		}
		if n.constants {
			n.state(e)
		}
		switch n.act {
		case actEnd:
			return p
		case actName:
			p = s.name(b, p, n, e)
		case actTime:
			p = s.time(b, p, &e.TS, hasTS, e)
		case actDur:
			p = s.time(b, p, &e.Dur, hasDur, e)
		case actInt:
			p = s.integer(b, p, n.field, e)
		case actJSON:
			p = s.array(b, p, n, e)
		case actPID:
			p = s.id(b, p, &e.PID)
		case actTID:
			p = s.id(b, p, &e.TID)
		case actSkip:
			if q := skipNumber(b, p); q > p {
				p = q
			} else {
				p = s.skip(b, p)
			}
		default:
			p = s.rare(b, p, n, e)
		}
		if p < 0 {
			return p
		}
		cur = n
	}
}

// state gives an event what the layout itself says.
func (n *node) state(e *Event) {
	if n.phase != 0 {
		e.Phase = n.phase
	}
	if n.cat != 0 {
		e.Cat = n.cat
	}
	if n.pid.Set {
		e.PID = n.pid
	}
	if n.tid.Set {
		e.TID = n.tid
	}
}

// stands says whether lit is what the text goes on with at p. Most literals are short: two words from each end, which may
// overlap, cover them.
func stands(b []byte, p int, lit string) bool {
	n := len(lit)
	if len(b)-p < n {
		return false
	}
	rest := b[p : p+n]
	if n < 8 || n > 32 {
		return string(rest) == lit
	}
	if word(rest, 0) != wordOf(lit, 0) || word(rest, n-8) != wordOf(lit, n-8) {
		return false
	}
	return n <= 16 || word(rest, 8) == wordOf(lit, 8) && word(rest, n-16) == wordOf(lit, n-16)
}

func word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

func wordOf(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 |
		uint64(s[6])<<48 | uint64(s[7])<<56
}

// step finds the node whose text stands at p, learning it if it is new, and returns the position after that text.
func (s *Scanner) step(cur *node, b []byte, p int) (*node, int) {
	rest := b[p:]
	if s.lenient {
		return s.learn(cur, b, p) // strings end elsewhere than in remembered layouts
	}
	if cur == s.root {
		if n := s.first.follow; n != nil && len(rest) >= len(n.lit) && string(rest[:len(n.lit)]) == n.lit {
			s.first = n
			return n, n.value(b, p)
		}
	}
	for i, n := range cur.next {
		if len(rest) >= len(n.lit) && string(rest[:len(n.lit)]) == n.lit {
			if i > 0 {
				cur.next[i], cur.next[i-1] = cur.next[i-1], n
				s.setLikely(cur)
			}
			if cur == s.root {
				s.first.follow, s.first = n, n
			}
			return n, n.value(b, p)
		}
	}
	return s.learn(cur, b, p)
}

// value is where the value behind the node's text begins, which need not have as few blanks before it as the first one.
func (n *node) value(b []byte, p int) int {
	p += len(n.lit)
	if p < len(b) && b[p] <= ' ' && n.act != actEnd {
		return blanks(b, p)
	}
	return p
}

// learn reads by the general rules from the end of one value to the beginning of the next and remembers what it saw.
func (s *Scanner) learn(cur *node, b []byte, p int) (*node, int) {
	n := &node{inArgs: cur.inArgs, flow: cur.flow && cur != s.root}
	q := s.between(n, b, p, cur == s.root)
	if q < 0 {
		return nil, q
	}
	if !s.lenient && !n.odd && q-p <= maxLiteral && s.nodes < maxNodes && len(cur.next) < maxFollowers {
		n.lit = string(b[p:q])
		s.nodes++
		cur.next = append(cur.next, n)
		copy(cur.next[1:], cur.next)
		cur.next[0] = n
		s.setLikely(cur)
	}
	n.constants = n.phase != 0 || n.cat != 0 || n.pid.Set || n.tid.Set
	return n, q
}

func (s *Scanner) setLikely(n *node) {
	if n != s.root {
		n.likely = n.next[0]
	}
}

// between reads separators, keys and constant values up to the next value that varies.
func (s *Scanner) between(n *node, b []byte, p int, first bool) int {
	opened := first
	if first {
		if p = s.open(b, p); p < 0 {
			return p
		}
	}
	for {
		if p = blanks(b, p); p >= len(b) {
			return failMore
		}
		if b[p] == ',' && !opened {
			opened = true // a comma before a closing brace is tolerated
			p++
			continue
		}
		if b[p] == '}' {
			p++
			if !n.inArgs {
				n.act = actEnd
				return p
			}
			n.inArgs, opened = false, false
			continue
		}
		if b[p] != '"' || !opened {
			return failBad
		}
		done := false
		if p, done = s.key(n, b, p); p < 0 || done {
			return p
		}
		opened = n.act == actArgs
	}
}

// open reads what stands before an event's first key.
func (s *Scanner) open(b []byte, p int) int {
	for {
		if p = blanks(b, p); p >= len(b) {
			return failMore
		}
		switch b[p] {
		case ',':
			p++
		case '{':
			return p + 1
		case ']':
			return failEnd
		default:
			return failBad
		}
	}
}

// key reads a key and its colon. done says that a value which varies follows; otherwise the value was read too.
func (s *Scanner) key(n *node, b []byte, p int) (q int, done bool) {
	end, _ := quoted(b, p)
	if end < 0 {
		return end, true
	}
	key := b[p+1 : end-1]
	if p = blanks(b, end); p >= len(b) {
		return failMore, true
	}
	if b[p] != ':' {
		return failBad, true
	}
	if p = blanks(b, p+1); p >= len(b) {
		return failMore, true
	}
	known, ok := topKeys[string(key)]
	if n.inArgs {
		known, ok = argKeys[string(key)]
	}
	n.act, n.field = known.act, known.field
	if !ok {
		n.act = actSkip
		if n.inArgs {
			n.act, n.key = actExtra, s.Names.Intern(key)
		}
	}
	if n.flow && !n.inArgs {
		switch n.act {
		case actTime, actDur:
			n.act = actSkip
		case actName:
			n.act = actConstant // arrows have few names
		}
	}
	switch n.act {
	case actPhase, actCat, actConstant:
		return s.constant(n, b, p)
	case actPID, actTID:
		return s.constantID(n, b, p)
	case actArgs:
		if b[p] == '{' {
			n.inArgs = true
			return p + 1, false
		}
		n.act, n.odd = actSkip, true
	}
	return p, true
}

// constant reads a value that belongs to the layout.
func (s *Scanner) constant(n *node, b []byte, p int) (int, bool) {
	if b[p] != '"' {
		n.act, n.odd = actSkip, true
		return p, true
	}
	end, _ := s.quoted(b, p)
	if end < 0 {
		return end, true
	}
	text := b[p+1 : end-1]
	switch {
	case n.act == actPhase && len(text) > 0:
		n.phase = text[0]
		n.flow = s.NoFlows && (n.phase == 's' || n.phase == 't' || n.phase == 'f')
	case n.act == actCat:
		n.cat = s.Names.Intern(text)
	}
	return end, false
}

// constantID makes a process or thread id part of the layout.
func (s *Scanner) constantID(n *node, b []byte, p int) (int, bool) {
	v, q := digits(b, p)
	if s.lenient || s.idNodes >= maxIDNodes || q == p || q-p > 18 || q < len(b) && !delimiter(b[q]) {
		return p, true
	}
	if q >= len(b) {
		return failMore, true
	}
	s.idNodes++
	if n.act == actPID {
		n.pid = ID{Num: v, Set: true}
	} else {
		n.tid = ID{Num: v, Set: true}
	}
	return q, false
}
