package cpython

import (
	"testing"

	"bottleneck/internal/proc"
)

// TestOtherPythonFirst: a process that maps PyPy's library is PyPy, whether the system put libpython before or behind it.
func TestOtherPythonFirst(t *testing.T) {
	pypy, library, exe := proc.Mapping{Path: "/opt/lib/libpypy3.11-c.so"}, proc.Mapping{Path: "/usr/lib/libpython3.12.so.1.0"},
		proc.Mapping{Path: "/usr/bin/python3"}
	for _, maps := range []proc.Maps{{pypy, library, exe}, {exe, library, pypy}, {library, pypy, exe}} {
		got := candidates(maps, exe.Path)
		if len(got) != 3 || got[0].Path != pypy.Path || got[1].Path != library.Path {
			t.Errorf("of %v they are %v", maps, got)
		}
	}
}
