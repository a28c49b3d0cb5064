package testkit

import (
	"os"
	"testing"
)

// Wide says whether a test, or a case of one, belongs to the wider set: it repeats on real programs what another shows, under a further
// setting. BOTTLENECK_SET=narrow leaves these out (make test), BOTTLENECK_SET=wide leaves the others out (make test-wide, of the tests
// that the Makefile names there); without it all run, as on older generations of PyTorch.
func Wide(t testing.TB, wide bool) {
	t.Helper()
	switch set := os.Getenv("BOTTLENECK_SET"); {
	case set == "narrow" && wide:
		t.Skip("make test-wide runs it")
	case set == "wide" && !wide:
		t.Skip("make test runs it")
	}
}
