package record

import (
	"regexp"
	"strings"
)

// Hidden stands in place of a secret.
const Hidden = "***"

// secretWord matches names whose values are secrets.
var secretWord = regexp.MustCompile(`(?i)(password|passwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credential|auth(?:orization)?$|passphrase)`)

// secretValue matches values that are secrets whatever their name: tokens of well-known services, and passwords in URLs.
var secretValue = regexp.MustCompile(`^(hf_|sk-|ghp_|gho_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|eyJ)[A-Za-z0-9_\-.]{12,}$`)

// urlPassword matches the password of scheme://user:password@host.
var urlPassword = regexp.MustCompile(`(://[^/\s:@]+:)[^/\s@]+@`)

// counted are names that look like secrets and are numbers of tokens (of a language model).
var counted = regexp.MustCompile(`(?i)(max|num|n|min|total|new|pad|bos|eos|per|batch)[-_]?[a-z]*[-_]?tokens?|tokens?[-_]?(per|len|count|id|size|type)|tokeni[sz]er|tokens$`)

// RedactArguments is argv with the values that look like secrets replaced by Hidden: of flags named like one, of
// NAME=VALUE, tokens of well-known services, and passwords in URLs.
func RedactArguments(argv []string) []string {
	out := make([]string, len(argv))
	hideNext := false
	for i, arg := range argv {
		switch {
		case hideNext && !strings.HasPrefix(arg, "-"):
			out[i], hideNext = Hidden, false
		default:
			out[i], hideNext = redactArgument(arg)
		}
	}
	return out
}

// redactArgument hides the secret in one argument, or says that the next one is.
func redactArgument(arg string) (shown string, hideNext bool) {
	name, value, assigned := strings.Cut(arg, "=")
	if SecretName(name) {
		if assigned && value != "" {
			return name + "=" + Hidden, false
		}
		if !assigned && strings.HasPrefix(arg, "-") {
			return arg, true
		}
	}
	if secretValue.MatchString(arg) {
		return Hidden, false
	}
	if assigned && secretValue.MatchString(value) {
		return name + "=" + Hidden, false
	}
	return urlPassword.ReplaceAllString(arg, "${1}"+Hidden+"@"), false
}

// SecretName says whether a variable's or flag's name is that of a secret.
func SecretName(name string) bool {
	if strings.ContainsAny(name, " \t\n") || len(name) > 100 {
		return false
	}
	return secretWord.MatchString(name) && !counted.MatchString(name)
}
