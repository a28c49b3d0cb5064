package account

import (
	"math"
	"slices"
	"testing"

	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// A kind needs its row among the kinds of names and nothing else: the parts of "CPU operators" sum to it for any kind, one just added
// included.
func TestKindsSumToTheOperators(t *testing.T) {
	names := []string{"aten::fft_c2r", "vendor::unheard_of", "record_function", "aten::mm", "aten::conv2d", "aten::add", "aten::normal_",
		"aten::copy_", "aten::sum"}
	texts := &model.Strings{}
	ev := &model.Events{}
	for i, name := range names {
		ev.Name = append(ev.Name, texts.Intern(name))
		ev.Start = append(ev.Start, model.Time(10*i))
		ev.Parent = append(ev.Parent, model.NoEvent)
	}
	acc := opSums{steps: 2, kinds: map[naming.OpKind]float64{}, names: map[model.Str]*OpTime{}, kindOf: map[model.Str]naming.OpKind{},
		optimizer: map[model.Str]float64{}, strings: texts}
	acc.kindOf[ev.Name[0]] = "spectral"
	for id := range names {
		acc.named(ev, model.EventID(id), 10)
	}
	o := &OpAccount{}
	acc.finish(o, float64(acc.steps))
	sum := 0.0
	for _, k := range o.Kinds {
		sum += k.Time
	}
	if want := 5 * float64(len(names)); math.Abs(sum-want) > 1e-9 {
		t.Errorf("the kinds sum to %v ns a step, the operators take %v: %v", sum, want, o.Kinds)
	}
	if !slices.ContainsFunc(o.Kinds, func(k KindTime) bool { return k.Kind == "spectral" && k.Time == 5 }) {
		t.Errorf("the new kind is missing: %v", o.Kinds)
	}
}
