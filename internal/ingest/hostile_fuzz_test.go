package ingest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"bottleneck/internal/model"
	"bottleneck/internal/record"
)

// FuzzAgentRows reads any text as what an agent saw, whole and as a damaged file: no panic, and the invariants hold.
func FuzzAgentRows(f *testing.F) {
	f.Add([]byte(`["clock",1000,5000000]
["loader",4,{"workers":2,"batch_size":16,"dataset":"D","length":null,"file":"/a.py","line":9}]
["span","import",100,900,7,"torch","/a.py",1]
["step",0,"train","optimizer",1000,2000,"warmup",16,7,5]
["step",9,"train","optimizer",2000,3000,"trace",null,7,555]
["wait",1000,1200,7,4,0]
["fetch",1000,1100,8,4,null,16]
["queue",1000,4,3]
["padding",1000,4,16,128,300,40]
["asked",1000,2,"#1.0",9,6,"/a.py",8]
["updates",1000,1,62,16,32,2]
["saved",1000,1200,7,4096,8388608,"/a.py",8]
["window",0,"trace",1,2,3,0,9,7,"trace-0.json",null]
["stack",1,[["f","/a.py",1,2],["g","/a.py",1,2]]]
["sample",1500,7,1]
["note",1,"code","text"]
["count","steps",3.5]
`))
	f.Add([]byte(`["step",-9223372036854775808,"train","x",-9223372036854775808,9223372036854775807,"edge",-1,1e300]` + "\n" +
		`["clock",9223372036854775807,-9223372036854775808]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _, _ = processFolder(t, factsJSON, gzipMember(string(text)))
		_, _, _ = processFolder(t, factsJSON, text)
	})
}

// FuzzArchive reads any bytes as a zip archive, as a tar archive, and as a packed session: no panic, nothing outside of the folder, and the
// invariants hold.
func FuzzArchive(f *testing.F) {
	trace := `{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}`
	var z, t bytes.Buffer
	zw, tw := zip.NewWriter(&z), tar.NewWriter(&t)
	for _, name := range []string{"s/manifest.json", "s/h-1-1/process.json", "s/h-1-1/trace-0.json", "../up.json"} {
		text := trace
		if name == "s/manifest.json" {
			text = `{"schema": "bottleneck.session/1", "job": "j"}`
		}
		w, _ := zw.Create(name)
		_, _ = io.WriteString(w, text)
		_ = tw.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(text)), Mode: 0o600})
		_, _ = io.WriteString(tw, text)
	}
	_ = tw.WriteHeader(&tar.Header{Name: "s/link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"})
	_, _ = zw.Close(), tw.Close()
	f.Add(z.Bytes())
	f.Add(t.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		enc, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		defer enc.Close()
		for name, bytes := range map[string][]byte{"a": data, "a.zst": enc.EncodeAll(data, nil)} {
			path, parent := filepath.Join(dir, name), filepath.Join(dir, "parent-"+name)
			if err := errors.Join(os.WriteFile(path, bytes, 0o600), os.MkdirAll(filepath.Join(parent, "in"), 0o700)); err != nil {
				t.Fatal(err)
			}
			openFuzzed(t, path)
			if record.IsPacked(path) {
				if session, err := record.Unpack(context.Background(), path, filepath.Join(parent, "in")); err == nil {
					openFuzzed(t, session)
				}
			}
			if entries, _ := os.ReadDir(parent); len(entries) != 1 {
				t.Fatalf("beside the folder: %v", entries)
			}
		}
	})
}

// openFuzzed opens a path, if that can be, and checks the invariants.
func openFuzzed(t *testing.T, path string) {
	t.Helper()
	s, err := Open(context.Background(), []string{path}, Options{})
	if err != nil {
		return
	}
	if err := (*model.Session).Check(s); err != nil {
		t.Fatal(err)
	}
}
