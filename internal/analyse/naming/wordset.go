package naming

import "sync"

// wordSet finds which of many lists of words occur in a text in one pass over it (Aho and Corasick, "Efficient string matching:
// an aid to bibliographic search", 1975). Names of kernels are long and a trace has thousands of them. Letters count in either case.
type wordSet struct {
	letter [256]uint8 // by byte: its column, 0 for bytes that no word has
	width  int
	next   []uint16 // by state and column
	found  []uint32 // by state: the lists that have a word which ends here, as bits
}

// newWordSet prepares at most 32 lists of lower-case words.
func newWordSet(lists [][]string) *wordSet {
	s := &wordSet{width: 1}
	for _, words := range lists {
		for _, w := range words {
			for i := range len(w) {
				if s.letter[w[i]] == 0 {
					s.letter[w[i]] = uint8(s.width)
					s.width++
				}
			}
		}
	}
	for c := byte('a'); c <= 'z'; c++ {
		s.letter[c-'a'+'A'] = s.letter[c]
	}
	s.next, s.found = make([]uint16, s.width), make([]uint32, 1)
	for list, words := range lists {
		for _, w := range words {
			s.insert(w, 1<<list)
		}
	}
	s.close()
	return s
}

// insert adds a word to the tree of words.
func (s *wordSet) insert(word string, bit uint32) {
	at := 0
	for i := range len(word) {
		cell := at*s.width + int(s.letter[word[i]])
		if s.next[cell] == 0 {
			s.next[cell] = uint16(len(s.found))
			s.next, s.found = append(s.next, make([]uint16, s.width)...), append(s.found, 0)
		}
		at = int(s.next[cell])
	}
	s.found[at] |= bit
}

// close turns the tree into an automaton: where a word goes no further, the longest end of what was read that begins another
// word is gone on with.
func (s *wordSet) close() {
	fail := make([]int, len(s.found))
	var queue []int
	for c := range s.width {
		if to := int(s.next[c]); to != 0 {
			queue = append(queue, to)
		}
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		s.found[at] |= s.found[fail[at]]
		for c := range s.width {
			cell, other := at*s.width+c, s.next[fail[at]*s.width+c]
			to := int(s.next[cell])
			if to == 0 {
				s.next[cell] = other
				continue
			}
			fail[to] = int(other)
			queue = append(queue, to)
		}
	}
}

// in says which lists have a word in the text, as bits.
func (s *wordSet) in(text string) uint32 {
	at, bits := 0, uint32(0)
	for i := range len(text) {
		at = int(s.next[at*s.width+int(s.letter[text[i]])])
		bits |= s.found[at]
	}
	return bits
}

// kernelWords are classWords, in their order, then tensorCoreWords and plainUnitWords.
var kernelWords = sync.OnceValue(func() *wordSet {
	lists := make([][]string, 0, len(classWords)+2)
	for _, c := range classWords {
		lists = append(lists, c.words)
	}
	return newWordSet(append(lists, tensorCoreWords, plainUnitWords))
})
