package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// attackSession changes one to three files of a session, or puts something else in their place, and asks about it.
func attackSession(t *try) {
	from := t.sessions[t.rng.IntN(len(t.sessions))]
	dir := t.path("in/session")
	t.must(copyTree(from, dir))
	t.unpacked = maxInput
	files := filesOf(dir)
	files = append(files[:0:0], t.outsideAgent(files)...)
	for i := range 1 + t.rng.IntN(3) {
		name := files[(t.number+i*t.rng.IntN(len(files)))%len(files)]
		switch replace := t.rng.IntN(3) == 0; {
		case !small(dir, name): // what was put there before must not be followed here
		case replace:
			t.replaceFile(dir, name)
		default:
			t.changeFile(dir, name)
		}
	}
	t.drive(2, dir)
	if t.rng.IntN(3) == 0 {
		t.bottleneck(data("report", "--source", "program", dir))
	}
	if t.rng.IntN(2) == 0 {
		t.pack(dir, t.rng.IntN(2) == 0)
	}
}

// small says that a file is in its place, through no link, and of a size that can be changed in memory.
func small(dir, name string) bool {
	path := filepath.Join(dir, name)
	real, err := filepath.EvalSymlinks(path)
	if err != nil || real != path {
		return false
	}
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() <= maxInput
}

// outsideAgent leaves out the agent's own files, which no reader looks at.
func (t *try) outsideAgent(files []string) []string {
	var list []string
	for _, name := range files {
		if !strings.HasPrefix(name, "agent"+string(filepath.Separator)) {
			list = append(list, name)
		}
	}
	return list
}

// changeFile changes the text of a file and packs it again as it was.
func (t *try) changeFile(dir, name string) {
	path := filepath.Join(dir, name)
	stored, err := os.ReadFile(path)
	t.must(err)
	t.say("%s changed", filepath.Base(name))
	var out []byte
	switch {
	case strings.HasSuffix(name, ".pb.zst") && t.rng.IntN(2) == 0:
		out = t.changeChunks(stored)
	case strings.HasSuffix(name, ".gz") && t.rng.IntN(4) > 0:
		out = gzipped(t.changeText(name, plain(stored, maxPlain)))
	default:
		out = t.changeText(name, stored)
	}
	t.must(os.WriteFile(path, out, 0o644))
}

// changeText changes JSON by its structure half of the time; of rows, each that is chosen.
func (t *try) changeText(name string, text []byte) []byte {
	if strings.Contains(name, ".jsonl") && t.rng.IntN(2) == 0 {
		lines := bytes.Split(text, []byte("\n"))
		for range 1 + t.rng.IntN(20) {
			i := t.rng.IntN(len(lines))
			if out, ok := restructure(t.rng, lines[i]); ok {
				lines[i] = out
			}
		}
		return bytes.Join(lines, []byte("\n"))
	}
	out, _ := t.changed(text)
	return out
}

// changeChunks changes the messages within samples.pb.zst, or the lengths before them.
func (t *try) changeChunks(stored []byte) []byte {
	var out []byte
	for len(stored) >= 4 {
		n := int(binary.LittleEndian.Uint32(stored))
		if n > len(stored)-4 {
			break
		}
		chunk := stored[4 : 4+n]
		if t.rng.IntN(2) == 0 {
			chunk = zstded(mutate(t.rng, plain(chunk, maxPlain)))
		}
		length := uint32(len(chunk))
		if t.rng.IntN(8) == 0 {
			length = pick(t.rng, 0, 1, 1<<31, 1<<32-1, length+1)
		}
		out = append(binary.LittleEndian.AppendUint32(out, length), chunk...)
		stored = stored[4+n:]
	}
	return append(out, stored...)
}

// replaceFile puts something that is no regular file of the session in a file's place.
func (t *try) replaceFile(dir, name string) {
	path := filepath.Join(dir, name)
	t.must(os.RemoveAll(path))
	kinds := []struct {
		what string
		make func() error
	}{
		{"a link to a file outside", func() error { return os.Symlink(t.path("outside/secret.py"), path) }},
		{"a link that climbs", func() error { return os.Symlink(strings.Repeat("../", 12)+t.path("outside/secret.py"), path) }},
		{"a link to /dev/zero", func() error { return os.Symlink("/dev/zero", path) }},
		{"a link to /etc/passwd", func() error { return os.Symlink("/etc/passwd", path) }},
		{"a link to itself", func() error { return os.Symlink(filepath.Base(path), path) }},
		{"a pipe", func() error { return syscall.Mkfifo(path, 0o644) }},
		{"the device of zeros", func() error { return syscall.Mknod(path, syscall.S_IFCHR|0o644, 1<<8|5) }},
		{"a terminal", func() error { return os.Symlink("/dev/ptmx", path) }},
		{"a folder", func() error { return os.Mkdir(path, 0o755) }},
		{"nothing", func() error { return nil }},
		{"an empty file", func() error { return os.WriteFile(path, nil, 0o644) }},
		{"a file with a hole of 4 GB", func() error { return errorOf(os.WriteFile(path, nil, 0o644), os.Truncate(path, 4<<30)) }},
		{"a file that nobody may read", func() error { return os.WriteFile(path, []byte("{}"), 0) }},
		{"a socket", func() error { return socketAt(path) }},
	}
	k := kinds[t.rng.IntN(len(kinds))]
	if err := k.make(); err != nil {
		_ = os.RemoveAll(path) // devices need root: then the file is missing
	}
	t.say("%s is %s", filepath.Base(name), k.what)
	if t.rng.IntN(8) == 0 && strings.Contains(name, string(filepath.Separator)) {
		folder := filepath.Dir(path)
		t.must(os.RemoveAll(folder))
		t.must(os.Symlink(t.path("outside"), folder))
		t.say("its folder a link outside")
	}
}

func errorOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

func socketAt(path string) error {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return syscall.Bind(fd, &syscall.SockaddrUnix{Name: path})
}
