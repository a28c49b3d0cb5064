package arguments

import (
	"fmt"
	"testing"
)

func TestMatrixWork(t *testing.T) {
	for _, c := range []struct {
		name, shapes, concrete string
		types                  []string
		flops, bytes           int64
	}{
		{"aten::mm", "[[2, 3], [3, 5]]", "", []string{"float"}, 60, 4 * (6 + 15 + 10)},
		{"aten::bmm", "[[7, 2, 3], [7, 3, 5]]", "", []string{"c10::Half"}, 420, 2 * 7 * (6 + 15 + 10)},
		{"aten::matmul", "[[4, 7, 2, 3], [3, 5]]", "", []string{"float"}, 28 * 60, 4 * (28*6 + 15 + 28*10)},
		{"aten::addmm", "[[5], [2, 3], [3, 5], [], []]", "", []string{"c10::BFloat16"}, 60, 2 * (6 + 15 + 10)},
		{"aten::linear", "[[4, 2, 3], [5, 3], [5]]", "", []string{"float"}, 240, 4 * (24 + 15 + 40)},
		{"aten::conv2d", "[[1, 3, 8, 8], [6, 3, 3, 3], [], [], [], [], []]", `["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "1"]`,
			[]string{"float"}, 2 * 6 * 64 * 27, 4 * (192 + 162 + 384)},
		{"aten::cudnn_convolution", "[[1, 3, 8], [6, 3, 3], [], [], [], [], []]", `["", "", "[0]", "[2]", "[1]", "1", "False"]`,
			[]string{"float"}, 2 * 6 * 3 * 9, 4 * (24 + 54 + 18)},
		{"aten::convolution_backward", "[[1, 6, 8, 8], [1, 3, 8, 8], [6, 3, 3, 3]]",
			`["", "", "", "[0]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", "[False, True, False]"]`, []string{"float"},
			2 * 384 * 27, 4 * (384 + 192 + 162)},
		{"aten::_flash_attention_forward", "[[2, 10, 4, 8], [2, 20, 4, 8], [2, 20, 4, 8]]",
			`["", "", "", "", "", "10", "20", "0.", "True"]`, []string{"c10::Half"}, 2 * 2 * 4 * 10 * 20 * 8, 2 * 2 * 4 * 8 * 2 * 30},
		{"aten::_scaled_dot_product_efficient_attention", "[[2, 4, 10, 8], [2, 4, 20, 8], [2, 4, 20, 8]]", "", []string{"c10::Half"},
			4 * 2 * 4 * 10 * 20 * 8, 2 * 2 * 4 * 8 * 2 * 30},
		{"aten::relu", "[[2, 3]]", "", []string{"float"}, 0, 0},
		{"aten::mm", "", "", nil, 0, 0},
		{"aten::mm", "[[2, 3], [3", "", nil, 0, 0},
	} {
		flops, bytes, _ := MatrixWork(c.name, c.shapes, c.concrete, c.types)
		if flops != c.flops || bytes != c.bytes {
			t.Errorf("%s %s: %d flops, %d bytes; want %d, %d", c.name, c.shapes, flops, bytes, c.flops, c.bytes)
		}
		if torch := Flops(c.name, c.shapes, c.concrete); torch != 0 && torch != flops {
			t.Errorf("%s: torch counts %d, we %d", c.name, torch, flops)
		}
	}
}

func TestListShapes(t *testing.T) {
	for text, want := range map[string]string{
		"[[[2, 3], [1, 3]], []]":   "[[2 3] [1 3]]",
		"[ [[2], []], [4] ]":       "[[2] []]",
		"[[2, 3], [[1, 3], [4]]]":  "[]",
		"[[], []]":                 "[]",
		"":                         "[]",
		"[[[2, 3], [1":             "[]",
		"[[[2, 3], [x]], []]":      "[[2 3]]",
		"[[[9999999999999999999]]": "[]",
	} {
		if got := fmt.Sprint(ListShapes(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
