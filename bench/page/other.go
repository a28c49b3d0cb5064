//go:build !linux

package main

func main() { println("bench-page: this measurement reads /proc and needs Linux") }
