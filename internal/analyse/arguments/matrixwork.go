package arguments

import (
	"strconv"
	"strings"
)

// MatrixWork counts the floating-point operations of an operator that launches kernels itself, its least memory traffic in
// bytes, and names the formula: matrix products, convolutions of any dimension and their backward, attention forward and
// backward. shapes and concrete are raw JSON, types the names of the element types. 0 flops: not such an operator, or its
// arguments are not in the trace. Where torch counts the same operator (Flops) both agree.
func MatrixWork(name, shapes, concrete string, types []string) (flops, bytes int64, formula string) {
	base := name[strings.LastIndexByte(name, ':')+1:]
	dims := Shapes(shapes)
	width := int64(0)
	for _, t := range types {
		if _, width = ElementType(t); width > 0 {
			break
		}
	}
	switch base {
	case "mm", "bmm", "_scaled_mm", "matmul", "_int_mm", "mv", "dot":
		return productWork(dims, 0, 1, width)
	case "addmm", "baddbmm", "addbmm", "addmv", "_addmm_activation":
		return productWork(dims, 1, 2, width)
	case "linear", "gemm_a16w16", "rocm_unquantized_gemm", "mkldnn_linear":
		return linearWork(dims, width)
	case "_grouped_mm", "_scaled_grouped_mm":
		return groupedWork(dims, width)
	case "cudnn_convolution", "convolution", "_convolution", "conv1d", "conv2d", "conv3d", "miopen_convolution", "mkldnn_convolution",
		"miopen_depthwise_convolution", "_slow_conv2d_forward", "_conv_depthwise2d", "convolution_overrideable", "thnn_conv2d",
		"conv_depthwise3d", "slow_conv3d_forward", "cudnn_convolution_relu":
		return convolutionWork(base, dims, Texts(concrete), width)
	case "cudnn_convolution_transpose", "miopen_convolution_transpose", "conv_transpose2d", "conv_transpose1d", "conv_transpose3d":
		return transposedWork(dims, width)
	case "convolution_backward":
		return convolutionBackwardWork(dims, Texts(concrete), width)
	}
	if strings.Contains(base, "attention") {
		return attentionWork(base, dims, Texts(concrete), width)
	}
	return 0, 0, ""
}

// productWork is 2·(batch·)M·K·N for operands of any rank: the last dimension of a meets the last but one of b.
func productWork(dims [][]int64, a, b int, width int64) (int64, int64, string) {
	if b >= len(dims) || len(dims[a]) == 0 || len(dims[b]) == 0 {
		return 0, 0, ""
	}
	left, right := dims[a], dims[b]
	n := int64(1)
	batch := int64(1)
	if len(right) > 1 {
		n = right[len(right)-1]
		for i := range len(right) - 2 { // batch dimensions that the left side lacks
			if at := len(left) - len(right) + i; at < 0 || left[at] == 1 {
				batch *= right[i]
			}
		}
	}
	k := left[len(left)-1]
	out := batch * n
	if k > 0 {
		out *= Product(left) / k
	}
	return 2 * k * out, width * (Product(left) + Product(right) + out), "2·M·N·K"
}

// linearWork is a product with a weight stored as [N, K].
func linearWork(dims [][]int64, width int64) (int64, int64, string) {
	if len(dims) < 2 || len(dims[0]) == 0 || len(dims[1]) != 2 || dims[0][len(dims[0])-1] != dims[1][1] || dims[1][1] == 0 {
		return 0, 0, ""
	}
	rows := Product(dims[0]) / dims[1][1]
	return 2 * rows * Product(dims[1]), width * (Product(dims[0]) + Product(dims[1]) + rows*dims[1][0]), "2·M·N·K"
}

// groupedWork multiplies each row of [M, K] by one of the matrices [G, K, N].
func groupedWork(dims [][]int64, width int64) (int64, int64, string) {
	if len(dims) < 2 || len(dims[0]) != 2 || len(dims[1]) != 3 {
		return 0, 0, ""
	}
	n := dims[1][2]
	return 2 * Product(dims[0]) * n, width * (Product(dims[0]) + Product(dims[1]) + dims[0][0]*n), "2·M·N·K, each row by one group's matrix"
}

// convolutionWork is 2·|output|·(Cin/groups)·|kernel|. Operators differ in where padding and stride stand.
func convolutionWork(base string, dims [][]int64, values []string, width int64) (int64, int64, string) {
	if len(dims) < 2 || len(dims[0]) < 3 || len(dims[0]) != len(dims[1]) {
		return 0, 0, ""
	}
	stride, padding, dilation := 3, 4, 5
	switch base {
	case "cudnn_convolution":
		padding, stride, dilation = 2, 3, 4
	case "cudnn_convolution_relu":
		stride, padding, dilation = 3, 4, 5
	case "miopen_convolution", "miopen_depthwise_convolution", "mkldnn_convolution":
		padding, stride, dilation = 3, 4, 5
	case "_slow_conv2d_forward", "thnn_conv2d":
		stride, padding, dilation = 4, 5, -1
	case "_conv_depthwise2d", "conv_depthwise3d":
		stride, padding, dilation = 4, 5, 6
	}
	in, weight := dims[0], dims[1]
	out := in[0] * weight[0]
	for i := range len(in) - 2 {
		s, p, d := valueAt(values, stride, i, 0), valueAt(values, padding, i, -1), int64(1)
		if dilation >= 0 {
			d = valueAt(values, dilation, i, 1)
		}
		if s <= 0 || p < 0 {
			return 0, 0, ""
		}
		out *= (in[2+i]+2*p-d*(weight[2+i]-1)-1)/s + 1
	}
	return 2 * out * Product(weight[1:]), width * (Product(in) + Product(weight) + out), "2·|out|·Cin/groups·|kernel|"
}

// transposedWork is 2·|input|·(Cout/groups)·|kernel|.
func transposedWork(dims [][]int64, width int64) (int64, int64, string) {
	if len(dims) < 2 || len(dims[0]) < 3 || len(dims[0]) != len(dims[1]) {
		return 0, 0, ""
	}
	return 2 * Product(dims[0]) * Product(dims[1][1:]), width * (Product(dims[0]) + Product(dims[1])), "2·|in|·Cout/groups·|kernel|"
}

// convolutionBackwardWork is the forward's count for each of the two gradients that the output mask asks for.
func convolutionBackwardWork(dims [][]int64, values []string, width int64) (int64, int64, string) {
	if len(dims) < 3 || len(dims[0]) < 3 || len(dims[2]) < 3 {
		return 0, 0, ""
	}
	gradients := int64(0)
	for _, asked := range ConvolutionGradients(values) {
		if asked {
			gradients++
		}
	}
	return 2 * gradients * Product(dims[0]) * Product(dims[2][1:]),
		width * (gradients*Product(dims[0]) + Product(dims[1]) + Product(dims[2])), "2·|grad out|·Cin/groups·|kernel| per gradient"
}

// ConvolutionGradients says of aten::convolution_backward, by its concrete arguments, whether the input's gradient and the weight's are
// asked for: both where the arguments were not recorded.
func ConvolutionGradients(values []string) [2]bool {
	if len(values) <= 10 {
		return [2]bool{true, true}
	}
	var asked [2]bool
	for i, want := range strings.Split(strings.Trim(values[10], "[]"), ",") {
		if i < len(asked) {
			asked[i] = strings.TrimSpace(want) == "True"
		}
	}
	return asked
}

// attentionWork is 4·B·H·Nq·Nk·d forward and 2.5 times that backward (flash recomputes), half of it where causal.
func attentionWork(base string, dims [][]int64, values []string, width int64) (int64, int64, string) {
	backward := strings.Contains(base, "backward")
	q := 0
	if backward {
		q = 1 // the gradient of the output comes first
	}
	if len(dims) < q+3 || len(dims[q]) != 4 || len(dims[q+1]) != 4 {
		return 0, 0, ""
	}
	query, key := dims[q], dims[q+1]
	heads, rows, keys := query[1], query[2], key[2]
	if base == "_flash_attention_forward" || base == "_flash_attention_backward" || base == "_efficient_attention_forward" ||
		base == "_efficient_attention_backward" {
		rows, heads, keys = query[1], query[2], key[1]
	}
	flops := 4 * query[0] * heads * rows * keys * query[3]
	bytes := width * query[0] * heads * query[3] * 2 * (rows + keys)
	formula := "4·B·H·Nq·Nk·d"
	if at, ok := causalAt[base]; ok && at < len(values) && values[at] == "True" {
		flops /= 2
		formula = "2·B·H·Nq·Nk·d (causal)"
	}
	if backward {
		flops, bytes, formula = flops*5/2, bytes*2, "2.5 · "+formula
	}
	return flops, bytes, formula
}

// causalAt is the place of the causal flag among an attention operator's arguments.
var causalAt = map[string]int{
	"_scaled_dot_product_flash_attention": 4, "_flash_attention_forward": 8, "_scaled_dot_product_efficient_attention": 6,
	"_scaled_dot_product_cudnn_attention": 6, "scaled_dot_product_attention": 5, "_scaled_dot_product_flash_attention_backward": 11,
	"_flash_attention_backward": 11, "_scaled_dot_product_efficient_attention_backward": 11,
}

// valueAt is number i of a concrete list "[1, 1]"; one number stands for all.
func valueAt(values []string, at, i int, missing int64) int64 {
	if at < 0 || at >= len(values) {
		return missing
	}
	text := values[at]
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		return v
	}
	list, ok := ints(strings.Trim(text, "[]"))
	switch {
	case !ok || len(list) == 0:
		return missing
	case i < len(list):
		return list[i]
	}
	return list[0]
}
