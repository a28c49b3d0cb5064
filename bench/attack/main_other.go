//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bench/attack: limits, mounts and process trees are those of Linux")
	os.Exit(1)
}
