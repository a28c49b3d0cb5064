package ingest

import (
	"strconv"
	"strings"
)

// nvtxRange is what the text of an NVTX range tells. torch.autograd.profiler.emit_nvtx writes an operator's name, its sequence
// number, its own number and its inputs' sizes into it (pytorch/pytorch, torch/csrc/profiler/util.cpp).
type nvtxRange struct {
	name     string
	operator bool
	sequence int64  // -1 none
	sizes    string // raw JSON, "" none
}

var nvtxKeys = []string{", seq = ", ", seq=", ", stashed seq=", ", op_id = ", ", sizes = ", ", input_op_ids = "}

func parseNVTX(text string) nvtxRange {
	r := nvtxRange{name: text, sequence: -1}
	end := len(text)
	for i, key := range nvtxKeys {
		at := strings.Index(text, key)
		if at < 0 {
			continue
		}
		r.operator = true
		end = min(end, at)
		value := text[at+len(key):]
		switch {
		case i < 3:
			digits := len(value) - len(strings.TrimLeft(value, "0123456789"))
			if n, err := strconv.ParseInt(value[:digits], 10, 64); err == nil {
				r.sequence = n
			}
		case key == ", sizes = ":
			r.sizes = balanced(value)
		}
	}
	r.name = text[:end]
	r.operator = r.operator || strings.HasPrefix(text, "aten::") || strings.HasPrefix(text, "autograd::engine::evaluate_function: ")
	return r
}

// balanced is a text's beginning up to the bracket that closes its first, "" where it does not begin with one or none closes it.
func balanced(text string) string {
	depth := 0
	for i, c := range []byte(text) {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case !strings.ContainsRune("0123456789, ", rune(c)):
			return ""
		}
		if depth == 0 {
			if i == 0 {
				return ""
			}
			return text[:i+1]
		}
	}
	return ""
}
