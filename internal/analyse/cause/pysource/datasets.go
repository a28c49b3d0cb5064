package pysource

import (
	"maps"
	"regexp"
	"slices"
)

var (
	classLine = regexp.MustCompile(`^class\s+(\w+)`)
	itemOf    = regexp.MustCompile(`\bself\.(\w+)\[`)
	// container are expressions that give a container of Python's objects; plain ones of numbers in one block are arrays.
	container = regexp.MustCompile(`^[\[{]|\b(?:list|dict|sorted|tuple|zip)\(|\.(?:readlines|split|splitlines|tolist|to_dict|to_list|read_text)\(|` +
		`\b(?:json|pickle|yaml|csv)\.\w+\(|\bglob\(|\blistdir\(`)
	array = regexp.MustCompile(`^(?:np|numpy|torch|pa|pyarrow)\.`)
)

// draws matches what gives something else in each epoch: random numbers, and names that stand for augmentations of samples.
var draws = regexp.MustCompile(`(?i)rand|normal_?\(|dropout|bernoulli|multinomial|shuffle|\bsample\(|choice|poisson|uniform|exponential_|` +
	`cauchy|augment|jitter|noise|crop|flip|epoch|\btime\(|perf_counter`)

// Draws says that the function around a line may give something else each time it is called, by its text; so may what stands in no
// function.
func (r *Reader) Draws(source []string, line int32) bool {
	u := r.unitOf(source)
	here := u.index(line)
	if here < 0 {
		return true
	}
	head := here
	if !defLine.MatchString(u.all[here].text) {
		if head = u.within[here]; head < 0 {
			return true
		}
	}
	for i := head; i < u.end(head); i++ {
		if draws.MatchString(u.all[i].text) {
			return true
		}
	}
	return false
}

// ItemsIn finds the statements that make the containers of Python's objects from which datasets take their items: in a class that has
// __getitem__, of what that indexes by self.NAME[…].
func ItemsIn(sources map[string][]string) (out []Kept) {
	for _, file := range slices.Sorted(maps.Keys(sources)) {
		k := &keepReader{file: file, all: statementsOf(sources[file])}
		for i := range k.all {
			if classLine.MatchString(k.all[i].text) {
				out = append(out, k.itemsOfClass(i, k.end(i))...)
			}
		}
	}
	return out
}

// itemsOfClass are those of one class, given by its head and its end.
func (k *keepReader) itemsOfClass(head, end int) (out []Kept) {
	indexed := map[string]bool{}
	for i := head + 1; i < end; i++ {
		if m := defLine.FindStringSubmatch(k.all[i].text); m != nil && (m[1] == "__getitem__" || m[1] == "__getitems__") {
			for j := i + 1; j < k.end(i); j++ {
				for _, name := range itemOf.FindAllStringSubmatch(k.all[j].text, -1) {
					indexed["self."+name[1]] = true
				}
			}
		}
	}
	for i := head + 1; i < end; i++ {
		m := gives.FindStringSubmatch(k.all[i].text)
		if m != nil && indexed[m[1]] && container.MatchString(m[2]) && !array.MatchString(m[2]) {
			out = append(out, Kept{File: k.file, Line: k.all[i].at, Text: k.all[i].text, Target: m[1], What: Objects})
		}
	}
	return out
}
