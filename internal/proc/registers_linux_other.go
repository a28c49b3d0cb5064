//go:build linux && !amd64 && !arm64

package proc

import "errors"

const (
	perfRegisters = 0
	numberSP      = 0
)

var perfNumbers []int

func stopped(int) (UserRegisters, error) {
	return UserRegisters{}, errors.New("registers of this processor are not known")
}
