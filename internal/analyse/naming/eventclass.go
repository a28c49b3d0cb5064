package naming

import "strings"

// EventClass is what the name alone says of an event on a CPU thread.
type EventClass uint8

// Classes of names.
const (
	EventUnseen EventClass = iota // not asked yet
	EventPlain
	EventHidden // torch's own bookkeeping operators, which its tables leave out
	EventStep   // ProfilerStep#N
	EventAsync  // work of a process group: its record ends on another thread
)

// ClassifyEvent is the class of the name of an operator, an annotation or a call.
func ClassifyEvent(name string) EventClass {
	switch name {
	case "[memory]", "[OutOfMemory]", "profiler::_record_function_enter", "profiler::_record_function_enter_new",
		"profiler::_record_function_exit", "aten::is_leaf", "aten::output_nr", "aten::_version":
		return EventHidden
	}
	switch {
	case strings.HasPrefix(name, "ProfilerStep#"):
		return EventStep
	case HasAnyPrefix(name, "gloo:", "nccl:", "mpi:", "ucc:", "xccl:"):
		return EventAsync
	}
	return EventPlain
}

// HasAnyPrefix says whether a text begins with one of the prefixes.
func HasAnyPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// EngineNode begins the name under which autograd's engine records each function of a backward pass.
const EngineNode = "autograd::engine::evaluate_function"

// Accumulates is the function that a backward pass ends in at a tensor whose gradient is kept, such as a parameter's.
const Accumulates = "torch::autograd::AccumulateGrad"

// OpOrders puts the entries of a sparse matrix in order and adds up those of one place.
const OpOrders = "aten::_coalesce"

// PlansAttention says that an operator computes attention by a plan that cuDNN makes for its shapes, forward or backward.
func PlansAttention(name string) bool {
	return strings.HasPrefix(name, "aten::_scaled_dot_product_cudnn_attention")
}

// IsBackward says that an event is the engine's record of one function of a backward pass.
func IsBackward(name string) bool { return strings.HasPrefix(name, EngineNode) }
