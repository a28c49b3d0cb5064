package wording

import (
	"fmt"
	"strings"

	"bottleneck/internal/units"
)

// Text is a sentence or a part of one: an id in the tables of this package, and the facts that fill it. The zero value says nothing.
type Text struct {
	ID    string
	Facts []Fact // the first number among them is what the text is about
}

// Fact is one number or name of a text.
type Fact struct {
	ID    string
	Value float64 // in Unit; 0 for names
	Unit  Unit
	Name  string // Unit Name: the text itself
	Of    *Text  // Unit Part: a text inside of the text
}

// Unit says what a fact's value is, and so how it is written.
type Unit string

// Units of facts.
const (
	Nanoseconds Unit = "ns"      // written in the unit that reads best
	Ratio       Unit = "ratio"   // 0..1, written in percent
	Bytes       Unit = "bytes"   // written with binary prefixes
	Counted     Unit = "count"   // a whole number
	Number      Unit = "number"  // any other, written with three digits
	Ordinal     Unit = "ordinal" // written as 1st, 2nd, …
	Name        Unit = "name"
	Part        Unit = "text"
)

// Say is a text with its facts.
func Say(id string, facts ...Fact) Text { return Text{ID: id, Facts: facts} }

// Time is a fact in nanoseconds.
func Time(id string, ns float64) Fact { return Fact{ID: id, Value: ns, Unit: Nanoseconds} }

// Share is a fact between 0 and 1.
func Share(id string, share float64) Fact { return Fact{ID: id, Value: share, Unit: Ratio} }

// Size is a fact in bytes.
func Size(id string, bytes float64) Fact { return Fact{ID: id, Value: bytes, Unit: Bytes} }

// Count is a whole number.
func Count[N int | int32 | int64 | float64](id string, n N) Fact {
	return Fact{ID: id, Value: float64(n), Unit: Counted}
}

// Value is a number without a unit, such as cores or batches on average.
func Value(id string, v float64) Fact { return Fact{ID: id, Value: v, Unit: Number} }

// Nth is a fact that is written as an ordinal number.
func Nth(id string, n int) Fact { return Fact{ID: id, Value: float64(n), Unit: Ordinal} }

// Named is a name, a place or code, written as it is.
func Named(id, name string) Fact { return Fact{ID: id, Name: name, Unit: Name} }

// With is a text inside of another.
func With(id string, t Text) Fact { return Fact{ID: id, Unit: Part, Of: &t} }

// String writes the text. An id that no table has, or a place without its fact, stays visible.
func (t Text) String() string {
	template, ok := all[t.ID]
	if !ok {
		return t.ID
	}
	return t.fill(template)
}

func (t Text) fill(template string) string {
	var b strings.Builder
	for {
		begin := strings.IndexByte(template, '{')
		end := strings.IndexByte(template, '}')
		if begin < 0 || end < begin {
			b.WriteString(template)
			return b.String()
		}
		b.WriteString(template[:begin])
		id, noun, counts := strings.Cut(template[begin+1:end], " ")
		switch f := t.fact(id); {
		case id == "each":
			b.WriteString(each(t.fact("unit")))
		case f == nil:
			b.WriteString(template[begin : end+1])
		case counts:
			b.WriteString(f.String() + " " + inNumber(noun, f.Value))
		default:
			b.WriteString(f.String())
		}
		template = template[end+1:]
	}
}

func (t Text) fact(id string) *Fact {
	for i := range t.Facts {
		if t.Facts[i].ID == id {
			return &t.Facts[i]
		}
	}
	return nil
}

// each is the unit of an account as a sentence says it: "each step", "the run".
func each(unit *Fact) string {
	if unit != nil && unit.Name == "run" {
		return "the run"
	} else if unit != nil && unit.Name != "" {
		return "each " + unit.Name
	}
	return "{each}"
}

func inNumber(noun string, n float64) string {
	one, many, ok := strings.Cut(noun, "|")
	if !ok {
		many = one + "s"
	}
	if n == 1 {
		return one
	}
	return many
}

// String writes the value in its unit.
func (f *Fact) String() string {
	switch f.Unit {
	case Nanoseconds:
		return units.Milliseconds(f.Value / 1e6)
	case Ratio:
		return units.Percent(f.Value)
	case Bytes:
		return units.Bytes(f.Value)
	case Counted:
		return units.Count(int64(f.Value))
	case Number:
		return units.Number(f.Value)
	case Ordinal:
		return ordinal(int(f.Value))
	case Part:
		return f.Of.String()
	}
	return f.Name
}

func ordinal(n int) string {
	end := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, end)
}

// Main is the number that the text is about: its first fact that is one; nil where it has none.
func (t Text) Main() *Fact {
	for i := range t.Facts {
		switch f := &t.Facts[i]; f.Unit {
		case Name:
		case Part:
			if in := f.Of.Main(); in != nil {
				return in
			}
		default:
			return f
		}
	}
	return nil
}

// None says that there is no text.
func (t Text) None() bool { return t.ID == "" }

// Sentences joins texts, each of which is a sentence or more.
func Sentences(texts []Text) string { return join(texts, " ") }

// Parts joins texts that are parts of a sentence.
func Parts(texts []Text) string { return join(texts, "; ") }

func join(texts []Text, between string) string {
	out := make([]string, 0, len(texts))
	for _, t := range texts {
		if s := strings.TrimSpace(t.String()); s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, between)
}
