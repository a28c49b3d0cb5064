package attention

import (
	"strings"
	"testing"

	"bottleneck/internal/model"
)

// sequence makes a thread of outermost operators of 10 ns each; "name(8x8,8x8)" has shapes, "name!" calls another operator.
func sequence(t *testing.T, text string) (*model.Events, *model.Strings, []model.EventID) {
	t.Helper()
	ev, texts := &model.Events{}, &model.Strings{}
	var outermost []model.EventID
	add := func(name, shapes string, parent model.EventID) model.EventID {
		id := model.EventID(ev.Len())
		start := model.Time(10 * len(outermost))
		ev.Start, ev.Dur = append(ev.Start, start), append(ev.Dur, 10)
		ev.Name, ev.Kind = append(ev.Name, texts.Intern(name)), append(ev.Kind, model.KindOp)
		ev.Lane, ev.Parent = append(ev.Lane, 0), append(ev.Parent, parent)
		ev.Detail = append(ev.Detail, int32(len(ev.OpDetails)))
		ev.OpDetails = append(ev.OpDetails, model.OpDetail{Sequence: int64(id), Args: uint32(len(ev.OpArgs))})
		ev.OpArgs = append(ev.OpArgs, model.OpArgs{Shapes: texts.Intern(shapes)})
		return id
	}
	for _, word := range strings.Fields(text) {
		name, calls := strings.CutSuffix(word, "!")
		name, shapes, _ := strings.Cut(strings.TrimSuffix(name, ")"), "(")
		if shapes != "" {
			var each []string
			for _, s := range strings.Split(shapes, ",") {
				each = append(each, "["+strings.ReplaceAll(strings.Trim(s, "-"), "x", ", ")+"]")
			}
			shapes = "[" + strings.Join(each, ", ") + "]"
		}
		id := add("aten::"+name, shapes, model.NoEvent)
		if calls {
			add("aten::inside", "", id)
		}
		outermost = append(outermost, id)
	}
	return ev, texts, outermost
}

func TestWrittenAttentionIsFound(t *testing.T) {
	for text, want := range map[string]Written{
		"linear transpose matmul div softmax matmul linear":                                 {},
		"bmm(8x16x4,8x4x16) softmax(8x16x16) bmm(8x16x16,8x16x4)":                           {Elements: 2048},
		"matmul mul masked_fill softmax dropout! matmul":                                    {Masked: true, Dropped: true},
		"matmul div add(2x8x8,2x1x8) softmax(2x8x8) matmul(2x8x8,2x8x4)":                    {Masked: true, Elements: 128},
		"matmul div add(2x8x8,-) softmax(2x8x8) matmul(2x8x8,2x8x4)":                        {Elements: 128},
		"matmul softmax dropout matmul":                                                     {}, // in evaluation it calls nothing
		"matmul add view matmul add view matmul div softmax to matmul":                      {},
		"einsum mul softmax einsum":                                                         {},
		"linear relu matmul eq masked_fill to softmax to dropout! view transpose bmm layer": {Masked: true, Dropped: true},
	} {
		ev, texts, outermost := sequence(t, text)
		f := NewFinder(ev, texts)
		for _, id := range outermost {
			f.Add(id)
		}
		found := f.Found()
		if len(found) != 1 {
			t.Errorf("%s: %d attentions", text, len(found))
			continue
		}
		got := found[0]
		name := texts.Text(ev.Name[got.Last])
		if parts[strings.TrimPrefix(name, "aten::")] != product || got.First >= got.Softmax || got.Softmax >= got.Last {
			t.Errorf("%s: from %d to %d", text, got.First, got.Last)
		}
		got.First, got.Last, got.Softmax, got.Begin, got.OneHead = 0, 0, 0, 0, false
		if got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
	for _, text := range []string{
		"matmul add softmax linear matmul",                         // what the values are made of comes between
		"linear softmax topk matmul",                               // experts
		"matmul softmax",                                           // the end of a classifier
		"matmul log_softmax matmul",                                //
		"matmul layer_norm softmax matmul",                         //
		"softmax matmul matmul",                                    //
		"bmm softmax(8x16x16) bmm(4x4x4)",                          // another matrix
		"matmul softmax softmax matmul",                            //
		"matmul " + strings.Repeat("mul ", 30) + "softmax matmul",  // too far
		"matmul softmax scaled_dot_product_attention relu matmul ", //
	} {
		ev, texts, outermost := sequence(t, text)
		f := NewFinder(ev, texts)
		for _, id := range outermost {
			f.Add(id)
		}
		if found := f.Found(); len(found) != 0 {
			t.Errorf("%s: %+v", text, found)
		}
	}
}

// Heads that a loop goes through follow one another with nothing but their layers between; attention of the next block does not follow.
func TestHeadsFollowOneAnother(t *testing.T) {
	const head = "linear linear transpose matmul(8x16x4,8x4x16) mul masked_fill softmax(8x16x16) linear matmul(8x16x16,8x16x4) "
	for text, follows := range map[string]string{
		"layer_norm " + head + head + head + "cat linear add layer_norm linear relu linear add layer_norm " + head + head: "0 1 1 0 1",
		head + "dropout " + head: "0 1",
		head + "add " + head:     "0 0",
	} {
		ev, texts, outermost := sequence(t, text)
		f := NewFinder(ev, texts)
		for _, id := range outermost {
			f.Add(id)
		}
		var got []string
		for _, w := range f.Found() {
			got = append(got, map[bool]string{true: "1", false: "0"}[w.Follows])
			if !w.OneHead || texts.Text(ev.Name[w.Begin]) != "aten::linear" || w.First-w.Begin != 3 {
				t.Errorf("%s: %+v", text, w)
			}
		}
		if strings.Join(got, " ") != follows {
			t.Errorf("%s: %v, want %s", text, got, follows)
		}
	}
}

func TestPassesOfAnAttention(t *testing.T) {
	ev, texts, outermost := sequence(t, "linear matmul! softmax matmul linear")
	f := NewFinder(ev, texts)
	for _, id := range outermost {
		f.Add(id)
	}
	passes := map[int64]bool{}
	f.Found()[0].AddPasses(ev, passes)
	for id := range ev.Len() {
		if want := id >= 1 && id <= 4; passes[int64(id)] != want {
			t.Errorf("%d %s: %v", id, texts.Text(ev.Name[id]), passes[int64(id)])
		}
	}
	ev.Name[0] = texts.Intern("autograd::engine::evaluate_function: MmBackward0")
	if n, ok := Pass(ev, texts, 0); !ok || n != 0 {
		t.Error(n, ok)
	}
	if _, ok := Pass(ev, texts, 1); ok {
		t.Error("a forward operator is no pass")
	}
}
