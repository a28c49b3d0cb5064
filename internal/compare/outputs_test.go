package compare

import "testing"

func TestOutputs(t *testing.T) {
	for _, c := range []struct {
		name, before, again, after, difference string
		known                                  bool
	}{
		{"the same", "loss 0.5\n", "loss 0.5\n", "loss 0.5\n", "", true},
		{"rounding", "loss 1.0986\n", "loss 1.0986\n", "loss 1.0987\n", "", true},
		{"last digit", "loss 0.02\n", "loss 0.02\n", "loss 0.03\n", "", true},
		{"another value", "step 1\nloss 1.10\n", "step 1\nloss 1.10\n", "step 1\nloss 1.42\n", `"loss 1.10" became "loss 1.42"`, true},
		{"counted", "epoch 9\n", "epoch 9\n", "epoch 10\n", `"epoch 9" became "epoch 10"`, true},
		{"order", "a\nb\n", "a\nb\n", "b\na\n", "", true},
		{"times vary", "took 3.1 s, loss 0.5\n", "took 4.5 s, loss 0.5\n", "took 0.2 s, loss 0.5\n", "", true},
		{"times vary, loss does not", "took 3.1 s, loss 0.5\n", "took 4.5 s, loss 0.5\n", "took 0.2 s, loss 0.9\n",
			`"took 3.1 s, loss 0.5" became "took 0.2 s, loss 0.9"`, true},
		{"less", "a\nb\n", "a\nb\n", "a\n", `"b" is no longer written`, true},
		{"more", "a\n", "a\n", "a\nwarning\n", `"warning" is new`, true},
		{"not the same from run to run", "a\n", "a\nb\n", "a\n", "", false},
		{"a bar", "10%\r50%\r100%\ndone\n", "20%\r100%\ndone\n", "100%\ndone\n", "", true},
		{"nothing", "", "", "", "", true},
	} {
		if d, known := Outputs(c.before, c.again, c.after); d != c.difference || known != c.known {
			t.Errorf("%s: %q, %v", c.name, d, known)
		}
	}
}
