package keyaverages

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

// torchRow is one row of torch's own table, as bench/parity/record.py keeps it beside the trace; times in ns.
type torchRow struct {
	Name            string   `json:"name"`
	Count           int64    `json:"count"`
	SelfCPU         int64    `json:"self_cpu"`
	CPU             int64    `json:"cpu"`
	SelfDevice      int64    `json:"self_device"`
	Device          int64    `json:"device"`
	SelfCPUBytes    int64    `json:"self_cpu_bytes"`
	CPUBytes        int64    `json:"cpu_bytes"`
	SelfDeviceBytes int64    `json:"self_device_bytes"`
	DeviceBytes     int64    `json:"device_bytes"`
	Flops           int64    `json:"flops"`
	Shapes          string   `json:"shapes"`
	Stack           []string `json:"stack"`
	DeviceType      int      `json:"device_type"`
	Annotation      bool     `json:"annotation"`
}

type torchTables struct {
	Torch  string                `json:"torch"`
	Tables map[string][]torchRow `json:"tables"`
}

func readGzip(tb testing.TB, path string) []byte {
	tb.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		tb.Fatal(err)
	}
	if raw, err = io.ReadAll(z); err != nil {
		tb.Fatal(err)
	}
	return raw
}

// parityFolders are the recorded runs in testdata, and those that `make parity` has just recorded.
func parityFolders() []string {
	folders, _ := filepath.Glob(filepath.Join(slowtrace.Testdata(), "torch-*"))
	fresh, _ := filepath.Glob(filepath.Join(os.Getenv("BOTTLENECK_PARITY"), "torch-*"))
	if os.Getenv("BOTTLENECK_PARITY") != "" {
		folders = append(folders, fresh...)
	}
	return folders
}

var groupings = map[string]Options{"plain": {}, "shapes": {ByShapes: true}, "stack3": {ByStack: 3}}

// generation is what a version of PyTorch does differently from 2.15.
type generation struct {
	prefix       string
	ignorePython bool
	floatMemory  bool
	microseconds bool // whole microseconds in the file, rounded otherwise than in the table: ±1 µs per event
}

func generationOf(version string) generation {
	for _, g := range []generation{{"1.13", true, false, true}, {"2.4", true, true, false}, {"2.", false, false, false}} {
		if strings.HasPrefix(version, g.prefix) {
			return g
		}
	}
	return generation{}
}

func TestTorchTables(t *testing.T) {
	folders := parityFolders()
	if len(folders) == 0 {
		t.Fatal("no recorded tables")
	}
	for _, folder := range folders {
		cases, _ := filepath.Glob(filepath.Join(folder, "*.tables.json.gz"))
		if len(cases) == 0 {
			t.Errorf("%s holds no tables", folder)
		}
		for _, path := range cases {
			t.Run(filepath.Base(folder)+"/"+strings.TrimSuffix(filepath.Base(path), ".tables.json.gz"), func(t *testing.T) {
				compareWithTorch(t, path)
			})
		}
	}
}

func compareWithTorch(t *testing.T, path string) {
	var want torchTables
	if err := json.Unmarshal(readGzip(t, path), &want); err != nil {
		t.Fatal(err)
	}
	var s model.Strings
	trace := slowtrace.Read(t, strings.Replace(path, ".tables.json", ".json", 1), &s)
	gen := generationOf(want.Torch)
	for kind, opt := range groupings {
		opt.IgnorePython, opt.FloatMemoryTimes = gen.ignorePython, gen.floatMemory
		if gen.microseconds {
			compareRounded(t, Of([]*model.Trace{trace}, &s, opt), want.Tables[kind], opt, doubtful(trace, &s))
			continue
		}
		t.Run(kind, func(t *testing.T) {
			compareTables(t, Of([]*model.Trace{trace}, &s, opt), want.Tables[kind], gen)
		})
	}
}

// compareTables compares row by row, in order, every column that the trace's own precision allows.
func compareTables(t *testing.T, got []Row, want []torchRow, gen generation) {
	if len(want) == 0 {
		t.Fatal("torch's table is empty")
	}
	rows := map[string]torchRow{}
	for _, w := range want {
		key := rowKey(w.Name, w.DeviceType, w.Shapes, w.Stack)
		if _, twice := rows[key]; twice {
			t.Fatalf("torch has two rows %s", key)
		}
		rows[key] = w
	}
	bad := 0
	for i := range got {
		g := torchRowOf(&got[i])
		key := rowKey(g.Name, g.DeviceType, g.Shapes, g.Stack)
		w, ok := rows[key]
		if !ok {
			t.Errorf("a row that torch does not have: %s", key)
			bad++
			continue
		}
		delete(rows, key)
		if diff := diffRows(g, w, gen); diff != "" {
			t.Errorf("%s: %s", key, diff)
			bad++
		}
		if bad > 10 {
			t.Fatal("and more")
		}
	}
	for key := range rows {
		t.Errorf("torch has a row that we lack: %s", key)
	}
	if bad == 0 {
		for i := range got {
			if got[i].Name != want[i].Name {
				t.Fatalf("row %d is %q, torch has %q: order differs", i, got[i].Name, want[i].Name)
			}
		}
	}
}

func rowKey(name string, device int, shapes string, stack []string) string {
	return fmt.Sprintf("%s/%d/%s/%s", name, device, shapes, strings.Join(stack, ";"))
}

func torchRowOf(k *Row) torchRow {
	shapes := k.InputShapes
	if shapes == "[]" {
		shapes = "" // an empty list is written like no list
	}
	return torchRow{Name: k.Name, Count: k.Count, SelfCPU: int64(k.SelfCPU), CPU: int64(k.CPU), SelfDevice: int64(k.SelfDevice),
		Device: int64(k.Device), SelfCPUBytes: k.SelfCPUBytes, CPUBytes: k.CPUBytes, SelfDeviceBytes: k.SelfDeviceBytes,
		DeviceBytes: k.DeviceBytes, Flops: k.Flops, Shapes: shapes, Stack: k.Stack, DeviceType: int(k.DeviceType),
		Annotation: k.IsUserAnnotation}
}

func diffRows(g, w torchRow, gen generation) string {
	var out []string
	check := func(column string, got, want int64) {
		if got != want {
			out = append(out, fmt.Sprintf("%s %d, torch %d", column, got, want))
		}
	}
	check("count", g.Count, w.Count)
	check("cpu", g.CPU, w.CPU)
	check("self cpu", g.SelfCPU, w.SelfCPU)
	check("device", g.Device, w.Device)
	check("self device", g.SelfDevice, w.SelfDevice)
	check("self cpu bytes", g.SelfCPUBytes, w.SelfCPUBytes)
	check("cpu bytes", g.CPUBytes, w.CPUBytes)
	check("self device bytes", g.SelfDeviceBytes, w.SelfDeviceBytes)
	check("device bytes", g.DeviceBytes, w.DeviceBytes)
	if g.Flops != 0 && w.Flops == 0 {
		w.Flops = g.Flops // recorded without with_flops: torch has nothing to compare with
	}
	check("flops", g.Flops, w.Flops)
	if !gen.ignorePython && g.Annotation != w.Annotation {
		out = append(out, fmt.Sprintf("annotation %v", g.Annotation))
	}
	if !slices.Equal(g.Stack, w.Stack) {
		out = append(out, "stack")
	}
	return strings.Join(out, ", ")
}

// compareRounded is for PyTorch 1.13, whose file and table round times to microseconds in different ways: an event can be
// 1 µs longer in the file, and two events of equal rounded ends can nest the other way round, so that one of them is (or is
// not) removed as a duplicate. Everything else must hold: each row is there but those that consist of such events alone, and
// counts and times stay that close.
func compareRounded(t *testing.T, got []Row, want []torchRow, opt Options, doubts map[string]int64) {
	if opt.ByStack > 0 {
		return // backward operators whose duplicates fell differently change their stacks
	}
	rows := map[string]torchRow{}
	var events, off int64
	for _, w := range want {
		rows[rowKey(w.Name, w.DeviceType, w.Shapes, w.Stack)] = w
		events += w.Count
	}
	for i := range got {
		g := torchRowOf(&got[i])
		key := rowKey(g.Name, g.DeviceType, g.Shapes, g.Stack)
		w, ok := rows[key]
		if !ok && g.Count > doubts[g.Name] {
			t.Errorf("a row that torch does not have: %s", key)
		}
		delete(rows, key)
		if d := g.Count - w.Count; d != 0 {
			off += max(d, -d)
			continue
		}
		if d := g.CPU - w.CPU; d > 1000*g.Count || d < -1000*g.Count {
			t.Errorf("%s: cpu %d, torch %d", key, g.CPU, w.CPU)
		}
	}
	for key, w := range rows {
		off += w.Count
		if w.Count > doubts[w.Name] {
			t.Errorf("torch has a row that we lack: %s", key)
		}
	}
	if off*33 > events {
		t.Errorf("%d of %d events are counted differently", off, events)
	}
}

// doubtful counts, by name, pairs of events of one name of which a file in whole microseconds cannot say whether torch has removed
// the inner one as a duplicate: it must lie inside the outer one and be its only child, and an end between the two, the inner
// one's or another's, is no further than that microsecond from the outer one's.
func doubtful(trace *model.Trace, s *model.Strings) map[string]int64 {
	const us = 1000
	ev := &trace.Events
	out := map[string]int64{}
	for i := range trace.Lanes {
		first, end := trace.Lanes[i].FirstEvent, trace.Lanes[i].EndEvent
		for outer := first; outer < end; outer++ {
			limit := ev.End(outer)
			pairs, close := int64(0), false
			for inner := outer + 1; inner < end && ev.Start[inner] <= limit; inner++ {
				near := ev.End(inner) - limit
				close = close || near >= -us && near <= us
				if ev.Name[inner] == ev.Name[outer] && near <= us {
					pairs++
				}
			}
			if close {
				out[s.Text(ev.Name[outer])] += pairs
			}
		}
	}
	return out
}

// The events of a recording whose table has the inner operator's row although the file says that it is its twin's only child:
// 163 + 11 and 165 + 9 are equal ends, which the table, from ⌊end − start⌋, had the other way round.
func TestDoubtfulDuplicates(t *testing.T) {
	for name, c := range map[string]struct {
		outer, inner, other [2]int64 // start and length in µs
		want                int64
	}{
		"equal ends":             {[2]int64{163, 11}, [2]int64{165, 9}, [2]int64{300, 1}, 1},
		"inside":                 {[2]int64{163, 11}, [2]int64{165, 5}, [2]int64{300, 1}, 0},
		"another child's end":    {[2]int64{163, 11}, [2]int64{165, 5}, [2]int64{171, 2}, 1},
		"outside by more":        {[2]int64{163, 11}, [2]int64{165, 12}, [2]int64{300, 1}, 0},
		"one after the other":    {[2]int64{163, 11}, [2]int64{175, 9}, [2]int64{300, 1}, 0},
		"outside by what may be": {[2]int64{163, 11}, [2]int64{165, 10}, [2]int64{300, 1}, 1},
	} {
		var s model.Strings
		trace := &model.Trace{}
		ev := &trace.Events
		for k, e := range [][2]int64{c.outer, c.inner, c.other} {
			ev.Start, ev.Dur = append(ev.Start, model.Time(e[0]*1000)), append(ev.Dur, model.Dur(e[1]*1000))
			ev.Name = append(ev.Name, s.Intern([]string{"aten::sum", "aten::sum", "aten::fill_"}[k]))
		}
		trace.Lanes = []model.Lane{{FirstEvent: 0, EndEvent: 3}}
		if got := doubtful(trace, &s)["aten::sum"]; got != c.want {
			t.Errorf("%s: %d doubtful, want %d", name, got, c.want)
		}
	}
}
