package ingest

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/kineto"
	"bottleneck/internal/model"
)

// textMap carries a scanner's texts over into the session's strings, each at most once.
type textMap struct {
	scan    *kineto.Scanner
	strings *model.Strings
	names   []model.Str // by text; 0 not carried over yet
	json    []model.Str
}

func newTextMap(scan *kineto.Scanner, strings *model.Strings) *textMap {
	return &textMap{scan, strings, make([]model.Str, scan.Names.Len()), make([]model.Str, scan.JSON.Len())}
}

func (m *textMap) name(id kineto.Text) model.Str {
	if id == 0 {
		return 0
	}
	if m.names[id] == 0 {
		m.names[id] = m.strings.Intern(strings.ToValidUTF8(m.scan.Names.String(id), "\uFFFD"))
	}
	return m.names[id]
}

// raw carries over a JSON value. However a tool laid it out, equal values get equal texts.
func (m *textMap) raw(id kineto.Text) model.Str {
	if id == 0 {
		return 0
	}
	if m.json[id] == 0 {
		m.json[id] = m.strings.Intern(strings.ToValidUTF8(oneLine(m.scan.JSON.String(id)), "\uFFFD"))
	}
	return m.json[id]
}

func (m *textMap) id(id kineto.ID) model.Str {
	switch {
	case !id.Set:
		return 0
	case id.Text != 0:
		return m.name(id.Text)
	}
	return m.strings.Intern(strconv.FormatInt(id.Num, 10))
}

// oneLine writes a JSON value as Kineto does: no line breaks, one blank after each comma and colon.
func oneLine(text string) string {
	if isOneLine(text) {
		return text
	}
	out := make([]byte, 0, len(text))
	inString := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inString:
			out = append(out, c)
			if c == '\\' && i+1 < len(text) {
				i++
				out = append(out, text[i])
			}
			inString = c != '"'
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
		case c == ',' || c == ':':
			out = append(out, c, ' ')
		default:
			inString = c == '"'
			out = append(out, c)
		}
	}
	return string(out)
}

// isOneLine says whether a text has no line breaks or tabs, and no comma right before a bracket or quote.
func isOneLine(text string) bool {
	var before byte
	for i := range len(text) {
		c := text[i]
		if c < ' ' && (c == '\n' || c == '\r' || c == '\t') || before == ',' && (c == '[' || c == '"') {
			return false
		}
		before = c
	}
	return true
}

// skips counts events that were left out or are odd, by reason.
type skips map[string]*skip

type skip struct {
	count int64
	first int64
}

func (s skips) add(kind string, offset int64) {
	if k := s[kind]; k != nil {
		k.count++
		return
	}
	s[kind] = &skip{1, offset}
}

// skipTexts say what each reason means.
var skipTexts = map[string]string{
	"no-phase":          "objects without a phase among the events; left out",
	"no-time":           "events without a readable time stamp; left out",
	"no-duration":       "complete events without a readable duration; taken as 0",
	"negative-duration": "events that end before they begin; left out",
	"absurd-duration":   "events longer than a month; left out",
	"absurd-time":       "events outside of any calendar; left out",
	"no-device-time":    "device rows with time 0 and duration 0, which the collector lost; left out",
	"end-without-begin": "E events without their B event; left out",
	"begin-without-end": "B events without their E event; left out",
	"nested-too-deep":   "B events nested deeper than 10,000; left out",
	"duplicate":         "rows that repeat another one exactly; left out",
	"before-launch":     "device rows that begin before the call that launched them: the device's clock is off by at least as much",
	"before-launch-far": "device rows that begin more than a millisecond before their launch; not linked to it",
	"stream-overlap":    "device rows that overlap another one on the same stream; busy times are unions",
	"outlasts-window":   "rows that last longer than the recording",
	"too-many-lanes":    "rows of threads beyond the first million; put on one lane",
	"extra-dropped":     "arguments too large to keep",
	"duplicate-rank":    "files that state the same rank as another one",
}

// diagnostics lists damage of the text first, then what was wrong with events, each most frequent first.
func (b *builder) diagnostics() []model.Diagnostic {
	var out []model.Diagnostic
	for kind, d := range b.scan.Damage {
		if d.Count > 0 {
			k := kineto.DamageKind(kind)
			out = append(out, model.Diagnostic{Kind: k.String(), Count: d.Count, FirstOffset: d.First, Text: k.Describe(d)})
		}
	}
	if n := b.lanes.over; n > 0 {
		b.skipped["too-many-lanes"] = &skip{n, -1}
	}
	if n := b.extras.dropped; n > 0 {
		b.skipped["extra-dropped"] = &skip{n, -1}
	}
	from := len(out)
	for kind, s := range b.skipped {
		out = append(out, model.Diagnostic{Kind: kind, Count: s.count, FirstOffset: s.first, Text: skipTexts[kind]})
	}
	slices.SortFunc(out[from:], func(a, b model.Diagnostic) int {
		if a.Count != b.Count {
			return int(b.Count - a.Count)
		}
		return strings.Compare(a.Kind, b.Kind)
	})
	return out
}

// counter keeps the values of a C event.
func (b *builder) counter(e *kineto.Event) {
	if !e.HasTS() || b.opt.Skip&SkipCounters != 0 {
		return
	}
	b.values(e, e.PID, &b.counters)
}

// values adds an event's arguments that are numbers.
func (b *builder) values(e *kineto.Event, pid kineto.ID, to *rows[rawCounter]) {
	for _, extra := range e.Extra {
		var v float64
		if json.Unmarshal(extra.Raw, &v) == nil {
			to.add(rawCounter{e.TS, e.Name, extra.Key, pid, v})
		}
	}
}

// lower is strings.ToLower for the short words of the format.
func lower(s string) string { return strings.ToLower(s) }
