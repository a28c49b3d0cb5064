package record

import (
	"regexp"
	"sync"
)

// lazy compiles a regular expression when it is first used: few commands redact, and every one starts. The start of a process must also
// stay below the memory at which the Go runtime collects garbage, for which it takes threads that a limit may refuse.
func lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
