package pysource

import (
	"regexp"
	"slices"
	"strings"
)

// Call is a call that a line of Python makes: the dotted name that it is made on ("" for none, "?" for what an expression gives), its name,
// and the text of its arguments as far as the line holds them. Strings in it are "0".
type Call struct{ on, name, args string }

var (
	calledName = regexp.MustCompile(`(\.?[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)*)\s*\(`)
	// notCalled are words of Python that a bracket may follow.
	notCalled = []string{"and", "assert", "await", "elif", "for", "if", "in", "is", "lambda", "not", "or", "return",
		"while", "with", "yield"}
)

// callsIn are the calls of a line, in the order of their names. Strings, comments and the heads of functions hold none.
func callsIn(line string) []Call {
	text := withoutText([]string{line})[0]
	if innerHead.MatchString(strings.TrimSpace(text)) {
		return nil
	}
	var out []Call
	for _, m := range calledName.FindAllStringSubmatchIndex(text, -1) {
		c := Call{name: text[m[2]:m[3]], args: inBrackets(text[m[1]:])}
		if i := strings.LastIndexByte(c.name, '.'); i >= 0 {
			c.on, c.name = c.name[:i], c.name[i+1:]
			if text[m[2]] == '.' {
				c.on = "?" + c.on
			}
		}
		if c.on != "" || !slices.Contains(notCalled, c.name) {
			out = append(out, c)
		}
	}
	return out
}

// inBrackets is the text up to the bracket that closes one before it, or all of it.
func inBrackets(text string) string {
	open := 1
	for i, r := range text {
		if open += unclosed(string(r)); open == 0 {
			return text[:i]
		}
	}
	return text
}

// Does says that a line makes a call that a test chooses.
func Does(line string, is func(Call) bool) bool { return slices.ContainsFunc(callsIn(line), is) }

// method says that a call is one of the named ones, on something.
func (c Call) method(names ...string) bool { return c.on != "" && slices.Contains(names, c.name) }

// plain says that a call is one of the named ones, on nothing.
func (c Call) plain(names ...string) bool { return c.on == "" && slices.Contains(names, c.name) }

// OfLog says that a call hands something to a log: a method called log with something to write, which is no tensor's and none of PyTorch's
// or NumPy's mathematics, or one of an object or with a name in which "log" is a word.
func (c Call) OfLog() bool {
	if c.name == "log" {
		root, _, _ := strings.Cut(c.on, ".")
		return c.on != "" && c.args != "" && !slices.Contains([]string{"torch", "np", "numpy", "math", "cmath", "jnp"}, root)
	}
	words := strings.FieldsFunc(strings.ToLower(c.on+"."+c.name), func(r rune) bool { return r == '.' || r == '_' || r == '?' })
	return slices.ContainsFunc(words, func(w string) bool {
		return w == "log" || w == "logs" || w == "logger" || w == "logging"
	})
}

// Writes says that a call writes.
func (c Call) Writes() bool {
	return strings.HasPrefix(c.name, "write") || c.plain("print") || c.name == "flush" || c.name == "fsync"
}

// ReadsBack says that a line turns tensors into Python's own values, or hands them to a log.
func ReadsBack(line string) bool {
	return Does(line, func(c Call) bool {
		return c.method("item", "tolist", "numpy", "cpu", "add_histogram", "add_scalar", "add_scalars", "add_image",
			"log_dict", "log_metrics") ||
			c.plain("float", "print") || c.name == "log" && c.OfLog()
	})
}

// Accepts says that a line waits for somebody to ask for something.
func Accepts(line string) bool {
	return Does(line, func(c Call) bool {
		return c.method("accept", "serve_forever", "run_forever") || c.plain("serve_forever", "run_forever", "input")
	}) || slices.ContainsFunc(namesIn(withoutText([]string{line})[0]), func(name string) bool {
		return name == "stdin" || name == "sys.stdin" || strings.Contains(name, "stdin.")
	})
}

// blocks matches the arguments of a queue's get, which are none of a mapping's: nothing, or whether to wait and for how long.
var blocks = regexp.MustCompile(`^\s*($|(True|False|block|timeout)\b)`)

// AsksFor says that a line waits for what another thread or process hands over.
func AsksFor(line string) bool {
	return Does(line, func(c Call) bool {
		return c.on != "" && strings.HasPrefix(c.name, "recv") || c.method("result", "wait") ||
			c.method("get") && blocks.MatchString(c.args)
	})
}

// StartsCommand says that a line starts another program and waits for it.
func StartsCommand(line string) bool {
	return Does(line, func(c Call) bool {
		return c.on == "subprocess" || c.on == "os" && (c.name == "system" || c.name == "popen") ||
			c.plain("Popen", "check_output", "check_call", "getoutput") || c.method("communicate")
	})
}

// WaitsUpTo says that a line waits for another thread or process no longer than it says: get(timeout=t), get(True, t), wait(t).
func WaitsUpTo(line string) bool {
	return Does(line, func(c Call) bool {
		first, second, several := strings.Cut(c.args, ",")
		switch {
		case c.on == "" && c.name != "wait_for":
			return false
		case timeoutArgument.MatchString(c.args):
			return c.method("get", "put", "result", "wait", "join", "acquire", "poll", "wait_for")
		case c.method("get"):
			return several && blocks.MatchString(c.args) && strings.TrimSpace(second) != ""
		}
		return c.method("result", "wait", "poll") && strings.TrimSpace(first) != "" && !several || c.name == "wait_for" && several
	})
}

// timeoutArgument matches a time limit by its name.
var timeoutArgument = regexp.MustCompile(`\btimeout\s*=\s*[^\s=N]`)

// CollectsGarbage says that a line asks for a garbage collection.
func CollectsGarbage(line string) bool {
	return Does(line, func(c Call) bool { return c.name == "collect" && (c.on == "gc" || c.on == "" && c.args == "") })
}
