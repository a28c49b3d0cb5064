package main

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// planted makes texts that hold a secret each, and remembers them.
type planted struct {
	t     *try
	all   map[string]string // the secret, and where it was planted
	count int
}

// shapes are what secrets look like; %s is a word that occurs nowhere else.
var shapes = []string{"%s", "hf_%s", "sk-%s", "postgres://u:%s@h/db", "/data/%s dir/x.py", "/srv/python-%s/y", "s3://%s/x", "gs://b/%s",
	`\\%s\share\x`, "~/%s/x", "rel/%s/file.bin", "/mnt/a [%s]/b", "https://h/?token=%s", "user@%s.example.org", "C:\\Users\\%s\\x",
	"file:///home/%s", "--password=%s", "%s.py", "/home/%s/model.pt"}

// secret is a new one in some shape.
func (p *planted) secret(where string) string {
	word := make([]byte, 10)
	for i := range word {
		word[i] = "bcdfghjklmnpqrstvwxz"[p.t.rng.IntN(20)]
	}
	p.all[string(word)] = where
	p.count++
	return fmt.Sprintf(shapes[(p.count+p.t.number)%len(shapes)], word)
}

// attackSecrets records a program full of secrets, adds more to the session, and looks for them in the redacted archive.
func attackSecrets(t *try) {
	t.say("secrets in a program and its session")
	p := &planted{t: t, all: map[string]string{}}
	dir := t.path("in/session")
	if t.number%2 == 0 {
		t.recordSecrets(p, dir)
	} else {
		t.must(copyTree(t.sessions[t.rng.IntN(len(t.sessions))], dir))
	}
	if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err != nil {
		t.skip("no session was recorded")
		return
	}
	p.plantFiles(dir)
	t.unpacked = maxInput
	out := t.path("out/redacted")
	command := data("pack", "--redact", "-o", out, dir)
	if e := t.bottleneck(command); e.code != 0 {
		t.bad("status", t.commandLine(command.args), "%s", head(e.stderr, 3))
		return
	}
	p.search(out, t.commandLine(command.args))
	t.bottleneck(text("report", out))
}

// recordSecrets runs a program whose place, arguments, environment, children and code hold secrets.
func (t *try) recordSecrets(p *planted, dir string) {
	word := func(where string) string { // fit for a name of a file
		return strings.NewReplacer("/", "-", `\`, "-", ":", "").Replace(p.secret(where))
	}
	folder := "in/" + word("the script's folder") + " x"
	script := t.file(folder+"/"+strings.TrimSuffix(word("the script's name"), ".py")+".py", fmt.Sprintf(`import os, subprocess, sys, time
open(os.path.join(os.path.dirname(__file__), %q), "w").close()
subprocess.call([sys.executable, "-c", %q, %q])
subprocess.call(["/bin/sh", "-c", "sleep 0.2 # " + %q])
end = time.monotonic() + 0.4
while time.monotonic() < end: sum(range(2000))
`, word("a file that the program makes"), "x = "+pyQuote(p.secret("a child's code"))+"; import time; time.sleep(0.2)",
		p.secret("a child's argument"), p.secret("a shell's comment")))
	args := []string{t.binary, "run", "--out", dir, "-o", os.DevNull, "--", t.python, script, p.secret("an argument"), "--key",
		p.secret("an option's value"), "--out-dir=" + p.secret("an option with =")}
	env := []string{"MY_SETTING=" + p.secret("the environment"), "WANDB_API_KEY=" + p.secret("the environment"),
		"OMP_NUM_THREADS=" + p.secret("OMP_NUM_THREADS")}
	e := t.plain(args, env...)
	if e.hung != "" || crashed.Match(e.stderr) {
		t.bad("panic", "", "%s %s", e.hung, head(e.stderr, 5))
	}
}

func pyQuote(s string) string { return fmt.Sprintf("%q", s) }

// plantFiles adds secrets to the files of a session, where programs, traces and launchers can put texts.
func (p *planted) plantFiles(dir string) {
	t := p.t
	t.must(os.WriteFile(filepath.Join(dir, "notes.txt"), []byte(p.secret("a stray file")), 0o644))
	t.must(os.WriteFile(filepath.Join(dir, strings.ReplaceAll(strings.ReplaceAll(p.secret("a stray file's name"), "/", "_"), `\`, "_")),
		nil, 0o644))
	for _, name := range t.outsideAgent(filesOf(dir)) {
		path := filepath.Join(dir, name)
		stored, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		switch base := filepath.Base(name); {
		case base == "launcher.json":
			p.edit(path, stored, func(doc map[string]any) {
				doc["notes"] = []any{map[string]any{"code": "x", "text": "see " + p.secret("a launcher's note")}}
				doc["cwd"] = p.secret("the launcher's folder")
				doc["flags"] = map[string]any{"metadata": p.secret("a flag"), "out": p.secret("a flag")}
				doc["command"] = []any{"python", p.secret("the command")}
			})
		case base == "process.json":
			p.edit(path, stored, func(doc map[string]any) {
				doc["argv"], doc["cwd"] = []any{p.secret("argv"), "--x=" + p.secret("argv")}, p.secret("cwd")
				doc["threads_env"] = map[string]any{"OMP_NUM_THREADS": p.secret("threads_env")}
				doc["future"] = p.secret("a field that nobody knows")
			})
		case base == "events.jsonl.gz":
			rows := fmt.Sprintf("[\"note\",1,\"code\",%s]\n[\"span\",\"io\",1,2,1,\"torch.save\",%s,1,%s,1]\n[\"future\",%s]\n",
				quoted(p.secret("an event's note")), quoted(p.secret("a span's file")), quoted(p.secret("a span's detail")),
				quoted(p.secret("a row that nobody knows")))
			t.must(os.WriteFile(path, append(stored, gzipped([]byte(rows))...), 0o644))
		case base == "tree.jsonl.gz":
			row := fmt.Sprintf("[\"proc\",5,77,1,1,[\"python\",\"-c\",%s,%s],%s]\n", quoted(p.secret("a child's code in the tree")),
				quoted(p.secret("the tree")), quoted(p.secret("an executable")))
			t.must(os.WriteFile(path, append(stored, gzipped([]byte(row))...), 0o644))
		case strings.HasPrefix(base, "trace-") && strings.HasSuffix(base, ".json.gz"):
			p.editTrace(path, stored)
		}
	}
}

func quoted(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

func (p *planted) edit(path string, stored []byte, change func(map[string]any)) {
	doc := map[string]any{}
	if json.Unmarshal(stored, &doc) != nil {
		return
	}
	change(doc)
	text, err := json.Marshal(doc)
	p.t.must(err)
	p.t.must(os.WriteFile(path, text, 0o644))
}

// editTrace adds an event with arguments, and metadata.
func (p *planted) editTrace(path string, stored []byte) {
	text := string(plain(stored, maxPlain))
	event :=
		fmt.Sprintf(
			`"user_metadata": {"k": %s}, "baseTimeMetadata": %s, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 5, "dur": 1,
		"args": {"Concrete Inputs": [%s, ""], "Input type": [%s], "Future": %s}},`, quoted(p.secret("a trace's metadata")),
			quoted(p.secret("a trace's head")), quoted(p.secret("Concrete Inputs")), quoted(p.secret("Input type")),
			quoted(p.secret("an argument that nobody knows")))
	p.t.must(os.WriteFile(path, gzipped([]byte(strings.Replace(text, `"traceEvents": [`, event, 1))), 0o644))
}

// search looks for each secret in every name and text of an archive, in whatever form it is packed.
func (p *planted) search(path, command string) {
	stored, err := os.ReadFile(path)
	p.t.must(err)
	archive := tar.NewReader(bytes.NewReader(plain(stored, 1<<30)))
	var found []string
	defer func() {
		if len(found) > 0 {
			p.t.bad("secret", command, "%d of %d: %s", len(found), p.count, strings.Join(found, "\n"))
		}
	}()
	for {
		h, err := archive.Next()
		if err == io.EOF {
			return
		}
		p.t.must(err)
		body, err := io.ReadAll(archive)
		p.t.must(err)
		texts := append([]byte(h.Name+h.Linkname), body...)
		texts = append(texts, plain(body, 1<<30)...)
		for rest := body; strings.HasSuffix(h.Name, ".pb.zst") && len(rest) > 4; {
			n := min(int(binary.LittleEndian.Uint32(rest)), len(rest)-4)
			texts = append(texts, plain(rest[4:4+n], 1<<30)...)
			rest = rest[4+n:]
		}
		for word, where := range p.all {
			if at := bytes.Index(texts, []byte(word)); at >= 0 {
				found = append(found, fmt.Sprintf("of %s, in %s: %q", where, h.Name, texts[max(0, at-40):min(len(texts), at+20)]))
				delete(p.all, word)
			}
		}
	}
}
