package ingest

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"bottleneck/internal/record"
)

// maxWithFiles bounds the files of other profilers that are read of one session: some write one for each process.
const maxWithFiles = 1 << 12

// others reads what other profilers wrote beside ours (run --with): files of any format that is known.
func (r *sessionReader) others(launchers []string) error {
	var sources []source
	for _, folder := range launchers {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), record.WithPrefix) || !e.Type().IsRegular() || len(sources) >= maxWithFiles {
				continue
			}
			path := filepath.Join(folder, e.Name())
			src := source{path: path, number: len(sources), found: true, open: func() (io.ReadCloser, error) { return r.open(path) }}
			if info, err := r.stat(path); err == nil {
				src.size = info.Size()
			}
			sources = append(sources, src)
		}
	}
	if len(sources) == 0 {
		return nil
	}
	first := len(r.s.Inputs)
	o := &opening{ctx: r.ctx, opt: Options{Rank: r.opt.Rank, Skip: r.opt.Skip}, s: r.s}
	if err := o.all(sources); err != nil {
		return err
	}
	o.storeRocprof()
	r.relative(first)
	return nil
}
