package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bottleneck/internal/early"
	"bottleneck/internal/view"
)

// Exit codes of commands other than run.
const (
	exitNo       = 1 // the answer is "no"
	exitUsage    = 2
	exitUnusable = 3
	// exitInterrupted is a shell's status of a command that Ctrl-C ended.
	exitInterrupted = 130
)

// app is what every command shares.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	color          string // --color: auto, always, never
	verbose        bool
	archives       []string // directories that packed sessions are in now, each followed by its archive
	result         *output  // standard output of one of resultCommands
	afterwards     func()   // run last of all, for example to end by the program's signal
}

// commands make the subcommands, in the order of the help text.
var commands = []func(*app) *cobra.Command{
	newRunCommand, newReportCommand, newViewCommand, newExportCommand, newAttachCommand, newTopCommand, newDumpCommand,
	newDoctorCommand, newEnvCommand, newWhatIfCommand, newIsolateCommand, newDiffCommand, newABCommand, newProveCommand, newGateCommand,
	newPackCommand, newManCommand,
}

// resultCommands write a result to standard output and start no program that inherits it.
var resultCommands = []string{"report", "export", "what-if", "pack"}

// exitError carries an exit code; a nil err prints nothing.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

func unusable(err error) error { return &exitError{exitUnusable, err} }

// Run executes one command line (without the program's name) and returns the exit status.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := newRootCommand(a)
	root.SetArgs(protectModule(args))
	err := root.ExecuteContext(ctx)
	code := a.status(err)
	if a.afterwards != nil {
		a.afterwards()
	}
	return code
}

// status prints an error as one line and gives its exit code; what cobra refuses is a usage error.
func (a *app) status(err error) int {
	if a.result != nil && a.result.err != nil {
		err = unusable(fmt.Errorf("the output cannot be written: %w", cause(a.result.err)))
	}
	if err == nil {
		return 0
	}
	code := exitUsage
	var ee *exitError
	if errors.As(err, &ee) {
		code = ee.code
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(a.stderr, "bottleneck: %s\n", terminalLines(a.message(strings.TrimRight(text, "\n"))))
	}
	return code
}

func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "bottleneck",
		Short: "Why is this PyTorch program slow, where, and how much would fixing it save?",
		Long: "bottleneck runs or watches a Python program, finds why it is slow, says where, and how much fixing it would save.\n" +
			"It also reads traces that others recorded. Commands that only read give up all files but theirs, starting programs and the\n" +
			"network before they read the first byte, as far as the system can enforce it; doctor says whether it can.",
		Example: "  bottleneck run train.py --epochs 1\n" +
			"  bottleneck run -- torchrun --nproc-per-node 8 train.py\n" +
			"  bottleneck report traces/",
		Version:           Version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
		Args: cobra.ArbitraryArgs,
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, err) })
	root.PersistentFlags().StringVar(&a.color, "color", "auto", "colours: `WHEN` = auto, always or never (NO_COLOR is respected)")
	root.PersistentFlags().BoolVarP(&a.verbose, "verbose", "v", false, "say where each number comes from")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Name() != "run" { // which may do without files
			early.Release()
		}
		if slices.Contains(resultCommands, cmd.Name()) {
			a.result = &output{w: a.stdout}
			a.stdout = a.result
		}
		return oneOf("--color", a.color, "auto", "always", "never")
	}
	for _, make := range commands {
		root.AddCommand(make(a))
	}
	return root
}

func commandNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}

// useColor decides whether what goes to w is coloured.
func (a *app) useColor(w io.Writer) bool {
	switch a.color {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

// terminalLines is a message whose every line is safe for a terminal: it may hold names of files and texts of a program.
func terminalLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = view.Printable(lines[i])
	}
	return strings.Join(lines, "\n")
}

// warn prints one line about something that is missing.
func (a *app) warn(format string, args ...any) {
	fmt.Fprintf(a.stderr, "bottleneck: %s\n", terminalLines(a.message(fmt.Sprintf(format, args...))))
}
