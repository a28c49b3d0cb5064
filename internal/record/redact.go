package record

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Redactor replaces what tells about people and places in a session: host names, directories and file names outside of
// libraries, command lines, and values of environment variables. The same text becomes the same replacement everywhere
// in one session, so that the report still joins what belongs together. Names of functions and operators stay.
type Redactor struct {
	hosts  *strings.Replacer
	names  map[string]string // replacements by kind and text
	counts map[string]int
}

// NewRedactor learns a session's host names and users.
func NewRedactor(dir string) (*Redactor, error) {
	launchers, processes, err := Folders(dir)
	if err != nil {
		return nil, err
	}
	r := &Redactor{names: map[string]string{}, counts: map[string]int{}}
	hosts := map[string]bool{}
	if m, err := ReadManifest(dir); err == nil {
		hosts[m.Host] = true
	}
	for _, folder := range slices.Concat(launchers, processes) {
		var known struct {
			Host string `json:"host"`
		}
		for _, name := range []string{LauncherName, ProcessName} {
			if ReadJSON(filepath.Join(folder, name), &known) == nil {
				hosts[known.Host] = true
			}
		}
	}
	r.learnHosts(hosts)
	return r, nil
}

// learnHosts prepares the replacement of host names inside of longer texts, longest first.
func (r *Redactor) learnHosts(hosts map[string]bool) {
	var list []string
	for host := range hosts {
		if host != "" {
			list = append(list, host)
		}
	}
	slices.SortFunc(list, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	var pairs []string
	for _, host := range list {
		if len(host) > 3 { // shorter ones would hit words; whole values are replaced by key
			pairs = append(pairs, host, r.name("host", host))
		}
	}
	r.hosts = strings.NewReplacer(pairs...)
}

// name is the replacement of a text: kind and a number.
func (r *Redactor) name(kind, text string) string {
	key := kind + "\x00" + text
	if have, ok := r.names[key]; ok {
		return have
	}
	r.counts[kind]++
	out := kind + strconv.Itoa(r.counts[kind])
	r.names[key] = out
	return out
}

// pathToken matches an absolute path, or a relative name of a Python file, after the beginning or a separator (group 1).
var pathToken = regexp.MustCompile(`(^|[\s"'<>|;:,(){}\[\]=])((?:[A-Za-z]:\\|/)[^\s"'<>|;:,(){}\[\]=]+|[^\s"'<>|;:,(){}\[\]=/\\]+(?:[/\\][^\s"'<>|;:,(){}\[\]=/\\]+)*\.pyx?\b)`)

// Text replaces hosts and paths inside of a text.
func (r *Redactor) Text(s string) string {
	if strings.ContainsAny(s, `/\`) || strings.Contains(s, ".py") {
		s = pathToken.ReplaceAllStringFunc(s, func(token string) string {
			at := pathToken.FindStringSubmatchIndex(token)
			return token[:at[4]] + r.path(token[at[4]:])
		})
	}
	return r.hosts.Replace(s)
}

// public are directory names that say nothing about anybody.
var public = map[string]bool{"": true, "usr": true, "lib": true, "lib64": true, "bin": true, "local": true, "opt": true, "tmp": true,
	"home": true, "root": true, "dev": true, "shm": true, "proc": true, "sys": true, "self": true, "var": true, "etc": true, ".": true, "..": true}

// libraryRoot matches where the public part of a library's path begins.
var libraryRoot = regexp.MustCompile(`[/\\](?:site-packages|dist-packages|lib[/\\]python\d[^/\\]*)[/\\]`)

// path replaces each directory of a path, and its file name but for the ending. What lies in a library keeps its name from
// the library's own root on, since that is the same everywhere.
func (r *Redactor) path(p string) string {
	tail := ""
	if at := libraryRoot.FindStringIndex(p); at != nil {
		p, tail = p[:at[0]], p[at[0]:]
	}
	sep := "/"
	if strings.Contains(p, `\`) {
		sep = `\`
	}
	parts := strings.Split(p, sep)
	for i, part := range parts {
		last := i == len(parts)-1 && tail == ""
		switch {
		case public[part], strings.HasSuffix(part, ":"):
		case last && filepath.Ext(part) != "" && len(filepath.Ext(part)) <= 6:
			ext := filepath.Ext(part)
			if base := strings.TrimSuffix(part, ext); base != "__init__" && base != "__main__" {
				parts[i] = r.name("file", base) + ext
			}
		case strings.HasPrefix(part, "python"):
		default:
			parts[i] = r.name("dir", part)
		}
	}
	return strings.Join(parts, sep) + tail
}

// argument replaces one argument of a command line. Interpreters, flags' names and numbers stay.
func (r *Redactor) argument(arg string) string {
	base := filepath.Base(arg)
	if strings.HasPrefix(base, "python") || base == "torchrun" || base == "accelerate" {
		return base
	}
	if _, err := strconv.ParseFloat(arg, 64); err == nil {
		return arg
	}
	if name, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
		return name + "=" + r.argument(value)
	}
	if strings.HasPrefix(arg, "-") && !strings.ContainsAny(arg, "/ ") {
		return arg
	}
	if strings.HasSuffix(arg, ".py") {
		return r.path(arg)
	}
	return r.name("argument", arg)
}

// keyed are JSON keys whose values are replaced as a whole, with the kind of replacement; "argument" is for lists of
// arguments, "value" for maps of environment variables.
var keyed = map[string]string{
	"host": "host", "hostname": "host", "nodename": "host", "Host": "host",
	"command": "argument", "argv": "argument", "arguments": "argument", "program": "argument",
	"thread_settings": "setting", "threads_env": "setting", "flags": "setting", "metadata": "setting",
	"job": "job",
}

// document redacts a whole JSON document (manifest, launcher, process).
func (r *Redactor) document(text []byte) ([]byte, error) {
	var doc map[string]any
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	if err := decoder.Decode(&doc); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	out, _ := r.value("", doc).(map[string]any)
	if _, isManifest := out["job"]; isManifest {
		out["redacted"] = true
	}
	return json.MarshalIndent(out, "", " ")
}

// value redacts one value of a document, by the key that it stands under.
func (r *Redactor) value(kind string, v any) any {
	switch x := v.(type) {
	case string:
		return r.byKind(kind, x)
	case []any:
		for i := range x {
			x[i] = r.value(kind, x[i])
		}
	case map[string]any:
		for key, inner := range x {
			k := kind
			if own, ok := keyed[key]; ok {
				k = own
			}
			x[key] = r.value(k, inner)
		}
	}
	return v
}

func (r *Redactor) byKind(kind, s string) string {
	switch {
	case s == "":
		return s
	case kind == "host", kind == "job":
		return r.name(kind, s)
	case kind == "argument":
		return r.argument(s)
	case kind == "setting":
		if _, err := strconv.ParseFloat(s, 64); err == nil || s == "true" || s == "false" {
			return s // numbers of threads are what the report is about
		}
		return r.name("value", s)
	}
	return r.Text(s)
}

// FileName redacts the name of a file inside a session: folders are named after hosts.
func (r *Redactor) FileName(name string) string {
	folder, rest, nested := strings.Cut(name, "/")
	if !nested {
		return name
	}
	prefix := ""
	if strings.HasPrefix(folder, LauncherPrefix) {
		prefix, folder = LauncherPrefix, strings.TrimPrefix(folder, LauncherPrefix)
	}
	if parts := strings.Split(folder, "-"); len(parts) >= 3 {
		host := strings.Join(parts[:len(parts)-2], "-")
		folder = r.name("host", host) + "-" + strings.Join(parts[len(parts)-2:], "-")
	}
	return prefix + folder + "/" + rest
}

// temporary makes the file that redacted content is collected in; the caller removes it.
func temporary() (*os.File, error) { return os.CreateTemp("", "bottleneck-redact-*") }
