package pysource

import (
	"slices"
	"strings"
	"testing"
)

const statementsSource = `import torch
@torch.no_grad()
def other(a):
    return a

def train(model, loader):
    """About it:
loss = none of this
    """
    for i, (x, y) in enumerate(loader):
        out = model(
            x,  # out = other
        )
        a = b = out.sum(dim=1)
        if i % 10 == 0: c = float(a)
        kept[i], self.last = c, "d = e"
        total += 1
        (u, v), w = split(out)
        n: int = len(y)
        with open(n) as f, open(v) as g:
            logs.append(a == b)
            a.add_(x)
            self.log("loss", a)

        def inner(z, scale=2):
            t = z * out
            return t
        f(n=1)
        return inner
after = 1
`

// What each statement of a function defines and uses, an inner function as a whole; the function ends where its block does.
func TestStatementsOfAFunction(t *testing.T) {
	var got []string
	for _, st := range StatementsOf(strings.Split(statementsSource, "\n"), 6) {
		line := strings.Join(st.Defines, " ") + " < " + strings.Join(st.Uses, " ")
		if st.Gives {
			line += " gives"
		}
		got = append(got, line)
		if strings.HasPrefix(line, "out <") && (st.From != 11 || st.To != 13) {
			t.Errorf("out: lines %d to %d", st.From, st.To)
		}
	}
	want := []string{
		" < ", "i x y < enumerate( loader", "out < model( x", "a b < out.sum( dim", "c < float( a i",
		"kept self.last < c i", "total < total", "u v w < split( out", "n < len( y", "f g < with open( n as f v g",
		"logs < logs.append( a b", "a < a.add_( x", " < self.log( a", "inner < out return", " < f( n", " < return inner gives",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if all := StatementsOf(strings.Split(statementsSource, "\n"), 2); len(all) != 1 || !all[0].Gives {
		t.Errorf("after a decorator: %+v", all)
	}
	if all := StatementsOf(strings.Split(statementsSource, "\n"), 0); len(all) != 5 || all[4].From != 30 {
		t.Errorf("module: %+v", all)
	}
	if all := StatementsOf(strings.Split(statementsSource, "\n"), 90); len(all) != 0 {
		t.Errorf("beyond the end: %+v", all)
	}
}
