package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"bottleneck/internal/collect"
	"bottleneck/internal/record"
	"bottleneck/internal/view"
)

func newPackCommand(a *app) *cobra.Command {
	var output string
	var redact bool
	cmd := &cobra.Command{
		Use:   "pack [--redact] DIR",
		Short: "Make one file of a session, to send it",
		Long: "Makes one file of a session directory, which `bottleneck report` opens. With --redact, only what says nothing about\n" +
			"anybody stays: numbers, and names of PyTorch, of the standard library and of published packages. Every other text (paths,\n" +
			"hosts, command lines, names of the program's own functions, modules and regions, notes, metadata) is replaced, the same\n" +
			"text always by the same name. Program texts, exact calls and files that a session does not have are left out.",
		Example: "  bottleneck pack --redact bottleneck-out/train-20260131-120000",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("pack: name one session directory")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.pack(cmd.Context(), args[0], output, redact)
		},
	}
	cmd.Flags().BoolVar(&redact, "redact", false, "keep numbers and public names only; replace every other text")
	cmd.Flags().StringVarP(&output, "output", "o", "", "`FILE` to write (default: DIR"+record.PackSuffix+")")
	return cmd
}

func (a *app) pack(ctx context.Context, dir, output string, redact bool) error {
	if output == "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return unusable(fmt.Errorf("pack %s: %w", dir, err))
		}
		output = filepath.Base(abs) + record.PackSuffix
		if redact {
			output = "session" + record.PackSuffix
		}
	}
	a.confine(ctx, needs{inputs: []string{dir}, outputs: []string{output}, scratch: redact})
	var redactor *record.Redactor
	if redact {
		redactor = record.NewRedactor()
	}
	f, err := os.CreateTemp(filepath.Dir(output), ".bottleneck-pack-*")
	if err != nil {
		return unusable(fmt.Errorf("pack: %w", err))
	}
	defer os.Remove(f.Name()) // gone already when all went well
	left, err := record.Pack(ctx, f, dir, redactor)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), output)
	}
	if err != nil {
		return unusable(err)
	}
	if info, err := os.Stat(output); err == nil {
		fmt.Fprintf(a.stdout, "%s (%s)\n", view.Printable(output), collect.FormatBytes(info.Size()))
	}
	if len(left) > 0 {
		a.warn("left out of %s: %s", output, someOf(left))
	}
	return nil
}

// maxListed is how many names a message lists.
const maxListed = 8

// someOf joins names, the first ones of very many.
func someOf(names []string) string {
	if n := len(names) - maxListed; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), n)
	}
	return strings.Join(names, ", ")
}
