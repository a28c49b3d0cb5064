package main

import (
	"fmt"
	"os"
)

// attackTrace changes a file of some format, packs it in some way, and asks about it.
func attackTrace(t *try) {
	kinds := t.kinds()
	names := sortedKeys(kinds)
	of := kinds[names[t.number%len(names)]]
	in := of[t.rng.IntN(len(of))]
	t.say("%s", in.name)
	text, how := t.changed(in.text)
	t.say("%s", how)
	t.unpacked = int64(len(text))
	data, name := t.wrapped(text, in)
	path := t.path("in/" + name)
	t.must(os.WriteFile(path, data, 0o644))
	switch t.rng.IntN(12) {
	case 0: // beside others, as ranks
		t.must(os.WriteFile(t.path("in/other.json"), of[t.rng.IntN(len(of))].text, 0o644))
		t.drive(2, t.path("in"))
	case 1:
		t.drive(2, path, path)
	case 2:
		t.piped(data)
	default:
		t.drive(3, path)
	}
}

// changed changes bytes or structure.
func (t *try) changed(text []byte) ([]byte, string) {
	switch t.rng.IntN(5) {
	case 0, 1:
		if out, ok := restructure(t.rng, text); ok {
			if t.rng.IntN(4) == 0 {
				return mutate(t.rng, out), "thinned and bytes changed"
			}
			return out, "thinned"
		}
	}
	return mutate(t.rng, text), "bytes changed"
}

// wrapped packs a text as it may come.
func (t *try) wrapped(text []byte, in input) (data []byte, name string) {
	data, name = text, "changed"
	switch t.rng.IntN(10) {
	case 0, 1, 2:
	case 3:
		data, name = zstded(text), "changed.zst"
	case 4:
		data, name = zipped(member{name: "a/rank0.json", text: text}, member{name: "b.json.gz", text: gzipped(in.text)}), "changed.zip"
	case 5:
		data, name = tarred(member{name: "a/rank0.json", text: text}, member{name: "b.json", text: in.text}), "changed.tar"
	case 6:
		data, name = gzipped(tarred(member{name: "rank0", text: gzipped(text)})), "changed.tgz"
	case 7:
		data, name = gzipped(gzipped(text)), "changed.gz"
	default:
		data, name = gzipped(text), "changed.json.gz"
	}
	if t.rng.IntN(5) == 0 {
		data = mutate(t.rng, data)
		t.say("damaged after packing")
	}
	return data, fmt.Sprintf("%d-%s", t.rng.IntN(10), name)
}

// piped hands a file over on standard input.
func (t *try) piped(data []byte) {
	path := t.path("in/piped")
	t.must(os.WriteFile(path, data, 0o644))
	for _, a := range []ask{text("report", "-"), {args: []string{"report", "--json", "-", "-"}, json: true}} {
		f, err := os.Open(path)
		t.must(err)
		t.judge(a, t.start(execution{dir: t.path("cwd"), env: t.environment(), stdin: f, args: append([]string{t.binary}, a.args...)}))
		t.must(f.Close())
	}
}
