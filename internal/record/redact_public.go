package record

import (
	_ "embed"
	"strings"
)

//go:embed public.txt
var publicText string

// Words that may stay, by the sections of public.txt.
var (
	public          = readPublic(publicText)
	publicNames     = public.set("names")
	publicModules   = public.set("modules")
	publicOperators = public.set("operators")
	publicPackages  = public.set("packages")
	publicStandard  = public.set("library")
	publicFolders   = public.set("folders")
	publicLibraries = public.set("libraries")
	publicEndings   = public.set("endings")
	// Of a kernel's or operator's name that is not public these words stay, so that a redacted session has the same account of its time.
	kernelHints   = public["hints"]
	operatorHints = public["operator-hints"]
)

// sections are lists of words by name.
type sections map[string][]string

func (s sections) set(name string) map[string]bool { return words(strings.Join(s[name], " ")) }

func readPublic(text string) sections {
	all, section := sections{}, ""
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		list, _, _ := strings.Cut(line, " # ")
		for word := range strings.FieldsSeq(list) {
			if strings.HasPrefix(word, "[") {
				section = strings.Trim(word, "[]")
				continue
			}
			all[section] = append(all[section], word)
		}
	}
	return all
}

func words(text string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		out[word] = true
	}
	return out
}
