//go:build !unix

package collect

import "errors"

// Become is not possible here: no process becomes another program.
func (c Command) Become([]string) error { return startError(c.Path, errors.ErrUnsupported) }

// Lacking says nothing here: there is no other way to start the program.
func Lacking(error) bool { return false }
