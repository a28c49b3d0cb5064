package record

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestPackTakesNoLinks puts links that lead out of a session into it: their files are not packed, and the manifest is none.
func TestPackTakesNoLinks(t *testing.T) {
	dir := makeSession(t)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("root:x:0:0"), FileMode); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "gandalf.example.org-11-100", "trace-own-0.json.gz")
	if err := os.Symlink(outside, link); err != nil {
		t.Skipf("links need a right: %v", err)
	}
	left, err := Pack(context.Background(), io.Discard, dir, nil)
	if err != nil || !slices.ContainsFunc(left, func(s string) bool { return strings.HasSuffix(s, "trace-own-0.json.gz") }) {
		t.Errorf("left out %v, %v", left, err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, ManifestName)), os.Symlink(outside, filepath.Join(dir, ManifestName))); err != nil {
		t.Fatal(err)
	}
	if _, err := Pack(context.Background(), io.Discard, dir, nil); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a manifest outside of the session: %v", err)
	}
}

// TestUnpackRefusesBombs gives a packed session of 10 GB in some kilobytes: it is refused before much of it is on the disk.
func TestUnpackRefusesBombs(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "bomb.tar.zst"), t.TempDir()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	z, _ := zstd.NewWriter(f, zstd.WithEncoderConcurrency(1))
	w := tar.NewWriter(z)
	_ = w.WriteHeader(&tar.Header{Name: "s/manifest.json", Typeflag: tar.TypeReg, Size: 2})
	_, _ = io.WriteString(w, "{}")
	_ = w.WriteHeader(&tar.Header{Name: "s/h-1-1/trace-0.json", Typeflag: tar.TypeReg, Size: 10 << 30})
	block := make([]byte, 1<<20)
	for range 400 { // the rest of the 10 GB is promised only
		_, _ = w.Write(block)
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Unpack(context.Background(), file, dir); !errors.Is(err, ErrBomb) {
		t.Errorf("unpacked: %v", err)
	}
	if info, err := os.Stat(filepath.Join(dir, "s", "h-1-1", "trace-0.json")); err == nil && info.Size() > 300<<20 {
		t.Errorf("%d MB were written", info.Size()>>20)
	}
}
