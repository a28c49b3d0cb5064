package pysource

import (
	"slices"
	"strings"
	"testing"
)

// A statement of a data set that makes the same for each sample is told from what hangs on the sample, on chance or on the calls before.
func TestAlikeEachCall(t *testing.T) {
	const head = `import h5py
import pandas as pd
import torch
import torchaudio.transforms as T

RATE = 16000


class Speech(Dataset):
    def __init__(self, path):
        self.path = path
        self.at = 0

    def __getitem__(self, i):
        name = "table.csv"
`
	for line, want := range map[string]bool{
		"mel = T.MelSpectrogram(sample_rate=RATE, n_fft=1024)": true,
		"table = pd.read_csv(self.path).values":                true,
		"table = pd.read_csv(name)":                            true,
		"mel = Spectrogram(self.path)":                         true,
		"with h5py.File(self.path, 'r') as f:":                 true,
		"table = pd.read_csv(self.files[i])":                   false, // of the sample
		"mel = Spectrogram(self.at)":                           false, // which next changes
		"noise = torch.randn(RATE)":                            false,
		"item = next(self.items)":                              false,
		"item = self.queue.get()":                              false,
		"out = torch.zeros(3, RATE)":                           false, // to be written into
		"return self.table[0]":                                 false, // no call
		"x = self.decode(3)":                                   false, // an object's method
	} {
		source := strings.Split(head+"        "+line+"\n            pass\n\n    def next(self):\n        self.at += 1\n", "\n")
		var r Reader
		if got := r.AlikeEachCall(At{Source: source, Name: "__getitem__", Line: 16}); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// Turns of a loop can be joined where none needs what the one before has made.
func TestTurnsApart(t *testing.T) {
	for text, want := range map[string]bool{
		"for u in users:\n    s = model(u)\n    hits.append(s)":                                      true,
		"for u in users:\n    s = model(u)\n    total += s.item()":                                   true,
		"for u in users:\n    s = model(word)\n    word = s.argmax()":                                false, // its own words
		"for u in users:\n    s, h = model(u, h)\n    hits.append(s)":                                false, // a state
		"for u in users:\n    x = seen[-1:]\n    s = model(x)\n    seen.append(s)":                   false, // by way of another name
		"while i < n:\n    s = model(x[i])\n    i += 1":                                              false,
		"for u in users:\n    x = torch.tensor(u)\n    s = model(x)\n    best = max(best, s.item())": true,
	} {
		lines := strings.Split("def f(model, users):\n    "+strings.ReplaceAll(text, "\n", "\n    "), "\n")
		at := 0
		for i, line := range lines {
			if strings.Contains(line, "model(") && i > 0 {
				at = i + 1
			}
		}
		if got := new(Reader).TurnsApart(lines, int32(at)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestLoopApart: a loop within a step whose turns rest on nothing that one hands to the next is told with its line; sums, lists and places
// that a turn's result goes into hand nothing on. The loop of the steps, and what trains, is none.
func TestLoopApart(t *testing.T) {
	for text, want := range map[string]struct {
		line   int32
		drives bool
		apart  bool
	}{
		"for i, one in enumerate(self.all):\n    out.append(one(x[:, i]))":              {2, false, true},
		"out = [one(x) for one in self.all]":                                            {2, false, true},
		"for t in range(n):\n    loss += one(x[:, t], y[:, t])":                         {2, false, true},
		"for t in range(n):\n    loss = loss + one(x[:, t], y[:, t])":                   {2, false, true},
		"for i in a:\n    for j in b:\n        u = x[i, j]\n        out[i, j] = one(u)": {3, false, true},
		"for layer in self.all:\n    x = one(x)":                                        {2, false, false},
		"for t in range(n):\n    h = one(x[:, t], h)\n    out.append(h)":                {2, false, false},
		"for t in range(n):\n    out[t] = one(out[t - 1])":                              {2, false, false},
		"y = one(x)": {0, false, false},
		"for x in data:\n    loss = one(x)\n    loss.backward()":                                     {0, true, false},
		"for x in data:\n    for t in x:\n        loss += one(t)\n    loss.backward()":               {3, true, true},
		"for x in data:\n    loss = model(x)\n    loss.backward()\nfor x in others:\n    y = one(x)": {0, true, false},
	} {
		lines := strings.Split("def f(self, data, x, y, h, out, loss):\n    "+strings.ReplaceAll(text, "\n", "\n    "), "\n")
		at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "one(") })
		if line, apart := new(Reader).LoopApart(lines, int32(at+1), want.drives); line != want.line || apart != want.apart {
			t.Errorf("%s: %d, %v", text, line, apart)
		}
	}
}

// TestCallsWhatTurns: a loop that goes through layers calls another one in each turn, one over numbers calls the same unless it takes an
// element by its number.
func TestCallsWhatTurns(t *testing.T) {
	for _, c := range []struct {
		head, line string
		want       bool
	}{
		{"for i, conv in enumerate(self.convs):", "out.append(conv(x[:, i]))", true},
		{"for i in range(n):", "out.append(self.convs[i](x[:, i]))", true},
		{"for i in range(n):", "out.append(self.conv(x[:, i]))", false},
		{"out = [layer(x) for layer in self.layers]", "out = [layer(x) for layer in self.layers]", true},
		{"for conv in self.convs:", "x = self.conv(x) + deconv(x)", false},
		{"while True:", "x = conv(x)", false},
	} {
		if got := CallsWhatTurns(c.head, c.line); got != c.want {
			t.Errorf("%s %s: %v", c.head, c.line, got)
		}
	}
}
