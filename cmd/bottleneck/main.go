// Command bottleneck answers why a Python or PyTorch program is slow, where, and how much fixing it would save.
package main

import (
	"context"
	"os"

	"bottleneck/internal/cli"
)

func main() {
	os.Exit(cli.Run(cli.Confined(context.Background()), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
