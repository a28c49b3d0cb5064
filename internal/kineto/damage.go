package kineto

import (
	"bytes"
	"fmt"
)

// DamageKind is what is wrong with a piece of text.
type DamageKind uint8

// Kinds of damage.
const (
	Truncated     DamageKind = iota // the text ends within an event or value
	Unclosed                        // the text ends after a whole event, without the closing brackets
	UnescapedText                   // a string holds quotes or backslashes that are not escaped; the event was read all the same
	BadEvent                        // an event that cannot be read; skipped
	BadHeader                       // a top-level value that cannot be read; skipped
	Oversized                       // an event or value above 32 MiB; skipped
	numDamages
)

// String is a stable word for diagnostics.
func (k DamageKind) String() string {
	return [...]string{"truncated", "unclosed", "unescaped-text", "bad-event", "bad-header", "oversized"}[k]
}

// Describe says what one kind of damage came to, for a user.
func (k DamageKind) Describe(d Damage) string {
	switch k {
	case Truncated:
		return fmt.Sprintf("the text ends in the middle of an event; %d bytes at its end are lost", d.Lost)
	case Unclosed:
		return "the closing brackets are missing; no event is lost"
	case UnescapedText:
		return "names hold quotes or backslashes that are not escaped; the events were read all the same"
	case BadEvent:
		return fmt.Sprintf("events that cannot be read; %d bytes skipped", d.Lost)
	case BadHeader:
		return fmt.Sprintf("values at the top level that cannot be read; %d bytes skipped", d.Lost)
	}
	return fmt.Sprintf("events or values above 32 MiB; %d bytes skipped", d.Lost)
}

// Damage is one kind of damage of a text.
type Damage struct {
	Count int64
	First int64 // offset of the first one in the decompressed text
	Lost  int64 // bytes that were not used
}

// Damages counts damage by kind.
type Damages [numDamages]Damage

func (d *Damages) add(k DamageKind, at, lost int64) {
	if d[k].Count == 0 {
		d[k].First = at
	}
	d[k].Count++
	d[k].Lost += lost
}

// lenientWindow is how much text is needed behind a bad event before it is given up: a string that lacks its end runs
// on, and there is no use in running to the end of the file.
const lenientWindow = 64 << 10

// repair reads a malformed event leniently, or skips to the next one.
func (s *Scanner) repair(e *Event) bool {
	if !s.final && len(s.buf)-s.p < lenientWindow && s.more() {
		return false
	}
	s.lenient = true
	e.reset(s.base + int64(s.p))
	q := s.event(s.p, e)
	s.lenient = false
	if q >= 0 && e.Phase != 0 {
		s.Damage.add(UnescapedText, e.Offset, 0)
		s.p = q
		return true
	}
	s.resync(BadEvent)
	return false
}

// salvageTail ends a text that stops within an event.
func (s *Scanner) salvageTail(e *Event) bool {
	rest := bytes.TrimLeft(s.buf[s.p:], " \t\r\n,")
	if len(rest) == 0 {
		s.Damage.add(Unclosed, s.Offset(), 0)
		s.state = atEnd
		return false
	}
	if next := nextEvent(s.buf, s.p+len(s.buf[s.p:])-len(rest)+1); next >= 0 {
		// Whole events may follow one whose string has no end.
		return s.repair(e)
	}
	s.Damage.add(Truncated, s.Offset(), int64(len(rest)))
	s.state = atEnd
	return false
}

// resync drops text up to the next beginning of an event.
func (s *Scanner) resync(kind DamageKind) {
	at := s.Offset()
	from := s.p + 1
	for {
		next := nextEvent(s.buf, from)
		if next >= 0 {
			s.p = next
			break
		}
		if s.final {
			s.p = len(s.buf)
			s.state = atEnd
			break
		}
		// Keep enough for a beginning that the buffer's end cuts.
		s.p = max(s.p, len(s.buf)-64)
		from = 0
		if !s.more() {
			s.p = len(s.buf)
		}
	}
	s.Damage.add(kind, at, s.Offset()-at)
}

// nextEvent finds a brace followed by a key that events begin with.
func nextEvent(b []byte, from int) int {
	for p := from; p < len(b); p++ {
		n := bytes.IndexByte(b[p:], '{')
		if n < 0 {
			return -1
		}
		p += n
		if q := blanks(b, p+1); q < len(b) && beginsEvent(b[q:]) {
			return p
		}
	}
	return -1
}

func beginsEvent(b []byte) bool {
	for _, key := range [...]string{`"ph"`, `"name"`, `"cat"`, `"ts"`, `"pid"`, `"args"`} {
		if len(b) > len(key) && string(b[:len(key)]) == key {
			q := blanks(b, len(key))
			return q < len(b) && b[q] == ':'
		}
	}
	return false
}

// repairTop drops a top-level value that cannot be read, up to the next key that is known.
func (s *Scanner) repairTop() {
	at := s.Offset()
	from := s.p + 1
	for {
		if next := s.nextTopKey(from); next >= 0 {
			s.p = next
			break
		}
		if s.final {
			s.p = len(s.buf)
			s.state = atEnd
			break
		}
		s.p = max(s.p, len(s.buf)-64)
		from = 0
		if !s.more() {
			s.p = len(s.buf)
		}
	}
	s.Damage.add(BadHeader, at, s.Offset()-at)
}

// nextTopKey finds a key that stands at the top of Kineto's files; before the events only their own will do, since log
// lines may quote any of the others.
func (s *Scanner) nextTopKey(from int) int {
	keys := []string{`"traceEvents"`}
	if s.SawEvents {
		keys = []string{`"traceName"`, `"displayTimeUnit"`, `"baseTimeNanoseconds"`, `"distributedInfo"`, `"deviceProperties"`}
	}
	best := -1
	for _, key := range keys {
		for p := min(from, len(s.buf)); ; {
			n := bytes.Index(s.buf[p:], []byte(key))
			if n < 0 {
				break
			}
			q := blanks(s.buf, p+n+len(key))
			if q < len(s.buf) && s.buf[q] == ':' && (best < 0 || p+n < best) {
				best = p + n
				break
			}
			p += n + len(key)
		}
	}
	return best
}

// quotedLeniently ends a string at the first quote behind which the event goes on as events do: a key that is known,
// or closing brackets. Quotes and backslashes before it are data.
func quotedLeniently(b []byte, p int) (int, bool) {
	for i := p + 1; i < len(b); i++ {
		if b[i] == '"' && continues(b, i+1) {
			return i + 1, true
		}
		if i-p > maxLenient || b[i] == '{' && bytes.HasPrefix(b[blanks(b, i+1):], []byte(`"ph"`)) {
			return failBad, false // it has run into the next event
		}
	}
	return failMore, false
}

const maxLenient = 32 << 10

// continues says whether what follows a closing quote at p can follow one.
func continues(b []byte, p int) bool {
	p = blanks(b, p)
	if p >= len(b) {
		return false
	}
	switch b[p] {
	case '}', ']':
		q := blanks(b, p+1)
		return q < len(b) && (b[q] == ',' || b[q] == '}' || b[q] == ']')
	case ',':
		p = blanks(b, p+1)
		if p >= len(b) || b[p] != '"' {
			return false
		}
		n := bytes.IndexByte(b[p+1:min(len(b), p+64)], '"')
		if n < 0 {
			return false
		}
		_, top := topKeys[string(b[p+1:p+1+n])]
		_, arg := argKeys[string(b[p+1:p+1+n])]
		q := blanks(b, p+n+2)
		return (top || arg) && q < len(b) && b[q] == ':'
	}
	return false
}
