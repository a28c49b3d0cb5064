package device

import (
	"path/filepath"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

// Of real traces it is what a sum over a file's own events gives: kernels, products left out, whose launch, by its correlation, lies
// between the first product of such a sequence and the end of its last.
func TestAttentionOnRealTraces(t *testing.T) {
	for path, want := range map[string]Attention{
		"tracelens-big-mi300/mi300_owlv2-large.json.gz":               {Written: 180, Kernels: 300, Dur: 154548366, Elements: 430147600},
		"segment-anything-fast/eager_False.json.gz":                   {Written: 144, Kernels: 660, Dur: 71323000, Elements: 268435456},
		"megatron-tp8-a100/megatron_kineto_0.json.gz":                 {Written: 40, Kernels: 40, Dur: 17025000, Elements: 134217728},
		"tracelens-qwen-h100-vs-mi300/h100_Qwen1.5-0.5B-Chat.json.gz": {}, // by one kernel
		"hta-critical-path/alexnet_a100.json.gz":                      {}, // none
	} {
		var s model.Strings
		trace := slowtrace.Read(t, filepath.Join(slowtrace.Folder(), path), &s)
		if trace == nil {
			continue
		}
		got := NewWork(trace, &s).Attention()
		if got.Written != want.Written || got.Kernels != want.Kernels || got.Elements != want.Elements || got.Dur != want.Dur ||
			got.Elementwise > got.Dur || (got.Where.Op == "") != (want.Dur == 0) {
			t.Errorf("%s: %+v", path, got)
		}
	}
}
