package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"bottleneck/internal/collect"
	"bottleneck/internal/record"
)

func newPackCommand(a *app) *cobra.Command {
	var output string
	var redact bool
	cmd := &cobra.Command{
		Use:   "pack [--redact] DIR",
		Short: "Make one file of a session, to send it",
		Long: "Makes one file of a session directory, which `bottleneck report` opens. With --redact, paths, host names, the command\n" +
			"line and values of environment variables are replaced, the same text always by the same name, and program texts\n" +
			"are left out. Names of functions, modules and operators stay.",
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
	cmd.Flags().BoolVar(&redact, "redact", false, "replace paths, host names, the command line and environment values")
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
	var redactor *record.Redactor
	var err error
	if redact {
		if redactor, err = record.NewRedactor(dir); err != nil {
			return unusable(err)
		}
	}
	f, err := os.CreateTemp(filepath.Dir(output), ".bottleneck-pack-*")
	if err != nil {
		return unusable(fmt.Errorf("pack: %w", err))
	}
	defer os.Remove(f.Name()) // gone already when all went well
	err = record.Pack(ctx, f, dir, redactor)
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
		fmt.Fprintf(a.stdout, "%s (%s)\n", output, collect.FormatBytes(info.Size()))
	}
	return nil
}

// unpackAll replaces packed sessions among paths by directories that cleanup removes.
func unpackAll(ctx context.Context, paths []string) (out []string, cleanup func(), err error) {
	var made []string
	cleanup = func() {
		for _, dir := range made {
			_ = os.RemoveAll(dir)
		}
	}
	for _, path := range paths {
		if !record.IsPacked(path) {
			out = append(out, path)
			continue
		}
		dir, err := os.MkdirTemp("", "bottleneck-unpacked-*")
		if err != nil {
			return nil, cleanup, unusable(fmt.Errorf("unpack %s: %w", path, err))
		}
		made = append(made, dir)
		session, err := record.Unpack(ctx, path, dir)
		if err != nil {
			return nil, cleanup, unusable(err)
		}
		out = append(out, session)
	}
	return out, cleanup, nil
}
