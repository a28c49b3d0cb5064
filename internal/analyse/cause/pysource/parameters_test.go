package pysource

import (
	"strings"
	"testing"
)

// Loops over parameters are found from each of their lines, by what they go through; other loops are none.
func TestParameterLoops(t *testing.T) {
	source := strings.Split(`class Trainer:
    def __init__(self, model):
        self.shadow = [p.clone() for p in model.parameters()]
        self.layers = list(model.children())

    def ema(self, decay):
        averaged, now = self.ema.state_dict(), self.model.state_dict()
        for k in averaged:
            if averaged[k].dtype.is_floating_point:
                averaged[k].mul_(decay).add_(now[k], alpha=1 - decay)

    def soft(self, tau):
        for target, p in zip(self.target.parameters(),
                             self.model.parameters()):
            target.data.copy_(tau * p.data + (1 - tau) * target.data)

    def norm(self):
        total = sum(p.grad.norm() ** 2 for p in self.model.parameters())
        return total

    def kept(self):
        for s in self.shadow:
            s.mul_(0.9)

    def clip(self):
        for name, p in self.model.named_parameters():
            if p.grad is not None: p.grad.clamp_(-1, 1)

    def layered(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def train(self):
        params = list(self.model.parameters())
        optimizer = SGD(params)
        for x in self.data:
            loss = self.model(x).mean()
            for p in params:
                p.data -= 0.1 * p.grad
        for k in sorted(x for x in "averaged"):
            print(k)

    def shared(self):
        for p in self.model.parameters():
            dist.all_reduce(p.grad)
        for name, p in self.model.named_parameters():
            self.writer.add_histogram(name, p)
`, "\n")
	for _, c := range []struct {
		line, want int32
		what       PerParameter
	}{
		{7, 8, Averages}, {8, 8, Averages}, {10, 8, Averages}, {13, 13, Averages}, {14, 13, Averages}, {15, 13, Averages},
		{18, 18, Measures},
		{23, 22, Averages}, {27, 26, Changes}, {31, 0, 0}, {19, 0, 0}, {38, 0, 0}, {40, 39, Changes}, {35, 39, Changes}, {42, 0, 0},
		{46, 0, 0}, {48, 0, 0}, {0, 0, 0}, {99, 0, 0}, {3, 3, Changes},
	} {
		if got := ParameterLoopAt(source, c.line); got != (ParameterLoop{Line: c.want, What: c.what}) {
			t.Errorf("line %d: %+v, want %d, %d", c.line, got, c.want, c.what)
		}
	}
}

// TestPenaltyLoops: sums of squares, absolute values or norms of parameters may be penalties; numbers that are read back, gradients and
// what follows another model are none.
func TestPenaltyLoops(t *testing.T) {
	for body, want := range map[string]bool{
		"total = total + torch.sum(p ** 2)":       true,
		"total += p.pow(2).sum()":                 true,
		"total += p.abs().sum()":                  true,
		"total += torch.norm(p, 1)":               true,
		"total += p.norm().item()":                false,
		"total += p.data.norm()":                  false,
		"total += p.grad.norm()":                  false,
		"total += p.numel()":                      false,
		"p.mul_(0.9).add_(q.pow(2), alpha=0.1)":   false,
		"total += torch.sum(p.detach() ** 2) * 2": false,
	} {
		if got := ParameterLoopAt([]string{"for p in model.parameters():", "    " + body}, 2); got.Penalty != want || got.Line != 1 {
			t.Errorf("%s: %+v", body, got)
		}
	}
}
