//go:build !linux

package confine

// Apply does nothing here.
func Apply(Access) error { return nil }

// Enforced is nothing here.
func Enforced() Enforcement { return Enforcement{} }
