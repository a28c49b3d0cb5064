package record

import (
	"strings"
)

// Hidden stands in place of a secret.
const Hidden = "***"

// The agent has the same rule for what it writes (py/_bneck_agent/secrets.py); testdata/secrets.json is the table of both.

// secretWord matches names whose values are secrets.
var secretWord = lazy(`(?i)(password|passwd|passw|pwd|secret|token|api[-_]?key|access[-_]?key|account[-_]?key|private[-_]?key|credential|` +
	`(^|[-_.])auth$|authorization$|passphrase|signature$|[-_]sig$)`)

// counted are names that look like secrets and are numbers of tokens (of a language model).
var counted = lazy(`(?i)(max|num|n|min|total|new|pad|bos|eos|per|batch)[-_]?[a-z]*[-_]?tokens?|tokens?[-_]?(per|len|count|id|size|type)|` +
	`tokeni[sz]er|tokens$`)

// secretValue matches tokens of well-known services, wherever they stand.
var secretValue = lazy(
	`(^|[^A-Za-z0-9])(?:hf_[A-Za-z0-9]{12,}|sk-[A-Za-z0-9_\-]{16,}|[rs]k_(?:live|test)_[A-Za-z0-9]{12,}|gh[opsur]_[A-Za-z0-9]{12,}|` +
		`github_pat_[A-Za-z0-9_]{12,}|glpat-[A-Za-z0-9_\-]{12,}|xox[abeprs]-[A-Za-z0-9\-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{12,}|eyJ[A-Za-z0-9_\-.]{12,}|` +
		`AIza[A-Za-z0-9_\-]{30,}|ya29\.[A-Za-z0-9_\-]{12,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_\-]{30,}|nvapi-[A-Za-z0-9_\-]{20,}|gsk_[A-Za-z0-9]{20,}|` +
		`dckr_pat_[A-Za-z0-9_\-]{12,}|r8_[A-Za-z0-9]{20,})`)

// privateKey begins a key in PEM's form.
var privateKey = lazy(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)

// urlPassword matches the password of scheme://user:password@host, up to the last @ before the path.
var urlPassword = lazy(`(://[^/\s:@"']*:)[^/\s"']+@`)

// assigned matches a name that something is assigned to in text: name=, "name": , --header 'Name: '.
var assigned = lazy(`([A-Za-z0-9_.\-]{1,100})["']?\s?[:=]\s?`)

// assignedValue matches what is assigned there, from its beginning.
var assignedValue = lazy(`^(?:(?i:bearer|basic|token)\s+)?(?:"[^"]*"|'[^']*'|[^\s,;&"')}\]]+)`)

// RedactArguments is argv with the values that look like secrets replaced by Hidden: of flags and names like one, tokens of well-known
// services, and passwords in URLs.
func RedactArguments(argv []string) []string {
	out := make([]string, len(argv))
	hide := false
	for i, arg := range argv {
		if hide && !strings.HasPrefix(arg, "-") {
			out[i], hide = Hidden, false
			continue
		}
		hide = strings.HasPrefix(arg, "-") && SecretName(arg)
		out[i] = RedactText(arg)
	}
	return out
}

// RedactText is text with what looks like a secret in it replaced by Hidden.
func RedactText(text string) string {
	name, value, found := strings.Cut(text, "=")
	if found && value != "" && SecretName(name) {
		return name + "=" + Hidden
	}
	if privateKey().MatchString(text) {
		return Hidden
	}
	text = urlPassword().ReplaceAllString(text, "${1}"+Hidden+"@")
	return secretValue().ReplaceAllString(redactAssigned(text), "${1}"+Hidden)
}

// redactAssigned hides the values that stand behind secrets' names within a text, such as a query, a header or a line of code.
func redactAssigned(text string) string {
	var b strings.Builder
	done := 0
	for _, m := range assigned().FindAllStringSubmatchIndex(text, -1) {
		if m[0] < done || !SecretName(text[m[2]:m[3]]) {
			continue
		}
		if value := assignedValue().FindStringIndex(text[m[1]:]); value != nil {
			b.WriteString(text[done:m[1]])
			b.WriteString(Hidden)
			done = m[1] + value[1]
		}
	}
	b.WriteString(text[done:])
	return b.String()
}

// SecretName says whether a variable's or flag's name is that of a secret.
func SecretName(name string) bool {
	if strings.ContainsAny(name, " \t\n") || len(name) > 100 {
		return false
	}
	return secretWord().MatchString(name) && !counted().MatchString(name)
}
