package report

import (
	"slices"
	"strings"
)

// entryKernels are the kernels that libraries instantiate with what is to run: their argument says more than they do.
var entryKernels = []string{"device_kernel", "Kernel", "Kernel2", "kernel", "kentry"}

// ShortKernel makes a C++ kernel's name readable: without return type, template arguments and parameters, and with the last
// part of its namespace; of a library's entry point, what it was instantiated with. Names of other forms stay as they are.
func ShortKernel(name string) string {
	if strings.HasPrefix(name, "_ZN") {
		return shortMangled(name)
	}
	short := shortName(name)
	if slices.Contains(entryKernels, short) {
		if inner := firstArgument(name); inner != "" {
			return inner
		}
	}
	return short
}

// firstArgument is the first template argument of a kernel's name, as the last two parts of its namespace; "" where it is no name.
func firstArgument(name string) string {
	_, args, ok := strings.Cut(name, "<")
	if !ok {
		return ""
	}
	end := strings.IndexAny(args, "<,>")
	if end <= 0 || args[0] >= '0' && args[0] <= '9' {
		return ""
	}
	parts := strings.Split(strings.TrimSpace(args[:end]), "::")
	return strings.Join(parts[max(len(parts)-2, 0):], "::")
}

// shortMangled reads the parts of a mangled name (Itanium C++ ABI, nested names: each part after its length) and gives the last; of a
// library's entry point, the first name in its arguments that is called a kernel, else the first long one.
func shortMangled(name string) string {
	var parts []string
	rest := name[len("_ZN"):]
	for {
		part, after, ok := mangledPart(rest)
		if !ok {
			break
		}
		parts, rest = append(parts, part), after
	}
	if len(parts) == 0 {
		return name
	}
	short := parts[len(parts)-1]
	if !slices.Contains(entryKernels, short) {
		return short
	}
	entry := short
	for at := 0; at < len(rest); at++ {
		part, after, ok := mangledPart(rest[at:])
		if !ok {
			continue
		}
		if strings.HasSuffix(part, "Kernel") {
			return part
		}
		if short == entry && len(part) > 8 {
			short = part
		}
		at = len(rest) - len(after) - 1
	}
	return short
}

// mangledPart reads a name after its length, as in "3foo".
func mangledPart(s string) (part, rest string, ok bool) {
	n, digits := 0, 0
	for digits < len(s) && digits < 4 && s[digits] >= '0' && s[digits] <= '9' {
		n = n*10 + int(s[digits]-'0')
		digits++
	}
	if n == 0 || digits+n > len(s) {
		return "", "", false
	}
	return s[digits : digits+n], s[digits+n:], true
}

// shortName is a name without what brackets hold, and the last part of its namespace.
func shortName(name string) string {
	short := strings.TrimSpace(dropBrackets(name))
	short = strings.TrimPrefix(short, "void ")
	if i := strings.LastIndexByte(short, ' '); i >= 0 && strings.Contains(short[i:], "::") {
		short = short[i+1:]
	}
	if i := strings.LastIndex(short, "::"); i >= 0 {
		short = short[i+2:]
	}
	if short == "" {
		return name
	}
	return short
}

// dropBrackets removes what stands in <…> and (…), nested; "(anonymous namespace)" and operators such as "operator<" survive
// as far as their brackets match. Names whose brackets do not match are returned whole.
func dropBrackets(s string) string {
	var out strings.Builder
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '<', '(', '[':
			depth++
		case '>', ')', ']':
			if depth--; depth < 0 {
				return s
			}
		default:
			if depth == 0 {
				out.WriteByte(c)
			}
		}
	}
	if depth != 0 {
		return s
	}
	return out.String()
}
