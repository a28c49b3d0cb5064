package ingest

import (
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"bottleneck/internal/model"
)

// traceName matches the traces that the agent writes, plain or compressed, and those that the program exported itself ("own-").
var traceName = regexp.MustCompile(`^trace-(own-)?(\d+)\.json(\.gz)?$`)

// maxOwnTraces bounds the size of the program's own traces that are read, as they are on the disk; with stacks they can be of any size.
const maxOwnTraces = 256 << 20

// traces reads the traces of every process that was asked for. A trace's input is named without ".gz" and counts its
// uncompressed bytes, so that the report stays the same when the launcher compresses it.
func (r *sessionReader) traces() error {
	for i, folder := range r.folders {
		p := r.s.Processes[r.first+i]
		if len(r.opt.Rank) > 0 && p.Rank != model.NoRank && !slices.Contains(r.opt.Rank, p.Rank) {
			continue
		}
		own := int64(0)
		for _, file := range traceFiles(folder) {
			if err := r.ctx.Err(); err != nil {
				return err
			}
			path := filepath.Join(folder, file.name)
			if file.own {
				if info, err := r.stat(path); err == nil {
					own += info.Size()
				}
				if own > maxOwnTraces {
					r.diagnose(path, "too-big", 1,
						"the program's own trace is too large to be read here; open it by itself: bottleneck report "+filepath.Base(path))
					continue
				}
			}
			r.trace(path, file, r.first+i)
		}
	}
	return nil
}

type traceFile struct {
	name   string
	number int
	own    bool // exported by the program
}

// traceFiles lists a process's traces by number, those of its own last; where a compressed one is in the making, the plain one counts.
func traceFiles(folder string) []traceFile {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	byNumber := map[traceFile]string{}
	for _, e := range entries {
		match := traceName.FindStringSubmatch(e.Name())
		if match == nil {
			continue
		}
		n, err := strconv.Atoi(match[2])
		key := traceFile{number: n, own: match[1] != ""}
		if have := byNumber[key]; err == nil && (have == "" || len(e.Name()) < len(have)) {
			byNumber[key] = e.Name()
		}
	}
	var out []traceFile
	for key, name := range byNumber {
		key.name = name
		out = append(out, key)
	}
	slices.SortFunc(out, func(a, b traceFile) int {
		if a.own != b.own {
			if b.own {
				return -1
			}
			return 1
		}
		return a.number - b.number
	})
	return out
}

// trace reads one trace of the process with that index.
func (r *sessionReader) trace(path string, file traceFile, process int) {
	f, err := r.openTrace(path)
	if err != nil {
		r.diagnose(path, "trace", 1, plain(err))
		return
	}
	defer f.Close()
	name, err := filepath.Rel(r.dir, path)
	if err != nil {
		name = path
	}
	before := len(r.s.Inputs)
	t, err := ReadTrace(r.ctx, f, filepath.ToSlash(trimGzip(name)), r.s)
	if err != nil {
		if r.ctx.Err() != nil {
			return
		}
		if len(r.s.Inputs) == before {
			r.diagnose(path, "trace", 1, plain(err))
		}
	}
	if t == nil {
		return
	}
	if t.Input >= 0 && t.Input < len(r.s.Inputs) {
		r.s.Inputs[t.Input].Bytes = r.plainSize(path)
	}
	p := r.s.Processes[process]
	t.Process, t.Window = process, -1
	if !file.own {
		t.Window = windowIndex(p, file.number)
		r.modules(t, filepath.Dir(path), file.number)
		r.memoryTimelines(t, filepath.Dir(path), file.number)
	}
	if t.Rank == model.NoRank {
		t.Rank, t.World = p.Rank, p.WorldSize
	}
	if !slices.Contains(r.s.Traces, t) {
		r.s.Traces = append(r.s.Traces, t)
	}
}

// openTrace opens path, or, where the launcher has just compressed it, path + ".gz".
func (r *sessionReader) openTrace(path string) (io.ReadCloser, error) {
	f, err := r.open(path)
	if err == nil {
		return f, nil
	}
	if packed, perr := r.open(path + ".gz"); perr == nil {
		return packed, nil
	}
	return nil, err
}

func trimGzip(name string) string {
	if filepath.Ext(name) == ".gz" {
		return name[:len(name)-len(".gz")]
	}
	return name
}

func windowIndex(p *model.Process, number int) int {
	return slices.IndexFunc(p.Windows, func(w model.Window) bool { return w.Number == number })
}

// plainSize is the uncompressed size of a trace: its own, or what the compressed file's last four bytes say (modulo 4 GiB,
// which the launcher's limits keep traces below).
func (r *sessionReader) plainSize(path string) int64 {
	info, err := r.stat(path)
	if err == nil && filepath.Ext(path) != ".gz" {
		return info.Size()
	}
	f, err := r.open(trimGzip(path) + ".gz")
	if err != nil {
		return 0
	}
	defer f.Close()
	var tail [4]byte
	if _, err := f.Seek(-4, io.SeekEnd); err != nil {
		return 0
	}
	if _, err := io.ReadFull(f, tail[:]); err != nil {
		return 0
	}
	return int64(binary.LittleEndian.Uint32(tail[:]))
}
