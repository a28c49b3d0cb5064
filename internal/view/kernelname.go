package view

import "strings"

// ShortKernel makes a C++ kernel's name readable: without return type, template arguments and parameters, and with the last
// part of its namespace. Names of other forms stay as they are.
func ShortKernel(name string) string {
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
