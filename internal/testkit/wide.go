package testkit

import (
	"hash/fnv"
	"os"
	"strings"
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

// Rest leaves a case out of both sets, and of .ci/run, which has no time for it: a command of its own runs it.
func Rest(t testing.TB, rest bool, command string) {
	t.Helper()
	if rest && os.Getenv("BOTTLENECK_SET") != "" {
		t.Skip(command + " runs it")
	}
}

// Shared leaves a test, or the case of that name, out on one of the two builds of PyTorch 1.13, pip's and Debian's, where .ci/run asks for
// it with BOTTLENECK_SET=shared: each of them takes half, told by a hash of the name. `make test-generations` runs all on both.
func Shared(t testing.TB, generation, name string) {
	t.Helper()
	half, ok := map[string]uint32{"torch-1.13": 0, "torch-debian": 1}[generation]
	if !ok || os.Getenv("BOTTLENECK_SET") != "shared" {
		return
	}
	if name == "" {
		name, _, _ = strings.Cut(t.Name(), "/")
	}
	hash := fnv.New32a()
	hash.Write([]byte(name))
	if hash.Sum32()%2 != half {
		t.Skip("the other build of this PyTorch runs it")
	}
}
