package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bottleneck/internal/collect"
)

// protectModule lets `run -m MODULE ARGS…` end our flags at MODULE, as python -m does: it puts "--" behind MODULE, since
// flag parsers go on after a flag's value. Other command lines come back as they are.
func protectModule(args []string) []string {
	i := 0
	for i < len(args) && strings.HasPrefix(args[i], "-") {
		if args[i] == "--color" {
			i++
		}
		i++
	}
	if i >= len(args) || args[i] != "run" {
		return args
	}
	flags := newRunCommand(&app{}).Flags()
	flags.StringP("color", "", "", "") // inherited from the root command
	flags.BoolP("verbose", "v", false, "")
	for i++; i < len(args) && strings.HasPrefix(args[i], "-") && args[i] != "--" && args[i] != "-"; i++ {
		name, module, takesNext := flagAt(flags, args[i])
		if module {
			end := i + 1
			if takesNext {
				end++
			}
			if end > len(args) {
				return args
			}
			return append(append(append([]string{}, args[:end]...), "--"), args[end:]...)
		}
		if name == "" {
			return args // unknown flag: the parser says so
		}
		if takesNext {
			i++
		}
	}
	return args
}

// flagAt looks up the flag that an argument is, whether it is -m, and whether the next argument is its value.
func flagAt(flags *pflag.FlagSet, arg string) (name string, module, takesNext bool) {
	if long, ok := strings.CutPrefix(arg, "--"); ok {
		long, _, valued := strings.Cut(long, "=")
		f := flags.Lookup(long)
		if f == nil {
			return "", false, false
		}
		return f.Name, f.Name == "module", !valued && f.NoOptDefVal == ""
	}
	for j := 1; j < len(arg); j++ { // grouped short flags: the last may take a value
		f := flags.ShorthandLookup(arg[j : j+1])
		if f == nil {
			return "", false, false
		}
		if f.NoOptDefVal == "" {
			return f.Name, f.Name == "module", j == len(arg)-1
		}
		name = f.Name
	}
	return name, false, false
}

// target makes the program to run of run's flags and arguments.
func (o *runOptions) target(cmd *cobra.Command, args []string) (collect.Target, error) {
	dash := cmd.ArgsLenAtDash()
	switch {
	case o.module != "":
		if dash > 0 || dash < 0 && len(args) > 0 {
			return collect.Target{}, usage("run: -m MODULE and SCRIPT exclude each other")
		}
		return collect.Target{Kind: collect.TargetModule, Python: o.python, Name: o.module, Args: args}, nil
	case len(args) == 0:
		return collect.Target{}, usage("run: what to run is missing: SCRIPT, -m MODULE or -- COMMAND")
	case dash == 0:
		if o.python != "" {
			return collect.Target{}, usage("run: --python is for SCRIPT and -m; after -- comes a whole command")
		}
		return collect.Target{Kind: collect.TargetCommand, Name: args[0], Args: args[1:]}, nil
	}
	return collect.Target{Kind: collect.TargetScript, Python: o.python, Name: args[0], Args: args[1:]}.Meant(), nil
}
