package arguments

import "strings"

// Precision is a number format that devices have a rate for.
type Precision uint8

// Number formats.
const (
	FP64 Precision = iota
	FP32
	TF32
	FP16 // and bfloat16
	FP8
	INT8
	NumPrecisions
)

var precisionNames = [NumPrecisions]string{"fp64", "fp32", "tf32", "fp16/bf16", "fp8", "int8"}

func (p Precision) String() string { return precisionNames[min(p, NumPrecisions-1)] }

// PrecisionOf is the format of an operator's first tensor.
func PrecisionOf(types []string, tf32 bool) Precision {
	for _, name := range types {
		switch p, bytes := ElementType(name); {
		case bytes == 0:
		case p == FP32 && tf32:
			return TF32
		default:
			return p
		}
	}
	return FP32
}

// ElementType is the format and size of an element as "Input type" names it; 0 bytes for what is no tensor.
func ElementType(name string) (Precision, int64) {
	name = strings.ToLower(strings.TrimPrefix(name, "c10::"))
	switch {
	case name == "double":
		return FP64, 8
	case name == "float":
		return FP32, 4
	case name == "half", name == "bfloat16":
		return FP16, 2
	case strings.HasPrefix(name, "float8"):
		return FP8, 1
	case name == "signed char", name == "unsigned char":
		return INT8, 1
	}
	return FP32, 0
}
