package proc

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"sort"
	"strconv"
	"strings"
)

// maxMaps bounds the mappings that are kept of one process (the kernel's own default limit is 65,530).
const maxMaps = 1 << 17

// Mapping is one line of /proc/PID/maps.
type Mapping struct {
	Start, End uint64
	Offset     uint64
	Inode      uint64
	Read       bool
	Write      bool
	Exec       bool
	Path       string // "" for anonymous memory; "[heap]", "[stack]"
	Deleted    bool   // the file was removed or replaced
}

// Maps are the mappings of a process in order of address.
type Maps []Mapping

// ReadMaps reads /proc/PID/maps.
func ReadMaps(pid int) (Maps, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, openError(pid, "maps", err)
	}
	defer f.Close()
	m, err := ParseMaps(f)
	if err != nil {
		return nil, openError(pid, "maps", err)
	}
	return m, nil
}

// ParseMaps reads the text form of mappings. Lines that are none are skipped.
func ParseMaps(r io.Reader) (Maps, error) {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 16<<10), 1<<20)
	var out Maps
	for s.Scan() && len(out) < maxMaps {
		if m, ok := parseMapping(s.Bytes()); ok {
			out = append(out, m)
		}
	}
	return out, s.Err()
}

func parseMapping(line []byte) (Mapping, bool) {
	var m Mapping
	rng, rest, ok := bytes.Cut(line, []byte(" "))
	lo, hi, ok2 := bytes.Cut(rng, []byte("-"))
	if !ok || !ok2 || len(rest) < 4 {
		return m, false
	}
	start, err1 := strconv.ParseUint(string(lo), 16, 64)
	end, err2 := strconv.ParseUint(string(hi), 16, 64)
	if err1 != nil || err2 != nil || end <= start {
		return m, false
	}
	m.Start, m.End = start, end
	m.Read, m.Write, m.Exec = rest[0] == 'r', rest[1] == 'w', rest[2] == 'x'
	fields := strings.SplitN(string(rest), " ", 5)
	if len(fields) < 4 {
		return m, false
	}
	m.Offset, _ = strconv.ParseUint(fields[1], 16, 64)
	m.Inode, _ = strconv.ParseUint(fields[3], 10, 64)
	if len(fields) == 5 {
		m.Path = strings.TrimLeft(fields[4], " ")
		if p, cut := strings.CutSuffix(m.Path, " (deleted)"); cut {
			m.Path, m.Deleted = p, true
		}
	}
	return m, true
}

// Find returns the mapping that holds addr.
func (m Maps) Find(addr uint64) (Mapping, bool) {
	i := sort.Search(len(m), func(i int) bool { return m[i].End > addr })
	if i == len(m) || m[i].Start > addr {
		return Mapping{}, false
	}
	return m[i], true
}

func openError(pid int, what string, err error) error {
	switch {
	case os.IsNotExist(err) || strings.Contains(err.Error(), "no such process"):
		return fmt.Errorf("/proc/%d/%s: %w", pid, what, ErrGone)
	case os.IsPermission(err):
		return fmt.Errorf("/proc/%d/%s: %w", pid, what, ErrNotPermitted)
	}
	return fmt.Errorf("/proc/%d/%s: %w", pid, what, err)
}

// FirstOf returns the mapping of the same file that begins with the file's first byte, at or below m.
func (m Maps) FirstOf(of Mapping) (Mapping, bool) {
	i := sort.Search(len(m), func(i int) bool { return m[i].Start > of.Start })
	for i--; i >= 0; i-- {
		if m[i].Path == of.Path && m[i].Inode == of.Inode && m[i].Offset == 0 {
			return m[i], true
		}
	}
	return Mapping{}, false
}

// allocators are what can serve a process's malloc, by a part of the library's file name: those that are put before the C library's first.
var allocators = []struct{ part, name string }{
	{"jemalloc", "jemalloc"}, {"tcmalloc", "tcmalloc"}, {"mimalloc", "mimalloc"}, {"tbbmalloc_proxy", "tbbmalloc"}, {"hoard", "hoard"},
	{"snmalloc", "snmalloc"}, {"ld-musl", "musl"}, {"libc.musl", "musl"}, {"libc.so.6", "glibc"}, {"libc-2.", "glibc"},
}

// Allocator is the library that most likely serves malloc: an allocator of its own that is mapped, else the C library; "" unknown.
func (m Maps) Allocator() string {
	for _, a := range allocators {
		for i := range m {
			if strings.Contains(path.Base(m[i].Path), a.part) {
				return a.name
			}
		}
	}
	return ""
}
