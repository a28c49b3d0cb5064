//go:build !linux

// Command diff measures on Linux only.
package main

import "fmt"

func main() { fmt.Println("bench/diff measures on Linux only") }
