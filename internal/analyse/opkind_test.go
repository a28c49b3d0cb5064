package analyse

import (
	"math"
	"slices"
	"testing"

	"bottleneck/internal/model"
)

// A kind needs its row in opKinds and nothing else: the parts of "CPU operators" sum to it for any kind, one just added included.
func TestKindsSumToTheOperators(t *testing.T) {
	before := opKinds
	t.Cleanup(func() { opKinds = before })
	opKinds = slices.Clone(opKinds)
	opKinds = append(opKinds, opKinds[0])
	last := &opKinds[len(opKinds)-1]
	last.kind, last.words = "spectral", []string{"::fft_"}

	names := []string{"aten::fft_c2r", "vendor::unheard_of", "record_function"}
	for _, row := range before {
		for _, word := range row.words {
			names = append(names, "aten::"+word)
		}
	}
	texts := &model.Strings{}
	ev := &model.Events{}
	for i, name := range names {
		ev.Name = append(ev.Name, texts.Intern(name))
		ev.Start = append(ev.Start, model.Time(10*i))
		ev.Parent = append(ev.Parent, model.NoEvent)
	}
	acc := opSums{steps: 2, kinds: map[OpKind]float64{}, names: map[model.Str]*OpTime{}, kindOf: map[model.Str]OpKind{}, optimizer: map[model.Str]float64{}, strings: texts}
	for id := range names {
		acc.named(ev, model.EventID(id), 10)
	}
	o := &OpAccount{}
	acc.finish(o)
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
