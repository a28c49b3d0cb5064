//go:build unix && !linux

package collect

import "runtime"

// rusageUnit is the unit of ru_maxrss in bytes: bytes on Darwin, KiB on the BSDs.
var rusageUnit = map[bool]int64{true: 1, false: 1024}[runtime.GOOS == "darwin"]
