package compare

import "testing"

func TestOutputs(t *testing.T) {
	four := []string{"loss 0.81\n", "loss 0.92\n", "loss 0.88\n", "loss 0.79\n"}
	for _, c := range []struct {
		name, before, again, after, difference, apart string
	}{
		{"the same", "loss 0.5\n", "loss 0.5\n", "loss 0.5\n", "", ""},
		{"rounding", "loss 1.0986\n", "loss 1.0986\n", "loss 1.0987\n", "", ""},
		{"last digit", "loss 0.02\n", "loss 0.02\n", "loss 0.03\n", "", ""},
		{"another value", "step 1\nloss 1.10\n", "step 1\nloss 1.10\n", "step 1\nloss 1.42\n", `"loss 1.10" became "loss 1.42"`, ""},
		{"counted", "epoch 9\n", "epoch 9\n", "epoch 10\n", `"epoch 9" became "epoch 10"`, ""},
		{"order", "a\nb\n", "a\nb\n", "b\na\n", "", ""},
		{"order of ranks", "rank 0 has 3\nrank 1 has 4\n", "rank 0 has 3\nrank 1 has 4\n", "rank 1 has 4\nrank 0 has 3\n", "", ""},
		{"times vary", "took 3.1 s, loss 0.5\n", "took 4.5 s, loss 0.5\n", "took 0.2 s, loss 0.5\n", "", `"took 3.1 s, loss 0.5"`},
		{"times vary, loss does not", "took 3.1 s, loss 0.5\n", "took 4.5 s, loss 0.5\n", "took 0.2 s, loss 0.9\n",
			`"took 3.1 s, loss 0.5" became "took 0.2 s, loss 0.9"`, `"took 3.1 s, loss 0.5"`},
		{"less", "a\nb\n", "a\nb\n", "a\n", `"b" is no longer written`, ""},
		{"more", "a\n", "a\n", "a\nwarning\n", `"warning" is new`, ""},
		{"a line that comes and goes", "a\n", "a\nb\n", "a\n", "", `"b"`},
		{"what repeats beside one is compared", "a 1\n", "a 1\nb\n", "a 2\n", `"a 1" became "a 2"`, `"b"`},
		{"names that vary", "in /tmp/x\n", "in /tmp/y\n", "in /tmp/z\n", "", `"in /tmp/x"`},
		{"more than varies", "in /tmp/x\n", "in /tmp/y\n", "in /tmp/z\nwarning\n", `"in /tmp/z" is new`, `"in /tmp/x"`},
		{"two runs tell no spread", "loss 0.81\n", "loss 0.92\n", "loss 2.5\n", "", `"loss 0.81"`},
		{"two runs that are near by chance", "loss 2.196\n", "loss 2.197\n", "loss 2.203\n", "", `"loss 2.196"`},
		{"a bar", "10%\r50%\r100%\ndone\n", "20%\r100%\ndone\n", "100%\ndone\n", "", ""},
		{"nothing", "", "", "", "", ""},
	} {
		if d, apart, _ := Outputs([]string{c.before, c.again}, c.after); d != c.difference || apart != c.apart {
			t.Errorf("%s: %q, apart %q", c.name, d, apart)
		}
	}
	for after, want := range map[string]string{"loss 0.99\n": "", "loss 0.70\n": "", "loss 2.5\n": `"loss 0.81" became "loss 2.5"`} {
		if d, apart, _ := Outputs(four, after); d != want || apart != "" {
			t.Errorf("%q after four runs: %q, apart %q", after, d, apart)
		}
	}
	if _, _, some := Outputs([]string{"in /tmp/x\n", "in /tmp/y\n"}, "in /tmp/z\n"); some {
		t.Error("nothing repeats, and it was compared")
	}
}
