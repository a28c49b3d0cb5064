package ingest

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/gzip"

	"bottleneck/internal/model"
)

// Rows go to the process that had the number then, by the clock of their file; what is damaged or of another kind is passed over.
func TestUsageRows(t *testing.T) {
	var file bytes.Buffer
	for _, member := range []string{
		`["allocator",150,7,"glibc"]` + "\n",
		`["use",5,7,1,1,1,1,1,1,1,1,1,1]` + "\n" + `["clock",100,1000000100]` + "\n" + `["proc",150,7,1,9,["python"],"python"]` + "\n" +
			`["use",200,7,1048576,2,3,4,5,6,7000,8000,-1,10]` + "\n",
		`["use",300,7,2097152,2,3,4,5,6,7000,8000,-1,10,11,12,13,14,15,"a column more"]` + "\n" + `["allocator",310,7,"jemalloc"]` + "\n" +
			`["allocator",320,99,"glibc"]` + "\n" + `["allocator",330,7,8]` + "\n" + `["allocator",340,7]` + "\n" +
			`["use",400,7,"no number",2,3,4,5,6,7,8,9,10]` + "\n" +
			`["use",500,7,1]` + "\n" + `["use",600,99,1,2,3,4,5,6,7,8,9,10]` + "\n" + `["use",250,7,1,2,3,4,5,6,7,8,9,10]` +
			"\n" + `["use",` + "\n",
	} {
		zip := gzip.NewWriter(&file)
		_, _ = zip.Write([]byte(member))
		_ = zip.Close()
	}
	before := &model.Process{PID: 7, Host: "a", Start: 1, End: 1_000_000_050}
	now := &model.Process{PID: 7, Host: "a", Start: 1_000_000_060}
	elsewhere := &model.Process{PID: 7, Host: "b", Start: 1_000_000_070}
	rows := &usageRows{of: processesOf(&model.Session{Processes: []*model.Process{before, now, elsewhere}}, "a")}
	if damage := eachMember(file.Bytes(), rows.line); damage.members > 0 {
		t.Errorf("damage %+v", damage)
	}
	if len(before.Usage)+len(elsewhere.Usage) > 0 || len(now.Usage) != 2 {
		t.Fatalf("rows of %d, %d, %d", len(before.Usage), len(now.Usage), len(elsewhere.Usage))
	}
	want := model.Usage{At: 1_000_000_200, Anonymous: 1 << 20, File: 2, Shared: 3, Swapped: 4, MinorFaults: 5, MajorFaults: 6, User: 7000,
		System: 8000, Read: -1, Written: 10}
	if now.Usage[0] != want || now.Usage[1].Private() != 2<<20+4 {
		t.Errorf("%+v", now.Usage)
	}
	if first := now.Usage[1].First; first == nil ||
		*first != (model.ThreadUse{MinorFaults: 11, User: 12, System: 13, Waits: 14, Pushed: 15}) {
		t.Errorf("the first thread's: %+v", first)
	}
	if now.Allocator != "jemalloc" || before.Allocator != "" {
		t.Errorf("allocators %q and %q", now.Allocator, before.Allocator)
	}
}
