package cpython

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/proc"
)

// Limits of what is printed of a value.
const (
	maxLocals  = 256
	maxShown   = 80 // code points of a text
	maxDigits  = 64 // 30-bit digits of an int
	maxDims    = 16 // of an array
	maxPreview = 4  // items of a sequence
)

// Local is one variable of a frame with its value in a bounded, safe form: numbers and texts themselves, containers by
// their size, anything else by its type. The target's own code, such as __repr__, never runs.
type Local struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value string `json:"value"`
}

// Kinds of variables in co_localspluskinds.
const (
	kindHidden = 0x10
	kindCell   = 0x40
	kindFree   = 0x80
)

// Locals reads the variables of a frame of the last snapshot; frame counts from the innermost one. The program runs on
// meanwhile: values may be newer than the stack, and one that is freed just then reads as garbage of its type or as
// unreadable. Where another function's frame has taken the place, the error is ErrFrameGone.
func (r *Reader) Locals(thread uint64, frame int) ([]Local, error) {
	t := r.byAddr[thread]
	if t == nil || frame < 0 || frame >= len(t.prevA) {
		return nil, fmt.Errorf("locals of frame %d: %w", frame, ErrNotReady)
	}
	c := t.prev[frame].Code
	names, kinds, err := r.localNames(c)
	if err != nil {
		return nil, fmt.Errorf("locals of %s: %w", c.Function, err)
	}
	values, err := r.slots(c, t.prevA[frame], len(names))
	if err != nil {
		return nil, fmt.Errorf("locals of %s: %w", c.Function, err)
	}
	out := []Local{}
	for i, name := range names {
		v := values[i] &^ r.l.Frame.Tag
		if v == 0 || kinds != nil && kinds[i]&kindHidden != 0 {
			continue
		}
		out = append(out, r.describe(name, v))
	}
	// Objects are freed with their frame, and others made where they were.
	if !r.runs(t.prevA[frame], c) {
		return nil, fmt.Errorf("locals of %s: %w", c.Function, ErrFrameGone)
	}
	return out, nil
}

// runs says whether a frame of the code object is at an address.
func (r *Reader) runs(frame uint64, c *Code) bool {
	code, err := proc.U64(r.mem, frame+uint64(r.l.Frame.Code))
	return err == nil && code&^r.l.Frame.Tag == c.addr
}

// Within says whether a thread is still in the function that was innermost when its stack was read: what else is read of the
// thread, once it was stopped, belongs to that stack then. To an empty stack nothing belongs.
func (r *Reader) Within(s *ThreadSample) bool {
	t := r.byAddr[s.Addr]
	if t == nil || len(t.prevA) == 0 {
		return false
	}
	frame, err := proc.U64(r.mem, t.addr+uint64(r.l.Thread.Frame))
	if err == nil && frame != 0 && r.l.Thread.CFrame != none {
		frame, err = proc.U64(r.mem, frame+uint64(r.l.Thread.CFrame))
	}
	return err == nil && frame == t.prevA[0] && r.runs(frame, t.prev[0].Code)
}

// slots reads a frame's variables with the code that they belong to; again where they change meanwhile, a few times.
func (r *Reader) slots(c *Code, frame uint64, n int) (values []uint64, err error) {
	for range 4 {
		words, err := readWords(r.mem, frame, r.l.Frame.Locals/8+n)
		if err != nil {
			return nil, err
		}
		if i := r.l.Frame.Code / 8; i >= len(words) || words[i]&^r.l.Frame.Tag != c.addr {
			return nil, ErrFrameGone
		}
		before := values
		if values = words[r.l.Frame.Locals/8:]; slices.Equal(before, values) {
			break
		}
	}
	return values, nil
}

// localNames are the names of a frame's slots: one tuple from 3.11 on, three before.
func (r *Reader) localNames(c *Code) (names []string, kinds []byte, err error) {
	l := &r.l.Code
	at := []int{l.LocalNames}
	if l.CellVars != none {
		at = append(at, l.CellVars, l.FreeVars)
	}
	for _, field := range at {
		tuple, err := proc.U64(r.mem, c.addr+uint64(field))
		if err != nil {
			return nil, nil, err
		}
		items, err := readTuple(r.mem, &r.l.Object, tuple)
		if err != nil {
			return nil, nil, err
		}
		for _, it := range items {
			name, err := readText(r.mem, &r.l.Object, it)
			if err != nil {
				return nil, nil, err
			}
			if names = append(names, name); len(names) == maxLocals {
				return names, nil, nil
			}
		}
	}
	if l.LocalKinds != none {
		p, err := proc.U64(r.mem, c.addr+uint64(l.LocalKinds))
		if err != nil {
			return nil, nil, err
		}
		if kinds, err = readBytes(r.mem, &r.l.Object, p, maxItems); err != nil {
			return nil, nil, err
		}
		if len(kinds) < len(names) {
			kinds = nil
		}
	}
	return names, kinds, nil
}

func (r *Reader) describe(name string, v uint64) Local {
	typ, value := r.value(v, 1)
	return Local{name, typ, value}
}

// value gives type and text of an object; depth bounds how far containers are entered.
func (r *Reader) value(v uint64, depth int) (typ, text string) {
	o := &r.l.Object
	tp, err := proc.U64(r.mem, v+uint64(o.Type))
	if err != nil {
		return "?", "unreadable"
	}
	typ, err = typeName(r.mem, o, tp)
	if err != nil || !plausible(typ) {
		return "?", "unreadable"
	}
	text, err = r.valueText(typ, v, depth)
	if err != nil {
		return typ, "unreadable"
	}
	return typ, text
}

func plausible(name string) bool {
	for _, c := range name {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return name != ""
}

func (r *Reader) valueText(typ string, v uint64, depth int) (string, error) {
	o := &r.l.Object
	switch typ {
	case "NoneType":
		return "None", nil
	case "bool":
		n, err := r.integer(v)
		if err != nil {
			return "", err
		}
		return map[bool]string{true: "True", false: "False"}[n.Sign() != 0], nil
	case "int":
		n, err := r.integer(v)
		if err != nil {
			return "", err
		}
		return n.String(), nil
	case "float":
		bits, err := proc.U64(r.mem, v+uint64(o.FloatValue))
		return strconv.FormatFloat(math.Float64frombits(bits), 'g', -1, 64), err
	case "str":
		return r.text(v)
	case "bytes", "bytearray":
		return r.sized(v, typ)
	case "list":
		return r.items(v, "[", "]", true, depth)
	case "tuple":
		return r.items(v, "(", ")", false, depth)
	case "dict", "collections.OrderedDict", "collections.defaultdict", "set", "frozenset":
		n, err := proc.U64(r.mem, v+uint64(o.DictUsed))
		if err == nil && typ == "set" || typ == "frozenset" {
			n, err = proc.U64(r.mem, v+uint64(o.Header)+8) // fill, used
		}
		return fmt.Sprintf("%s of %d", typ, n), err
	case "cell":
		inner, err := proc.U64(r.mem, v+uint64(o.Header))
		if err != nil || inner == 0 || depth < 0 {
			return "empty cell", err
		}
		it, text := r.value(inner, depth-1)
		return it + " " + text, nil
	case "numpy.ndarray":
		return r.array(v)
	}
	return "<" + typ + ">", nil
}

// text is a quoted text of limited length.
func (r *Reader) text(v uint64) (string, error) {
	s, err := readText(r.mem, &r.l.Object, v)
	if err != nil {
		n, e := proc.U64(r.mem, v+uint64(r.l.Object.UniLength))
		if e == nil && n > maxText && n < 1<<40 {
			return fmt.Sprintf("str of %d", n), nil
		}
		return "", err
	}
	if runes := []rune(s); len(runes) > maxShown {
		return strconv.Quote(string(runes[:maxShown])) + fmt.Sprintf("… (%d)", len(runes)), nil
	}
	return strconv.Quote(s), nil
}

func (r *Reader) sized(v uint64, what string) (string, error) {
	n, err := proc.U64(r.mem, v+uint64(r.l.Object.VarSize))
	return fmt.Sprintf("%s of %d", what, n), err
}

// items shows the first items of a list or tuple, and its length.
func (r *Reader) items(v uint64, open, end string, indirect bool, depth int) (string, error) {
	o := &r.l.Object
	n, err := proc.U64(r.mem, v+uint64(o.VarSize))
	if err != nil || n > 1<<40 {
		return "", errGarbage
	}
	if depth <= 0 {
		return fmt.Sprintf("%s…%s of %d", open, end, n), nil
	}
	at := v + uint64(o.TupleItems)
	if indirect {
		if at, err = proc.U64(r.mem, v+uint64(o.ListItems)); err != nil {
			return "", err
		}
	}
	words, err := readWords(r.mem, at, int(min(n, maxPreview)))
	if err != nil {
		return "", err
	}
	parts := make([]string, 0, len(words)+1)
	for _, w := range words {
		_, text := r.value(w, depth-1)
		parts = append(parts, text)
	}
	if n > maxPreview {
		return open + strings.Join(append(parts, "…"), ", ") + end + fmt.Sprintf(" of %d", n), nil
	}
	return open + strings.Join(parts, ", ") + end, nil
}

// integer reads an int: sign and 30-bit digits, whose number and sign stand in ob_size before 3.12 and in a tag since.
func (r *Reader) integer(v uint64) (*big.Int, error) {
	o := &r.l.Object
	word, err := proc.U64(r.mem, v+uint64(o.LongTag))
	if err != nil {
		return nil, err
	}
	n, negative := int64(word), false
	if r.l.Forms.LongTagged {
		n, negative = int64(word>>3), word&3 == 2
	} else if n < 0 {
		n, negative = -n, true
	}
	if n < 0 || n > maxDigits {
		return nil, errGarbage
	}
	raw := make([]byte, 4*n)
	if err := r.mem.Read(v+uint64(o.LongDigits), raw); err != nil {
		return nil, err
	}
	out := new(big.Int)
	for i := int(n) - 1; i >= 0; i-- {
		out.Lsh(out, 30)
		out.Or(out, big.NewInt(int64(binary.LittleEndian.Uint32(raw[4*i:])&(1<<30-1))))
	}
	if negative {
		out.Neg(out)
	}
	return out, nil
}

// array reads the shape of a numpy array: data, number of dimensions and their lengths follow the object's header.
func (r *Reader) array(v uint64) (string, error) {
	base := v + uint64(r.l.Object.Header)
	nd, err := proc.U32(r.mem, base+8)
	if err != nil || nd > maxDims {
		return "<numpy.ndarray>", err
	}
	p, err := proc.U64(r.mem, base+16)
	if err != nil {
		return "", err
	}
	dims, err := readWords(r.mem, p, int(nd))
	if err != nil {
		return "", err
	}
	parts := make([]string, len(dims))
	for i, d := range dims {
		parts[i] = strconv.FormatUint(d, 10)
	}
	return "array of shape (" + strings.Join(parts, ", ") + ")", nil
}
