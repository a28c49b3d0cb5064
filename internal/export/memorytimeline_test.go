package export

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

func exportTimeline(t *testing.T, s *model.Session, path string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := writeMemoryTimeline(context.Background(), s, &out, Options{Rank: model.NoRank, Path: path}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestMemoryTimelineAgainstTorch compares with torch's own timelines of the same run. Every allocation and every free
// must be there with its time and size; categories, which a file tells only indirectly, must agree for most bytes.
func TestMemoryTimelineAgainstTorch(t *testing.T) {
	var fixture struct {
		Timeline [2]json.RawMessage
		Raw      [][4]int64
	}
	readGzipJSON(t, "../../testdata/memorytimeline/timeline.json.gz", &fixture)
	s := readSession(t, readFile(t, "../../testdata/memorytimeline/timeline.trace.json.gz"), "timeline")
	var raw [][4]int64
	if err := json.Unmarshal(exportTimeline(t, s, "x.raw.json.gz"), &raw); err != nil {
		t.Fatal(err)
	}
	type change struct{ time, action, bytes int64 }
	want, categories := map[change]int{}, map[change]int64{}
	for _, r := range fixture.Raw {
		if r[1] == memCreate || r[1] == memDestroy {
			want[change{r[0], r[1], r[2]}]++
			categories[change{r[0], r[1], r[2]}] = r[3]
		}
	}
	var same, all int64
	for _, r := range raw {
		c := change{r[0], r[1], r[2]}
		if r[1] == memPreexisting {
			continue
		}
		if want[c] == 0 {
			t.Fatalf("%v is not in torch's timeline", r)
		}
		if want[c]--; want[c] == 0 {
			delete(want, c)
		}
		size := max(c.bytes, -c.bytes)
		all += size
		if categories[c] == r[3] {
			same += size
		}
	}
	for c := range want {
		t.Errorf("torch has %v, which is missing", c)
	}
	t.Logf("categories of %d of %d bytes are those of torch", same, all)
	if same*100 < all*85 {
		t.Errorf("categories of only %d of %d bytes are those of torch", same, all)
	}
}

func TestMemoryTimelineForms(t *testing.T) {
	s := gpuSession(0)
	var timeline struct {
		times []int64
		sizes [][]int64
	}
	parts := []any{&timeline.times, &timeline.sizes}
	if err := json.Unmarshal(exportTimeline(t, s, "x.json.gz"), &parts); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(timeline.times) != "[5000000]" || fmt.Sprint(timeline.sizes) != "[[0 0 0 0 0 0 0 0 512]]" {
		t.Errorf("timeline %v", timeline)
	}
	page := string(exportTimeline(t, s, "x.html"))
	if !strings.Contains(page, "<svg") || strings.Contains(page, "src=") || strings.Contains(page, "http") ||
		!strings.Contains(page, "cuda:0") {
		t.Errorf("page is not self-contained or empty: %.300s", page)
	}
	err := writeMemoryTimeline(context.Background(), s, io.Discard, Options{Rank: model.NoRank, Device: "cuda:3"})
	if err == nil || !strings.Contains(err.Error(), "cuda:0") {
		t.Errorf("error %v does not name the devices", err)
	}
}

// TestMemoryTimelineKeepsPeaks thins a million points and still shows the highest.
func TestMemoryTimelineKeepsPeaks(t *testing.T) {
	points := make([]memoryPoint, 1_000_000)
	for i := range points {
		points[i].us = int64(i)
		points[i].sizes[memActivation] = 1
	}
	points[777_777].sizes[memActivation] = 1 << 40
	thinned := thin(points)
	peak := int64(0)
	for i := range thinned {
		peak = max(peak, thinned[i].total())
	}
	if len(thinned) > pagePoints+2 || peak != 1<<40 {
		t.Errorf("%d points with a peak of %d", len(thinned), peak)
	}
}
