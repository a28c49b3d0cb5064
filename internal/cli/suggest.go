package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// didYouMean gives " (did you mean "x"?)" for the nearest of the known words, "" when none is near.
func didYouMean(got string, known []string) string {
	best, distance := "", 3
	for _, word := range known {
		if d := editDistance(strings.ToLower(got), strings.ToLower(word)); d < distance && d < len(word) {
			best, distance = word, d
		}
	}
	if best == "" {
		for _, word := range known {
			if len(got) > 1 && strings.HasPrefix(word, got) {
				best = word
				break
			}
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// editDistance counts insertions, deletions and substitutions between two short words.
func editDistance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

// oneOf refuses a flag's value that is not among the known ones.
func oneOf(flag, value string, known ...string) error {
	for _, k := range known {
		if k == value {
			return nil
		}
	}
	known = slices.DeleteFunc(slices.Clone(known), func(k string) bool { return k == "" })
	return usage("%s: unknown value %q%s; known: %s", flag, value, didYouMean(value, known), strings.Join(known, ", "))
}

// flagError turns cobra's message about a flag into a usage error with the nearest known flag.
func flagError(cmd *cobra.Command, err error) error {
	if words := cmd.Flags().Args(); !cmd.HasParent() && len(words) > 0 {
		return unknownCommand(cmd, words[0])
	}
	text := err.Error()
	var missing *pflag.NotExistError
	if errors.As(err, &missing) {
		if cmd.Name() == "run" && missing.GetSpecifiedName() == "c" {
			return usage("run: code on the command line is python's to take: `bottleneck run -- python -c CODE`")
		}
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		text += didYouMean(missing.GetSpecifiedName(), names)
	}
	return usage("%s: %s; see `%s --help`", cmd.Name(), text, cmd.CommandPath())
}

// unknownCommand is the error for a first word that is no command.
func unknownCommand(root *cobra.Command, word string) error {
	if _, err := os.Stat(word); err == nil || strings.HasSuffix(word, ".py") {
		command := "report"
		if strings.HasSuffix(word, ".py") {
			command = "run"
		}
		return usage("%q is no command; did you mean `bottleneck %s %s`?", word, command, word)
	}
	return usage("unknown command %q%s", word, didYouMean(word, commandNames(root)))
}
