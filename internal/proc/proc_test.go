package proc

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
)

func TestParseMaps(t *testing.T) {
	text := `55d0-55e0 r-xp 00001000 08:01 42                         /usr/bin/python3.11
7f00-7f10 rw-p 00000000 00:00 0 
7f10-7f20 r--p 00000000 08:01 43                         /lib/with blank (deleted)
nonsense
7f20-7f10 r--p 0 0 0
7fff-8000 rw-p 00000000 00:00 0                          [stack]
`
	m, err := ParseMaps(strings.NewReader(text))
	if err != nil || len(m) != 4 {
		t.Fatalf("%d mappings, %v", len(m), err)
	}
	if got := m[0]; got.Path != "/usr/bin/python3.11" || got.Offset != 0x1000 || !got.Exec || got.Write || got.Inode != 42 {
		t.Errorf("first %+v", got)
	}
	if got := m[2]; got.Path != "/lib/with blank" || !got.Deleted {
		t.Errorf("deleted file %+v", got)
	}
	if _, ok := m.Find(0x7f20); ok {
		t.Error("found a mapping behind the end of one")
	}
	if got, ok := m.Find(0x7f0f); !ok || got.Start != 0x7f00 {
		t.Errorf("found %+v, %v", got, ok)
	}
}

func FuzzParseMaps(f *testing.F) {
	f.Add([]byte("55d0-55e0 r-xp 00001000 08:01 42 /usr/bin/python3.11\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, _ := ParseMaps(bytes.NewReader(text))
		for _, x := range m {
			if x.End <= x.Start {
				t.Errorf("empty mapping %+v", x)
			}
		}
	})
}

func TestParseStat(t *testing.T) {
	line := "12 (a) b (c) R 7 12 3 0 -1 4194304 1 2 3 4 50 60 0 0 20 0 9 0 264836 100 200 300 400"
	s, ok := parseStat([]byte(line))
	if !ok || s.Comm != "a) b (c" || s.PPID != 7 || s.State != 'R' || s.Session != 3 || s.UserTicks != 50 || s.SysTicks != 60 ||
		s.Threads != 9 || s.StartTicks != 264836 {
		t.Errorf("%v %+v", ok, s)
	}
	for _, bad := range []string{"", "12", "12 (x", ") (", "x (y) R 1"} {
		if _, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q was taken for a stat line", bad)
		}
	}
}

// TestRecordedText writes and reads recorded memory, and reads across regions that touch.
func TestRecordedText(t *testing.T) {
	r := &Recorded{}
	r.Add(100, []byte("abc"))
	r.Add(103, []byte("def"))
	r.Add(101, []byte("X"))
	var text bytes.Buffer
	if _, err := r.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	back, err := ParseRecorded(&text)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 6)
	if err := back.Read(100, buf); err != nil || string(buf) != "aXcdef" {
		t.Errorf("%q, %v", buf, err)
	}
	if err := back.Read(104, buf); !errors.Is(err, ErrUnreadable) {
		t.Errorf("behind the end: %v", err)
	}
	for _, bad := range []string{"x 00", "100", "100 0g"} {
		if _, err := ParseRecorded(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was taken for recorded memory", bad)
		}
	}
}

// FuzzBinary reads files of any content as ELF.
func FuzzBinary(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	if self, err := os.Executable(); err == nil {
		if b, err := os.ReadFile(self); err == nil && len(b) > 4096 {
			f.Add(b[:4096])
		}
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		bin, err := ReadBinary(bytes.NewReader(b), []string{"_PyRuntime"}, []string{".PyRuntime"})
		if err == nil {
			bin.Bias(Mapping{Start: 1 << 20, End: 1 << 21})
		}
	})
}

// What a process and its first thread have used is counted on both: faults and CPU time of this one, which runs.
func TestUsageOfAProcessAndItsFirstThread(t *testing.T) {
	before, err := ReadUsage(os.Getpid())
	if err != nil {
		t.Skip(err) // no /proc
	}
	pages := make([]byte, 64<<20)
	for i := 0; i < len(pages); i += 4096 {
		pages[i] = 1
	}
	after, err := ReadUsage(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if after.MinorFaults <= before.MinorFaults || after.Anonymous <= 0 {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if f := after.First; f.MinorFaults <= 0 || f.MinorFaults > after.MinorFaults || f.Waits+f.Pushed <= 0 ||
		f.User+f.System > after.User+after.System {
		t.Errorf("the first thread %+v of %+v", f, after)
	}
	runtime.KeepAlive(pages)
}

func TestAllocatorOfMaps(t *testing.T) {
	for want, text := range map[string]string{
		"glibc":    "7f00-7f10 r-xp 00000000 08:01 12 /usr/lib/x86_64-linux-gnu/libc.so.6\n",
		"jemalloc": "7f00-7f10 r-xp 0 08:01 12 /lib/libc.so.6\n7f20-7f30 r-xp 0 08:01 13 /usr/lib/x86_64-linux-gnu/libjemalloc.so.2\n",
		"tcmalloc": "7f00-7f10 r-xp 0 08:01 12 /opt/libtcmalloc_minimal.so.4\n7f20-7f30 r-xp 0 08:01 13 /lib/libc-2.17.so\n",
		"musl":     "7f00-7f10 r-xp 0 08:01 12 /lib/ld-musl-x86_64.so.1\n",
		"":         "7f00-7f10 r-xp 0 08:01 12 /home/u/jemalloc/tool\n7f20-7f30 rw-p 0 00:00 0 [heap]\n",
	} {
		maps, err := ParseMaps(strings.NewReader(text))
		if got := maps.Allocator(); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}
