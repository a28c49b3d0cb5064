package main

import (
	"archive/tar"
	"os"
	"path/filepath"
	"strings"
)

// attackArchive makes a packed session or an archive of traces whose entries are not what they should be.
func attackArchive(t *try) {
	session := t.sessions[t.rng.IntN(len(t.sessions))]
	members := t.members(session)
	t.unpacked = maxInput
	evil := t.evilMembers()
	for range 1 + t.rng.IntN(4) {
		m := evil[t.rng.IntN(len(evil))]
		t.say("%q of kind %q to %q", clip(m.name), string(m.kind), m.link)
		at := t.rng.IntN(len(members) + 1)
		if t.rng.IntN(3) > 0 {
			at = max(1, at) // the manifest stays first, by which a packed session is known
		}
		members = append(members[:at:at], append([]member{m}, members[at:]...)...)
	}
	if t.rng.IntN(4) == 0 {
		i := t.rng.IntN(len(members))
		members[i].text = mutate(t.rng, members[i].text)
		t.say("%s changed", members[i].name)
	}
	t.askArchive(members)
}

func (t *try) askArchive(members []member) {
	var packed []byte
	name := "packed.tar.zst"
	switch t.number % 4 {
	case 0, 1:
		packed = zstded(tarred(members...))
	case 2:
		packed, name = zipped(members...), "packed.zip"
	default:
		packed, name = gzipped(tarred(members...)), "packed.tgz"
	}
	if t.rng.IntN(6) == 0 {
		packed = mutate(t.rng, packed)
		t.say("damaged")
	}
	path := t.file("in/"+name, string(packed))
	t.drive(1, path)
	if t.rng.IntN(3) == 0 {
		t.interruptedReport(path)
	}
}

// clip shortens a name for the table.
func clip(name string) string {
	if len(name) > 60 {
		return name[:60] + "…"
	}
	return name
}

// members are the files of a session as pack stores them.
func (t *try) members(dir string) []member {
	list := []member{{name: "s/manifest.json"}}
	for _, name := range t.outsideAgent(filesOf(dir)) {
		body, err := os.ReadFile(filepath.Join(dir, name))
		t.must(err)
		if name == "manifest.json" {
			list[0].text = body
			continue
		}
		list = append(list, member{name: "s/" + name, text: body})
	}
	return list
}

// evilMembers would be written, or written through, outside of where an archive is unpacked.
func (t *try) evilMembers() []member {
	outside := t.path("outside/owned")
	up := strings.Repeat("../", 14)
	body := []byte("owned")
	return []member{
		{name: up + strings.TrimPrefix(outside, "/"), text: body},
		{name: outside, text: body},
		{name: "s/" + up + strings.TrimPrefix(outside, "/"), text: body},
		{name: "s/x", kind: tar.TypeSymlink, link: t.path("outside")},
		{name: "s/x/owned", text: body},
		{name: "s/source", kind: tar.TypeSymlink, link: t.path("outside")},
		{name: "s/source/index.json", kind: tar.TypeSymlink, link: t.path("outside/secret.py")},
		{name: "s/hard", kind: tar.TypeLink, link: t.path("outside/secret.py")},
		{name: "s/fifo", kind: tar.TypeFifo},
		{name: "s/h-1-1/process.json", kind: tar.TypeFifo},
		{name: "s/device", kind: tar.TypeChar},
		{name: "s/manifest.json", text: []byte("{}")},
		{name: "manifest.json", text: []byte(manifest)},
		{name: "other/manifest.json", text: []byte(manifest)},
		{name: "s/" + strings.Repeat("d/", 300) + "deep", text: body},
		{name: "s/" + strings.Repeat("n", 300), text: body},
		{name: "s/a\x00b", text: body}, {name: "s/\x1b[31m", text: body}, {name: "s/\u202exe", text: body},
		{name: "..", text: body}, {name: ".", text: body}, {name: "", text: body}, {name: "s", text: body}, {name: "/", text: body},
		{name: `..\..\owned`, text: body}, {name: `C:\owned`, text: body},
		{name: "s/h-9-9/events.jsonl.gz", text: gzipped([]byte("[\"step\"]\n"))},
	}
}
