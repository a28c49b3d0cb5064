package naming

import (
	"strings"
	"sync"
	"sync/atomic"
)

// OpKind is what an operator does, as far as its name tells; its text stands in reports.
type OpKind string

// Kinds that rules ask for by name. A kind that no rule asks for needs a row of opKinds only.
const (
	OpMatmul      OpKind = "matmul"
	OpConv        OpKind = "convolution"
	OpAttention   OpKind = "attention"
	OpElementwise OpKind = "element-wise"
	OpRandom      OpKind = "random-number" // drawing them is work of the core, which reads nothing
	OpReduction   OpKind = "reduction"
	OpOptimizer   OpKind = "optimizer" // told by the place, not by the name: whatever an optimizer's step calls
	OpOther       OpKind = "other"
)

// opKinds are the kinds in the order in which they are tried: the first word found in the lower-case name decides. Dense ones compute
// much with each number that they read.
var opKinds = []struct {
	kind  OpKind
	dense bool
	words []string
}{
	{OpRandom, false, []string{"bernoulli", "::normal", "::log_normal", "::uniform", "::rand", "::exponential",
		"multinomial", "::poisson"}},
	{OpAttention, true, []string{"attention", "flash"}},
	{OpConv, true, []string{"conv"}},
	{OpMatmul, true, []string{"mm", "matmul", "linear", "bmm", "addmv", "einsum", "::dot", "::mv", "gemm", "bilinear",
		"lstm", "gru", "rnn"}},
	{"copy", false, []string{"copy", "::to", "clone", "contiguous", "::cat", "stack", "index", "gather", "scatter", "embedding", "::pad",
		"fill", "zero", "empty", "repeat", "roll", "flip", "masked", "select", "where", "::ones", "arange"}},
	{OpReduction, false, []string{"softmax", "sum", "mean", "::max", "::min", "argm", "norm", "nll_loss", "loss", "cumsum", "var", "std",
		"topk", "sort", "pool", "cross_entropy", "prod", "any", "all", "aminmax", "linalg", "item", "local_scalar"}},
	{OpElementwise, false, []string{"add", "mul", "sub", "div", "relu", "gelu", "silu", "tanh", "sigmoid", "exp",
		"log", "sqrt", "pow", "neg", "abs", "clamp", "dropout", "threshold", "hardtanh", "eq", "gt", "lt", "ge", "le", "bitwise", "logical",
		"sin", "cos", "erf", "lerp", "rsqrt", "reciprocal"}},
}

// mostNames bounds how many names' kinds are kept: PyTorch has some 3,000 operators, and a file can have any number.
const mostNames = 4096

var (
	known      sync.Map // kinds by name: rules ask for that of each event, and finding it takes dozens of searches
	knownNames atomic.Int32
)

// OpKindOf is the kind of an operator's name, such as "aten::addmm"; OpOther for a name without a name space.
func OpKindOf(name string) OpKind {
	if kind, ok := known.Load(name); ok {
		return kind.(OpKind)
	}
	kind := opKindOf(name)
	if knownNames.Load() < mostNames {
		knownNames.Add(1)
		known.Store(strings.Clone(name), kind)
	}
	return kind
}

func opKindOf(name string) OpKind {
	name = strings.ToLower(name)
	if !strings.Contains(name, "::") {
		return OpOther
	}
	for i := range opKinds {
		for _, w := range opKinds[i].words {
			if strings.Contains(name, w) {
				return opKinds[i].kind
			}
		}
	}
	return OpOther
}

// Dense says whether operators of the kind compute much with each number that they read, so that more cores make them faster.
func (k OpKind) Dense() bool {
	for i := range opKinds {
		if opKinds[i].kind == k {
			return opKinds[i].dense
		}
	}
	return false
}
