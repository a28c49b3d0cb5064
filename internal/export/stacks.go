package export

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"bottleneck/internal/analyse/keyaverages"
	"bottleneck/internal/model"
	"bottleneck/internal/view"
)

// StackMetrics are the metrics that stacks can be weighted by, in torch's words of today and of before.
var StackMetrics = []string{
	"self_cpu_time_total", "self_cuda_time_total", "self_device_time_total", "self_xpu_time_total", "self_privateuse1_time_total",
}

// stackCharacters replaces what separates frames and values in a line, as torch does.
var stackCharacters = strings.NewReplacer(" ", "_", ";", "_", "\t", "_", "\n", "_")

// writeStacks writes what export_stacks writes under verbose=True: for each event with a stack and at least one whole
// microsecond of the metric, its frames from the outside in, a blank and the microseconds. Events are not merged; the
// readers of this form add equal stacks up. Without the option verbose torch's own file is empty; here the stacks then
// come from the Python calls around each operator.
func writeStacks(ctx context.Context, s *model.Session, w io.Writer, opt Options) error {
	metric := opt.Metric
	if metric == "" {
		metric = StackMetrics[0]
	}
	if !slices.Contains(StackMetrics, metric) {
		return fmt.Errorf("no metric %q: choose one of %s", metric, strings.Join(StackMetrics, ", "))
	}
	lines := 0
	err := buffered(w, func(out *bufio.Writer) error {
		for _, t := range tracesOf(s, opt) {
			n, err := writeTraceStacks(ctx, out, t, s.Strings, metric == "self_cpu_time_total")
			if lines += n; err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && lines == 0 {
		return &UnavailableError{"stacks", "no operator has a Python stack and time in " + metric + ": record with --with-stack"}
	}
	return err
}

func writeTraceStacks(ctx context.Context, out *bufio.Writer, t *model.Trace, strs *model.Strings, cpu bool) (lines int, err error) {
	events, _ := keyaverages.FunctionEvents(t, strs, keyaverages.Options{})
	times := view.TorchTimes(t, strs, events)
	for i := range events {
		if i%4096 == 0 && ctx.Err() != nil {
			return lines, ctx.Err()
		}
		value := times[i].SelfDevice
		if cpu {
			value = times[i].SelfCPU
		}
		us := int64(math.Max(value, 0)) // whole microseconds, towards zero
		if us == 0 {
			continue
		}
		stack := stackOf(events, i)
		if len(stack) == 0 {
			continue
		}
		lines++
		for k, entry := range slices.Backward(stack) {
			stackCharacters.WriteString(out, entry)
			if k > 0 {
				out.WriteByte(';')
			}
		}
		if _, err := fmt.Fprintf(out, " %d\n", us); err != nil {
			return lines, err
		}
	}
	return lines, nil
}

// stackOf is an event's stack, innermost first; a Python call's own is that of the calls around it.
func stackOf(events []keyaverages.FunctionEvent, i int) []string {
	stack := events[i].Stack()
	if !events[i].IsPython || len(stack) > 0 {
		return stack
	}
	for at := events[i].Parent; at >= 0 && len(stack) < keyaverages.MaxStackEntries; at = events[at].Parent {
		if name := events[at].Name; events[at].IsPython && !hiddenFrame(name) {
			stack = append(stack, name)
		}
	}
	return stack
}

// hiddenFrame says whether torch leaves a frame out of stacks: those of its own backward() and of its tests' profiling.
func hiddenFrame(name string) bool {
	has := func(parts ...string) bool {
		for _, part := range parts {
			if !strings.Contains(name, part) {
				return false
			}
		}
		return true
	}
	return has("autograd/__init__", "_make_grads") || has("autograd/__init__", "backward") || has("torch/tensor", "backward") ||
		has("_internal/common_utils", "prof_callable") || has("_internal/common_utils", "prof_func_call") ||
		has("_internal/common_utils", "prof_meth_call")
}
