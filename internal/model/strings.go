package model

// Strings interns strings: each distinct text once, addressed by a Str. The zero value is ready to use.
type Strings struct {
	texts []string
	index map[string]Str
}

// Intern returns the id of s, adding it if it is new.
func (t *Strings) Intern(s string) Str {
	t.init()
	if id, ok := t.index[s]; ok {
		return id
	}
	return t.add(s)
}

// InternBytes is Intern without a copy of b where the text is known already.
func (t *Strings) InternBytes(b []byte) Str {
	t.init()
	if id, ok := t.index[string(b)]; ok {
		return id
	}
	return t.add(string(b))
}

// Find returns the id of s; ok is false where it was never added.
func (t *Strings) Find(s string) (id Str, ok bool) {
	id, ok = t.index[s]
	return id, ok
}

// Text returns the string of an id, "" for one that does not exist.
func (t *Strings) Text(id Str) string {
	if int(id) >= len(t.texts) {
		return ""
	}
	return t.texts[id]
}

// Len is the number of distinct strings, the empty one included.
func (t *Strings) Len() int { t.init(); return len(t.texts) }

func (t *Strings) init() {
	if t.index == nil {
		t.texts, t.index = []string{""}, map[string]Str{"": 0}
	}
}

func (t *Strings) add(s string) Str {
	id := Str(len(t.texts))
	t.texts = append(t.texts, s)
	t.index[s] = id
	return id
}
