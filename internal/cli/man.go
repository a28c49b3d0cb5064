package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newManCommand writes the man pages for packages; hidden, because users have --help.
func newManCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write man pages into DIR",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return unusable(fmt.Errorf("write man pages: %w", err))
			}
			return writeManTree(cmd.Root(), args[0])
		},
	}
}

func writeManTree(cmd *cobra.Command, dir string) error {
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	if err := os.WriteFile(filepath.Join(dir, name+".1"), []byte(manPage(cmd)), 0o644); err != nil {
		return unusable(fmt.Errorf("write man page: %w", err))
	}
	for _, sub := range cmd.Commands() {
		if sub.Hidden || !sub.IsAvailableCommand() {
			continue
		}
		if err := writeManTree(sub, dir); err != nil {
			return err
		}
	}
	return nil
}

// manPage writes one command's page in man(7)'s macros.
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"bottleneck\"\n", strings.ToUpper(name))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	if cmd.Long != "" {
		fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", roff(cmd.Long))
	}
	if cmd.HasAvailableFlags() {
		b.WriteString(".SH OPTIONS\n")
		cmd.Flags().VisitAll(func(f *pflag.Flag) { manFlag(&b, f) })
		cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { manFlag(&b, f) })
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	var also []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && !sub.Hidden {
			also = append(also, ".BR "+roff(name+"-"+sub.Name())+" (1)")
		}
	}
	if cmd.HasParent() {
		also = append(also, ".BR "+roff(strings.ReplaceAll(cmd.Parent().CommandPath(), " ", "-"))+" (1)")
	}
	if len(also) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(also, ",\n"))
	}
	return b.String()
}

func manFlag(b *strings.Builder, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	value, text := pflag.UnquoteUsage(f)
	names := "\\-\\-" + roff(f.Name)
	if f.Shorthand != "" {
		names = "\\-" + f.Shorthand + ", " + names
	}
	fmt.Fprintf(b, ".TP\n\\fB%s\\fR", names)
	if value != "" {
		fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
	}
	fmt.Fprintf(b, "\n%s\n", roff(text))
}

// roff escapes what roff would take as its own.
func roff(s string) string {
	s = strings.ReplaceAll(s, `\`, `\e`)
	s = strings.ReplaceAll(s, "-", `\-`)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
