package launch

import (
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/stats"
)

// fusedAlgorithms are the optimizers that have a fused form, by how their functions' names end, with how their classes' names begin; on a
// CPU since PyTorch 2.4.
var fusedAlgorithms = []struct{ function, class string }{{"adam", "Adam"}, {"adamw", "Adam"}, {"sgd", "SGD"}, {"adagrad", "Adagrad"}}

// fusable says that most of an optimizer's time, by algorithm, is in one that PyTorch has a fused form of for where it runs, and how the
// name of the class begins that has most of that: "" where none was seen.
func fusable(c *facts.Facts, algorithms map[string]float64) (class string, ok bool) {
	fused, most, all := 0.0, 0.0, 0.0
	for _, a := range fusedAlgorithms {
		t := algorithms[a.function]
		if fused += t; t > most {
			class, most = a.class, t
		}
	}
	for _, t := range stats.InOrder(algorithms) {
		all += t
	}
	return class, (c.P.TimedOnDevice() || facts.AtLeast(c.S.Environment.Torch, 2, 4)) && fused > 0 && 2*fused >= all
}
