//go:build !linux

package early

// Few is how many open files are so few that the launcher does without any.
const Few = 16

// Release has nothing to give back.
func Release() {}
