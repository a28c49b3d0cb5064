//go:build !linux

package proc

// Permission is what decides whether this process may read another one.
type Permission struct {
	PtraceScope                                                    int
	Capable, Seccomp, SameUser, Kernel, Running, Ended, Descendant bool
}

// ReadPermission knows nothing here.
func ReadPermission(int) Permission { return Permission{PtraceScope: -1} }

// Advice says that this system is not supported.
func (Permission) Advice() string { return "processes can be read from outside on Linux only" }
