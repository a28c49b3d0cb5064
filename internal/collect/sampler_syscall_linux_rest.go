//go:build linux && !amd64

package collect

const sysSelect = -2 // newer architectures have pselect6 only
