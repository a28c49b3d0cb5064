package cli

import (
	"path/filepath"
	"slices"
	"strings"
)

// interpreterFlags are an interpreter's own flags, those before the script: letters, those with a value with it ("Ximporttime").
func interpreterFlags(argv []string) (flags []string) {
	if len(argv) == 0 || !strings.Contains(filepath.Base(argv[0]), "python") {
		return nil
	}
	for i := 1; i < len(argv) && strings.HasPrefix(argv[i], "-") && !strings.HasPrefix(argv[i], "--"); i++ {
		letters, value := argv[i][1:], ""
		end := strings.IndexAny(letters, "cmWX") // these take a value, joined or as the next argument
		if end >= 0 {
			letters, value = letters[:end+1], letters[end+1:]
			if value == "" && i+1 < len(argv) {
				i++
				value = argv[i]
			}
		}
		flags = append(flags, strings.Split(letters, "")...)
		if end >= 0 {
			flags[len(flags)-1] += value
			if letters[end] == 'c' || letters[end] == 'm' {
				break // the program begins
			}
		}
	}
	return flags
}

// isolated says whether an interpreter's own flags hold -I, -E or -S.
func isolated(argv []string) bool {
	return slices.ContainsFunc(interpreterFlags(argv), func(flag string) bool { return flag == "I" || flag == "E" || flag == "S" })
}

// printsImports says whether Python is to print each import with its time, the agent's, too.
func printsImports(argv, env []string) bool {
	if slices.ContainsFunc(interpreterFlags(argv), func(flag string) bool { return strings.HasPrefix(flag, "Ximporttime") }) {
		return true
	}
	return slices.ContainsFunc(env, func(entry string) bool {
		value, ok := strings.CutPrefix(entry, "PYTHONPROFILEIMPORTTIME=")
		return ok && value != ""
	})
}
