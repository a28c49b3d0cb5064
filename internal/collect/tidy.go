package collect

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"bottleneck/internal/record"
)

// Tidier compresses finished traces of a session and keeps the session under its size while the program goes on.
type Tidier struct {
	dir      string
	prefix   string // of the folders of this host's processes
	maxBytes int64  // of the whole job; 0: this launcher does not prune
	last     map[string]int64
	cancel   context.CancelFunc
	done     sync.WaitGroup

	mu           sync.Mutex
	droppedFiles int
	droppedBytes int64
}

// tidyEvery is how often the session is looked at; a trace is taken to be finished when its size stays for that long.
const tidyEvery = time.Second

// pruneEvery is after how many looks the whole session is measured: on a shared file system that walk is not free.
const pruneEvery = 5

// StartTidier starts tidying dir: folders of host's processes are compressed; when maxBytes is positive, the oldest traces
// of the whole job are dropped as soon as the session is larger.
func StartTidier(ctx context.Context, dir, host string, maxBytes int64) *Tidier {
	ctx, cancel := context.WithCancel(ctx)
	t := &Tidier{dir: dir, prefix: record.HostPrefix(host), maxBytes: maxBytes, last: map[string]int64{}, cancel: cancel}
	t.done.Add(1)
	go func() {
		defer t.done.Done()
		lowerThread()
		tick := time.NewTicker(tidyEvery)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				t.compressFinished(ctx)
				if n%pruneEvery == 0 {
					t.Prune()
				}
			}
		}
	}()
	return t
}

// Stop ends the background work; a file in the middle of compression is left as it was.
func (t *Tidier) Stop() {
	t.cancel()
	t.done.Wait()
}

// Dropped says how much detail was dropped to keep the session under its size, "" for none.
func (t *Tidier) Dropped() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.droppedFiles == 0 {
		return ""
	}
	return fmt.Sprintf("the session reached its %s (--max-size): the oldest %d traces (%s) were dropped",
		FormatBytes(t.maxBytes), t.droppedFiles, FormatBytes(t.droppedBytes))
}

// compressFinished compresses the traces whose size has not changed since the last look.
func (t *Tidier) compressFinished(ctx context.Context) {
	for _, path := range t.plainTraces() {
		info, err := os.Stat(path)
		if err != nil || ctx.Err() != nil {
			continue
		}
		if size, seen := t.last[path]; seen && size == info.Size() && size > 0 {
			delete(t.last, path)
			_ = record.Compress(ctx, path) // a full disk leaves the plain file, which readers take as well
			continue
		}
		t.last[path] = info.Size()
	}
}

// CompressAll compresses what is left, after the program's end and the report.
func (t *Tidier) CompressAll(ctx context.Context) {
	for _, path := range t.plainTraces() {
		_ = record.Compress(ctx, path)
	}
}

func (t *Tidier) plainTraces() []string {
	paths, err := filepath.Glob(filepath.Join(escapeGlob(t.dir), t.prefix+"*", "trace-*.json"))
	if err != nil {
		return nil
	}
	return paths
}

// escapeGlob takes the special meaning from a directory's name.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// trace is one trace file that may be dropped.
type trace struct {
	path string
	size int64
	time time.Time
}

// Prune drops the oldest traces while the session is over its size. Steps, waits and samples stay: they are small and the
// account of the run rests on them.
func (t *Tidier) Prune() {
	if t.maxBytes <= 0 {
		return
	}
	total, traces := sessionSize(t.dir)
	if total <= t.maxBytes {
		return
	}
	slices.SortFunc(traces, func(a, b trace) int { return a.time.Compare(b.time) })
	for _, tr := range traces {
		if total <= t.maxBytes {
			break
		}
		if os.Remove(tr.path) == nil {
			total -= tr.size
			t.mu.Lock()
			t.droppedFiles++
			t.droppedBytes += tr.size
			t.mu.Unlock()
		}
	}
}

func sessionSize(dir string) (total int64, traces []trace) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // vanished meanwhile, or nothing to count
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		total += info.Size()
		if strings.HasPrefix(d.Name(), "trace-") {
			traces = append(traces, trace{path, info.Size(), info.ModTime()})
		}
		return nil
	})
	return total, traces
}

// FormatBytes writes a size with a binary unit, "2 GiB" or "1.5 MiB".
func FormatBytes(n int64) string {
	value, unit := float64(n), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < 1024 {
			break
		}
		value, unit = value/1024, next
	}
	if value == float64(int64(value)) || value >= 100 {
		return fmt.Sprintf("%.0f %s", value, unit)
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}
