package naming

import (
	"strings"

	"bottleneck/internal/model"
)

// KernelClass is what a piece of device work is for, as far as its name tells.
type KernelClass uint8

// Classes of device work. Compute is every class that is neither a collective nor a copy.
const (
	ClassOther KernelClass = iota
	ClassMatmul
	ClassConvolution
	ClassAttention
	ClassNormalisation
	ClassElementwise
	ClassReduction
	ClassIndexing
	ClassLayout
	ClassOptimizer
	ClassCommunication
	ClassMemcpy
	ClassMemset
	numClasses
)

var classNames = [numClasses]string{"other", "matmul", "convolution", "attention", "normalisation", "element-wise", "reduction", "indexing",
	"layout", "optimizer", "communication", "memcpy", "memset"}

func (c KernelClass) String() string { return classNames[min(c, numClasses-1)] }

// Compute says whether the class is the program's own arithmetic.
func (c KernelClass) Compute() bool { return c < ClassCommunication }

// classWords are tried in order; the first word found in the lower-case name decides.
var classWords = []struct {
	class KernelClass
	words []string
}{
	{ClassCommunication, []string{"nccl", "rccl", "cross_device_reduce", "nvshmem", "deepep", "deep_ep", "internode", "intranode",
		"all_reduce", "allreduce", "all_gather", "allgather", "reduce_scatter", "all_to_all", "multimem"}},
	{ClassLayout, []string{"nchwtonhwc", "nhwctonchw", "nchw2nhwc", "nhwc2nchw", "nhwctonhwc", "transpose_readwrite", "batched_transpose",
		"transposenchw", "convert_tensor"}},
	{ClassAttention, []string{"flash", "fmha", "attention", "attn", "mha_", "paged_", "sdpa", "sage"}},
	{ClassOptimizer, []string{"multi_tensor_apply", "fusedadam", "fused_adam", "adam", "lamb_", "sgd"}},
	{ClassConvolution, []string{"conv", "dgrad", "wgrad", "fprop", "winograd", "im2col", "col2im", "implicit_gemm", "miopensp3asm",
		"scudnn", "gcudnn", "884cudnn", "1688cudnn", "16816cudnn"}},
	{ClassMatmul, []string{"gemm", "gemv", "cutlass", "cijk_", "nvjet", "matmul", "splitk", "_mm_", "dot_kernel", "xmma", "wgmma", "bmm",
		"mfma", "rocblas", "cublas"}},
	{ClassNormalisation, []string{"norm", "bn_fw", "bn_bw", "batchnorm", "softmax", "rms"}},
	{ClassIndexing, []string{"index", "gather", "scatter", "embedding", "masked", "nonzero", "where_kernel", "radixsort",
		"sort", "topk", "unique"}},
	{ClassReduction, []string{"reduce", "reduction", "argmax", "cumsum", "scan", "nll_loss", "welford"}},
	{ClassElementwise, []string{"elementwise", "pointwise", "vectorized", "copy_kernel", "catarray", "fill", "distribution", "dropout",
		"activation", "gelu", "silu", "relu", "cast"}},
}

// ClassifyKernel is the class of a kernel's name.
func ClassifyKernel(name string) KernelClass {
	switch {
	case HasAnyPrefix(name, "Memcpy", "hipMemcpy", "CopyHostToDevice", "CopyDeviceToHost", "CopyDeviceToDevice"):
		return ClassMemcpy
	case HasAnyPrefix(name, "Memset", "hipMemset"):
		return ClassMemset
	case strings.HasPrefix(name, "triton_poi_"): // Inductor: names hold the fused operators, the prefix says what was made of them
		return ClassElementwise
	case HasAnyPrefix(name, "triton_red_", "triton_per_"):
		return ClassReduction
	}
	found := kernelWords().in(name)
	for i, c := range classWords {
		if found&(1<<i) == 0 || c.class == ClassCommunication && isTriton(name) {
			continue // Inductor names fused kernels after the operators around them
		}
		return c.class
	}
	return ClassOther
}

func isTriton(name string) bool { return len(name) >= 7 && strings.EqualFold(name[:7], "triton_") }

// KernelClasses remembers the class of each name of a session.
type KernelClasses struct {
	texts *model.Strings
	known []KernelClass // class + 1; 0 not yet asked
}

// NewKernelClasses remembers the classes of one session's kernels.
func NewKernelClasses(s *model.Strings) *KernelClasses {
	return &KernelClasses{s, make([]KernelClass, s.Len())}
}

// Of is the class of a device row.
func (c *KernelClasses) Of(ev *model.Events, id model.EventID) KernelClass {
	switch ev.Kind[id] {
	case model.KindMemcpy:
		return ClassMemcpy
	case model.KindMemset:
		return ClassMemset
	}
	name := ev.Name[id]
	if c.known[name] == 0 {
		c.known[name] = ClassifyKernel(c.texts.Text(name)) + 1
	}
	return c.known[name] - 1
}

// tensorCoreWords mark kernels that use matrix units, by name: those of the TensorBoard plugin and of newer libraries.
var tensorCoreWords = []string{"h884", "s884", "h1688", "s1688", "hmma", "i8816", "16816", "dgrad_1x1_stride_2x2",
	"first_layer_wgrad_kernel", "conv1x1", "conv2d_c1_k1", "direct_group", "xmma_implicit_gemm", "xmma_sparse_conv",
	"xmma_warp_specialized_implicit_gemm", "xmma_gemm", "xmma_sparse_gemm", "c1688", "gmma", "sm90_xmma", "sm80_xmma", "tensorop", "nvjet",
	"tcgen05", "sm100_", "flash_fwd", "flash_bwd", "fmha", "mfma", "_mi16x16", "_mi32x32"}

// plainUnitWords mark kernels that multiply in the ordinary units, whatever library their name shows: fused multiply-add on fp32.
var plainUnitWords = []string{"ffma", "simt_sgemm"}

// UsesTensorCores says whether a kernel's name shows that it uses matrix units. Triton kernels do not show it.
func UsesTensorCores(name string) bool {
	found := kernelWords().in(name)
	return found&(1<<len(classWords)) != 0 && found&(1<<(len(classWords)+1)) == 0
}

// ShortKernelName drops template and argument lists.
func ShortKernelName(name string) string {
	if cut := strings.IndexAny(name, "<("); cut > 0 {
		name = name[:cut]
	}
	if blank := strings.LastIndexByte(name, ' '); blank >= 0 {
		name = name[blank+1:]
	}
	return name
}
