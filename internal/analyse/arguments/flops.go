package arguments

import (
	"strconv"
	"strings"
)

// Flops is torch.profiler's count of floating-point operations (torch/csrc/profiler/util.cpp) for an operator,
// given its "Input Dims" and "Concrete Inputs" as raw JSON; 0 for operators that torch does not count and where the
// arguments are missing. One multiply-add is two operations.
func Flops(name, shapes, concrete string) int64 {
	if first, rank, ok := Factors(name); ok {
		return matrixFlops(shapes, first, first+1, rank)
	}
	switch name {
	case "aten::mul", "aten::add":
		return elementCount(shapes)
	case "aten::conv2d":
		return conv2dFlops(shapes, concrete)
	}
	return 0
}

// Factors says which input of an operator that computes a product of matrices is the first of the two, which follow one another, and how
// many dimensions they have; ok is false of other operators, also of those that call one.
func Factors(name string) (first, rank int, ok bool) {
	switch name {
	case "aten::mm":
		return 0, 2, true
	case "aten::addmm":
		return 1, 2, true
	case "aten::bmm":
		return 0, 3, true
	case "aten::baddbmm":
		return 1, 3, true
	}
	return 0, 0, false
}

// matrixFlops is 2·M·K·N, times the batch for three dimensions; a and b are the positions of the matrices.
func matrixFlops(shapes string, a, b, rank int) int64 {
	dims := Shapes(shapes)
	if b >= len(dims) || len(dims[a]) != rank || len(dims[b]) != rank {
		return 0
	}
	left, right := dims[a], dims[b]
	return 2 * Product(left) * right[rank-1]
}

func elementCount(shapes string) int64 {
	dims := Shapes(shapes)
	if len(dims) == 0 {
		return 0
	}
	return Product(dims[0])
}

// conv2dFlops is 2·N·Hout·Wout·kh·kw·Cin·Cout/groups; concrete inputs 3 to 6 are stride, padding, dilation, groups.
func conv2dFlops(shapes, concrete string) int64 {
	dims, values := Shapes(shapes), Texts(concrete)
	if len(dims) < 2 || len(dims[0]) != 4 || len(dims[1]) != 4 || len(values) < 7 {
		return 0
	}
	stride, padding, dilation := parsePair(values[3]), parsePair(values[4]), parsePair(values[5])
	groups, err := strconv.ParseInt(values[6], 10, 64)
	if err != nil || groups <= 0 || stride == nil || padding == nil || dilation == nil || stride[0] == 0 || stride[1] == 0 {
		return 0
	}
	in, weight := dims[0], dims[1]
	out := func(i int) int64 {
		return (in[2+i]+2*padding[i]-dilation[i]*(weight[2+i]-1)-1)/stride[i] + 1
	}
	return 2 * in[0] * out(0) * out(1) * weight[2] * weight[3] * in[1] * weight[0] / groups
}

// Product of dimensions; 1 of none.
func Product(dims []int64) int64 {
	p := int64(1)
	for _, d := range dims {
		p *= d
	}
	return p
}

// Shapes reads "[[2, 3], [], [[4], [5]]]" as the dimensions of each input; a list of tensors gives nil. Text that
// is not such a list gives what came before the first fault.
func Shapes(text string) [][]int64 {
	text = strings.TrimSpace(text)
	if len(text) < 2 || text[0] != '[' {
		return nil
	}
	var out [][]int64
	for rest := text[1:]; ; {
		open := strings.IndexByte(rest, '[')
		if open < 0 {
			return out
		}
		rest = rest[open+1:]
		if nested := strings.TrimLeft(rest, " "); nested != "" && nested[0] == '[' {
			end := strings.Index(rest, "]]")
			if end < 0 {
				return out
			}
			out, rest = append(out, nil), rest[end+2:]
			continue
		}
		end := strings.IndexByte(rest, ']')
		if end < 0 {
			return out
		}
		dims, ok := ints(rest[:end])
		if !ok {
			return out
		}
		out, rest = append(out, dims), rest[end+1:]
	}
}

// ListShapes reads "[[[2, 3], [1, 3]], []]" as the dimensions of the tensors in the list that is the first input; nil where that is none.
func ListShapes(text string) [][]int64 {
	text = strings.TrimSpace(text)
	inner, ok := strings.CutPrefix(text, "[")
	inner = strings.TrimLeft(inner, " ")
	if !ok || !strings.HasPrefix(inner, "[[") && !strings.HasPrefix(inner, "[ [") {
		return nil
	}
	end := strings.Index(inner, "]]")
	if end < 0 {
		return nil
	}
	return Shapes(inner[:end+2])
}

// ints reads "2, 3".
func ints(text string) ([]int64, bool) {
	var out []int64
	for text = strings.TrimSpace(text); text != ""; {
		field, rest, _ := strings.Cut(text, ",")
		v, err := strconv.ParseInt(strings.TrimSpace(field), 10, 64)
		if err != nil {
			return nil, false
		}
		out, text = append(out, v), strings.TrimSpace(rest)
	}
	return out, true
}

// Texts reads a JSON list of strings without escapes, the form of "Concrete Inputs" and "Input type".
func Texts(text string) []string {
	var out []string
	for {
		open := strings.IndexByte(text, '"')
		if open < 0 {
			return out
		}
		end := strings.IndexByte(text[open+1:], '"')
		if end < 0 {
			return out
		}
		out, text = append(out, text[open+1:open+1+end]), text[open+end+2:]
	}
}

// parsePair reads "[1, 1]", or "[1]" for the same value twice; nil for anything else.
func parsePair(text string) []int64 {
	if len(text) < 2 || text[0] != '[' || text[len(text)-1] != ']' {
		return nil
	}
	v, ok := ints(text[1 : len(text)-1])
	switch {
	case !ok:
		return nil
	case len(v) == 1:
		return []int64{v[0], v[0]}
	case len(v) == 2:
		return v
	}
	return nil
}

// FlatShapes replaces each list of lists inside a list of shapes by an empty list: "[[[2], [3]], [4]]" is "[[], [4]]".
func FlatShapes(text string) string {
	if !strings.Contains(text, "[[[") && !strings.Contains(text, " [[") && !strings.Contains(text, ",[[") {
		return text
	}
	out := make([]byte, 0, len(text))
	depth, cut := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '[':
			depth++
			if depth == 3 && cut == 0 {
				cut = len(out)
			}
		case ']':
			if depth--; depth == 1 && cut > 0 {
				out, cut = out[:cut], 0
			}
		}
		out = append(out, text[i])
	}
	return string(out)
}
