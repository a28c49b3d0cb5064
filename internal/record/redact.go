package record

import (
	"path/filepath"
	"strconv"
	"strings"
)

// Redactor makes a session that tells nothing about people, places and the program's own names. It knows what may stay, field by field
// (redact_rules.go): numbers, names of PyTorch, of the standard library and of published packages, and words of our own. Every other text
// becomes a kind and a number, the same text the same replacement everywhere, so that the report still joins what belongs together.
type Redactor struct {
	names  map[string]string // replacements by kind and text
	counts map[string]int
	quoted map[ruledText][]byte // what short texts became, as JSON
	rows   int                  // most that are copied of a file of lines
}

// ruledText is a text under the rule that says what of it may stay.
type ruledText struct {
	rule *rule
	text string
}

// Bounds of what is remembered: a file has millions of rows, but few different texts that are repeated.
const (
	maxQuoted     = 1 << 16
	maxQuotedText = 512
)

// quote is what a rule makes of a text, as JSON. Each text has one replacement, so that it can be remembered.
func (r *Redactor) quote(u *rule, text string) []byte {
	key := ruledText{u, text}
	if have, ok := r.quoted[key]; ok {
		return have
	}
	out := quote(replaced(r, u, text))
	if len(text) <= maxQuotedText && len(r.quoted) < maxQuoted {
		r.quoted[key] = out
	}
	return out
}

// replaced is what stays of a text.
func replaced(r *Redactor, u *rule, text string) string {
	if u == nil || u.text == nil || len(text) > maxRedactString {
		return ""
	}
	return u.text(r, text)
}

// NewRedactor makes a redactor for one session.
func NewRedactor() *Redactor {
	// so that readers say so
	return &Redactor{names: map[string]string{}, counts: map[string]int{}, quoted: map[ruledText][]byte{}, rows: MaxRows + 1}
}

// name is the replacement of a text: kind and a number.
func (r *Redactor) name(kind, text string) string {
	if text == "" {
		return ""
	}
	key := kind + "\x00" + text
	if have, ok := r.names[key]; ok {
		return have
	}
	r.counts[kind]++
	out := kind + strconv.Itoa(r.counts[kind])
	r.names[key] = out
	return out
}

// named makes a rule that replaces a whole text.
func named(kind string) func(*Redactor, string) string {
	return func(r *Redactor, s string) string { return r.name(kind, s) }
}

// matching makes a rule that keeps a text of a form; any other is replaced.
func matching(form, otherwise string) func(*Redactor, string) string {
	re := lazy(`^(?:` + form + `)$`)
	return func(r *Redactor, s string) string {
		if re().MatchString(s) {
			return s
		}
		return r.name(otherwise, s)
	}
}

// oneOf makes a rule that keeps some words.
func oneOf(list, otherwise string) func(*Redactor, string) string {
	known := words(list)
	return func(r *Redactor, s string) string {
		if known[s] {
			return s
		}
		return r.name(otherwise, s)
	}
}

var (
	interpreter  = lazy(`^python(\d(\.\d+)?t?)?$`)
	publicOption = words("-m -c -u -O -OO -I -E -s -S -B -X -W - torchrun accelerate deepspeed srun mpirun " +
		"torch.distributed.run torch.distributed.launch")
)

// argument replaces one argument of a command line. Interpreters, their own flags and launchers stay.
func (r *Redactor) argument(arg string) string {
	base := arg[strings.LastIndexAny(arg, `/\`)+1:]
	switch {
	case interpreter().MatchString(base), publicOption[base]:
		return base
	case strings.HasSuffix(arg, ".py"):
		file, _ := r.path(arg)
		return file
	}
	return r.name("argument", arg)
}

var (
	packageRoot = lazy(`[/\\](?:site-packages|dist-packages)[/\\]`)
	libraryRoot = lazy(`[/\\]lib(?:64)?[/\\]python\d(?:\.\d+)?t?[/\\]`)
	ownCode     = lazy(`[/\\](agent[/\\]sitecustomize\.py|_bneck_agent[/\\]\w+\.py)$`)
	versioned   = lazy(`^(python\d(\.\d+)?t?|[A-Za-z]:)$`)
	plainPart   = lazy(`^[\w.+-]{1,80}$`)
	noFile      = lazy(`^<(string|stdin|unknown|frozen [a-z_.]+|__array_function__ internals|eval_with_key)>(\.\d+)?$|^<bottleneck>/(_bneck_agent/)?\w+\.py$`)
	libraryName = lazy(`^([A-Za-z0-9_+-]+?)(-[0-9.]+)?((\.so|\.abi3|\.cpython-\d+[\w-]*|\.\d+)*)$`)
)

// path replaces a file's name and says whether the file is public: of PyTorch, of the standard library or of a published package, which are
// the same everywhere and keep their names from the library's own root on.
func (r *Redactor) path(p string) (string, bool) {
	switch {
	case p == "" || p == "~" || p == "[vdso]" || p == "??":
		return p, true
	case strings.HasPrefix(p, "<"):
		if noFile().MatchString(p) {
			return p, strings.HasPrefix(p, "<frozen ") || strings.HasPrefix(p, "<bottleneck>")
		}
		return "<" + r.name("text", p) + ">", false
	}
	if at := ownCode().FindStringIndex(p); at != nil {
		return "/" + r.folders(p[:at[0]], "/") + filepath.ToSlash(p[at[0]:]), true
	}
	roots := packageRoot().FindAllStringIndex(p, -1)
	if roots == nil {
		roots = libraryRoot().FindAllStringIndex(p, -1)
	}
	if roots != nil {
		root := roots[len(roots)-1]
		tail, known := r.library(p[root[1]:])
		return r.folders(p[:root[0]], p) + p[root[0]:root[1]] + tail, known
	}
	if top, _, nested := strings.Cut(p, "/"); publicPackages[top] || publicStandard[strings.TrimSuffix(p, ".py")] {
		if tail, known := r.library(p); known {
			return tail, true
		}
	} else if !nested && publicModules[strings.TrimSuffix(p, ".py")] {
		return p, false // a file alone may be the user's, of the same name
	}
	return r.ownPath(p), publicLibrary(p)
}

// library replaces the part of a path that follows a library's root.
func (r *Redactor) library(p string) (string, bool) {
	parts := strings.FieldsFunc(p, func(c rune) bool { return c == '/' || c == '\\' })
	if len(parts) == 0 {
		return "", false
	}
	known := publicModules[strings.TrimSuffix(parts[0], ".py")] || publicModules[strings.TrimSuffix(parts[0], ".libs")]
	for _, part := range parts {
		known = known && plainPart().MatchString(part)
	}
	if !known {
		return r.ownPath(p), publicLibrary(p)
	}
	return strings.Join(parts, "/"), true
}

// publicLibrary says whether a path ends in a program or shared library that everybody has.
func publicLibrary(p string) bool {
	m := libraryName().FindStringSubmatch(p[strings.LastIndexAny(p, `/\`)+1:])
	return m != nil && (publicLibraries[m[1]] || interpreter().MatchString(m[0]))
}

// folders replaces the directories of a path that is not public, with the separators of whole.
func (r *Redactor) folders(p, whole string) string {
	sep := "/"
	if strings.Contains(whole, `\`) && !strings.Contains(whole, "/") {
		sep = `\`
	}
	parts := strings.FieldsFunc(p, func(c rune) bool { return c == '/' || c == '\\' })
	for i, part := range parts {
		if !publicFolders[part] && !versioned().MatchString(part) {
			parts[i] = r.name("dir", part)
		}
	}
	out := strings.Join(parts, sep)
	if strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\`) {
		out = sep + out
	}
	return out
}

// ownPath replaces every part of a path, and its file's name but for the ending.
func (r *Redactor) ownPath(p string) string {
	cut := strings.LastIndexAny(p, `/\`) + 1
	base := p[cut:]
	if !publicLibrary(p) {
		ending := filepath.Ext(base)
		stem := strings.TrimSuffix(base, ending)
		if !publicEndings[ending] {
			stem, ending = base, ""
		}
		if stem != "__init__" && stem != "__main__" {
			base = r.name("file", stem) + ending
		}
	}
	if cut == 0 {
		return base
	}
	return strings.TrimRight(r.folders(p[:cut], p), `/\`) + p[cut-1:cut] + base
}

var packedFolder = lazy(`^(` + LauncherPrefix + `)?(.+)-(\d+-\d+)$`)

// FileName is the name of a session's file in a redacted one, "" for a file that is left out: program texts, exact calls (whose format
// mixes names and numbers), and everything that a session does not have. Folders are named after hosts.
func (r *Redactor) FileName(name string) string {
	folder, base, nested := strings.Cut(name, "/")
	if !nested {
		if ruleOf(name, true) == nil {
			return ""
		}
		return name
	}
	m := packedFolder().FindStringSubmatch(folder)
	if m == nil || strings.Contains(base, "/") || ruleOf(base, false) == nil && base != SamplesName {
		return ""
	}
	return m[1] + r.name("host", m[2]) + "-" + m[3] + "/" + base
}
