package view

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// torchFixture is what testdata/torchtable/generate.py wrote: torch's rows and torch's text.
type torchFixture struct {
	Trace  string `json:"trace"` // where the trace is, below the folder of recorded traces
	Device string `json:"device"`
	Memory bool   `json:"profile_memory"`
	Flops  bool   `json:"with_flops"`
	Shapes bool   `json:"group_by_input_shape"`
	StackN int    `json:"group_by_stack_n"`

	Rows   []torchFixtureRow
	Tables []struct {
		torchFixture // the made tables have rows and a device of their own
		Args         struct {
			SortBy   *string `json:"sort_by"`
			RowLimit int     `json:"row_limit"`
			Src      *int    `json:"max_src_column_width"`
			Name     *int    `json:"max_name_column_width"`
			Shapes   *int    `json:"max_shapes_column_width"`
			Header   *string `json:"header"`
			TopLevel bool    `json:"top_level_events_only"`
			Unit     *string `json:"time_unit"`
		}
		Text string
	}
	Stacks map[string]string
}

type torchFixtureRow struct {
	Name            string
	Overload        string
	SelfCPU         float64 `json:"self_cpu_us"`
	CPU             float64 `json:"cpu_us"`
	SelfDevice      float64 `json:"self_device_us"`
	Device          float64 `json:"device_us"`
	SelfCPUBytes    int64   `json:"self_cpu_bytes"`
	CPUBytes        int64   `json:"cpu_bytes"`
	SelfDeviceBytes int64   `json:"self_device_bytes"`
	DeviceBytes     int64   `json:"device_bytes"`
	Count           int64
	Flops           int64
	NodeID          int    `json:"node_id"`
	InputShapes     string `json:"input_shapes"`
	Stack           []string
	Module          string
	OnDevice        bool `json:"on_device"`
	Legacy          bool
	Async           bool
	UserAnnotation  bool `json:"user_annotation"`
	TopLevel        bool `json:"top_level"`
}

func readTorchFixture(t *testing.T, name string) torchFixture {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var fixture torchFixture
	if err := json.NewDecoder(z).Decode(&fixture); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return fixture
}

func torchRowsOf(rows []torchFixtureRow) []TorchRow {
	out := make([]TorchRow, len(rows))
	for i, r := range rows {
		out[i] = TorchRow(r)
	}
	return out
}

// TestTorchTableFromRows compares the text with torch's over the matrix of arguments, given torch's own rows.
func TestTorchTableFromRows(t *testing.T) {
	names, _ := filepath.Glob("../../testdata/torchtable/*.json.gz")
	tables := 0
	for _, name := range names {
		if strings.HasSuffix(name, ".trace.json.gz") {
			continue
		}
		fixture := readTorchFixture(t, name)
		for i := range fixture.Tables {
			table := &fixture.Tables[i]
			from := &fixture
			if len(fixture.Rows) == 0 {
				from = &table.torchFixture
			}
			var got strings.Builder
			if err := TorchTable(&got, torchRowsOf(from.Rows), tableOptions(&fixture, i)); err != nil {
				t.Fatal(err)
			}
			tables++
			if got.String() != table.Text {
				t.Errorf("%s table %d (%+v):\n%s", filepath.Base(name), i, table.Args, firstDifference(got.String(), table.Text))
			}
		}
	}
	if tables < 150 {
		t.Errorf("only %d tables were compared", tables)
	}
}

func tableOptions(f *torchFixture, i int) TorchTableOptions {
	table := &f.Tables[i]
	from := f
	if len(f.Rows) == 0 {
		from = &table.torchFixture
	}
	text := func(p *string) string {
		if p == nil {
			return ""
		}
		return *p
	}
	width := func(p *int) int {
		if p == nil {
			return -1
		}
		return *p
	}
	a := &table.Args
	return TorchTableOptions{
		SortBy: text(a.SortBy), RowLimit: a.RowLimit, MaxSrcWidth: width(a.Src), MaxNameWidth: width(a.Name),
		MaxShapes: width(a.Shapes), Header: text(a.Header), TopLevelOnly: a.TopLevel, TimeUnit: text(a.Unit),
		Device: from.Device, Memory: from.Memory, Flops: from.Flops,
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		switch {
		case i >= len(g):
			return "missing: " + w[i]
		case i >= len(w):
			return "too much: " + g[i]
		case g[i] != w[i]:
			return "got  " + g[i] + "\nwant " + w[i]
		}
	}
	return ""
}

func TestTorchTableUnknownSortKey(t *testing.T) {
	err := TorchTable(&strings.Builder{}, []TorchRow{{Name: "a"}}, TorchTableOptions{SortBy: "cpu_tme"})
	if err == nil || !strings.Contains(err.Error(), "self_device_time_total") {
		t.Errorf("error %v does not list the keys", err)
	}
}

func TestTorchTableWithoutRowsIsEmpty(t *testing.T) {
	var out strings.Builder
	if err := TorchTable(&out, nil, NewTorchTableOptions()); err != nil || out.Len() != 0 {
		t.Errorf("%q, %v", out.String(), err)
	}
}
