package ingest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/model"
)

// Bounds of memory-<n>-<device>.json.gz.
const (
	maxTimelineText    = 64 << 20
	maxTimelineDevices = 64
)

// memoryTimelines reads torch's own account of the memory in window number, one file per device, if the agent had it made.
func (r *sessionReader) memoryTimelines(t *model.Trace, folder string, number int) {
	prefix := "memory-" + strconv.Itoa(number) + "-"
	paths, err := filepath.Glob(filepath.Join(globQuoted(folder), prefix+"*.json.gz"))
	if err != nil {
		return
	}
	slices.Sort(paths)
	for _, path := range paths[:min(len(paths), maxTimelineDevices)] {
		actions, err := readTimeline(path)
		if err != nil {
			r.diagnose(path, "memory-timeline", 1, plain(err))
			continue
		}
		device := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), prefix), ".json.gz")
		t.MemoryTimelines = append(t.MemoryTimelines, model.MemoryTimeline{Device: strings.Replace(device, "-", ":", 1), Actions: actions})
	}
}

// globQuoted takes a path's characters for themselves in a pattern.
func globQuoted(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// readTimeline reads a list of [nanoseconds, action, bytes, category], as export_memory_timeline writes raw ones.
func readTimeline(path string) ([]model.MemoryAction, error) {
	var rows [][4]int64
	if err := readPackedJSON(path, "a memory timeline", maxTimelineText, &rows); err != nil {
		return nil, err
	}
	actions := make([]model.MemoryAction, 0, len(rows))
	for i, row := range rows {
		if row[0] < -1 || row[1] < 1 || row[1] > 4 || row[3] < 0 || row[3] >= model.MemoryCategories {
			return nil, fmt.Errorf("reading a memory timeline: row %d is %v", i, row)
		}
		actions = append(actions, model.MemoryAction{Time: row[0], Action: int8(row[1]), Bytes: row[2], Category: int8(row[3])})
	}
	return actions, nil
}
