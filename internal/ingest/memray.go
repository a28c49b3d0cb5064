package ingest

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"bottleneck/internal/model"
)

func isMemray(head []byte) bool {
	return looksLikeJSON(head) && bytes.Contains(head, []byte(`"total_num_allocations"`)) &&
		bytes.Contains(head, []byte(`"total_bytes_allocated"`))
}

// memrayStats is what `memray stats --json` writes (bloomberg/memray, reporters/stats.py). Its binary recordings are not read.
type memrayStats struct {
	Allocations int64 `json:"total_num_allocations"`
	Bytes       int64 `json:"total_bytes_allocated"`
	BySize      []struct {
		Location string `json:"location"`
		Size     int64  `json:"size"`
	} `json:"top_allocations_by_size"`
	ByCount []struct {
		Location string `json:"location"`
		Count    int64  `json:"count"`
	} `json:"top_allocations_by_count"`
	Metadata struct {
		Peak int64 `json:"peak_memory"`
	} `json:"metadata"`
}

// readMemray reads the places that allocated most, by bytes and by count.
func readMemray(o *opening, src source, r io.Reader) (func() error, error) {
	var stats memrayStats
	if err := newJSONStream(r).value(&stats); err != nil {
		return nil, &UnusableError{Path: src.path, Reason: "memray's statistics that cannot be read: " + err.Error(), err: err}
	}
	type place struct {
		bytes, count   int64
		sized, counted bool
	}
	places := map[string]*place{}
	at := func(location string) *place {
		if places[location] == nil {
			places[location] = &place{}
		}
		return places[location]
	}
	for _, a := range stats.BySize {
		p := at(a.Location)
		p.bytes, p.sized = a.Size, true
	}
	for _, a := range stats.ByCount {
		p := at(a.Location)
		p.count, p.counted = a.Count, true
	}
	t := &model.FileTable{Name: "memray", Title: "Allocations of memray",
		Columns: []model.FileColumn{{Name: "allocated at"}, {Name: "bytes", Unit: model.FileBytes},
			{Name: "share", Unit: model.FileShare}, {Name: "allocations", Unit: model.FileCount}}}
	for location, p := range places {
		row := []model.FileCell{fileText(location), noCell, noCell, noCell}
		if p.sized {
			row[1], row[2] = fileCount(p.bytes), fileNumber(float64(p.bytes)/float64(max(stats.Bytes, 1)))
		}
		if p.counted {
			row[3] = fileCount(p.count)
		}
		t.Rows = append(t.Rows, row)
	}
	slices.SortFunc(t.Rows, func(a, b []model.FileCell) int {
		return cmp.Or(cmp.Compare(b[1].Number, a[1].Number), cmp.Compare(b[3].Number, a[3].Number), cmp.Compare(a[0].Text, b[0].Text))
	})
	t.Sentence = fmt.Sprintf("%.1f MiB were allocated in %d allocations, at most %.1f MiB at once", float64(stats.Bytes)/(1<<20),
		stats.Allocations, float64(stats.Metadata.Peak)/(1<<20))
	if len(t.Rows) > 0 && !t.Rows[0][1].None {
		t.Sentence += fmt.Sprintf("; %.0f %% of it at %s", 100*t.Rows[0][2].Number, t.Rows[0][0].Text)
	}
	t.Sentence += ". Allocations hold no times, and price no fix."
	return addTable(o, src, t, stats.Allocations), nil
}
