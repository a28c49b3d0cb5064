package export

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
)

func readSession(t testing.TB, data []byte, name string) *model.Session {
	t.Helper()
	s := &model.Session{Strings: &model.Strings{}}
	if _, err := ingest.ReadTrace(context.Background(), bytes.NewReader(data), name, s); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readGzipJSON(t *testing.T, name string, to any) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(readFile(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, to); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// TestStacksAreWhatTorchWrites compares with export_stacks of the same runs, which had verbose=True.
func TestStacksAreWhatTorchWrites(t *testing.T) {
	for _, name := range []string{"stacks", "everything"} {
		var fixture struct{ Stacks map[string]string }
		readGzipJSON(t, "../../testdata/torchtable/"+name+".json.gz", &fixture)
		s := readSession(t, readFile(t, "../../testdata/torchtable/"+name+".trace.json.gz"), name)
		for metric, want := range fixture.Stacks {
			var got bytes.Buffer
			if err := writeStacks(context.Background(), s, &got, Options{Rank: model.NoRank, Metric: metric}); err != nil {
				t.Fatal(err)
			}
			g, w := strings.Split(got.String(), "\n"), strings.Split(want, "\n")
			if len(g) != len(w) {
				t.Errorf("%s: %d lines, torch has %d", name, len(g), len(w))
			}
			for i := range min(len(g), len(w)) {
				if g[i] != w[i] {
					t.Errorf("%s line %d:\ngot  %s\nwant %s", name, i, g[i], w[i])
					break
				}
			}
			if len(w) < 50 {
				t.Errorf("%s: torch wrote %d lines only", name, len(w))
			}
		}
	}
}

func TestStacksRefuses(t *testing.T) {
	s := readSession(t, readFile(t, "../../testdata/torchtable/plain.trace.json.gz"), "plain")
	for metric, want := range map[string]string{"": "--with-stack", "self_cuda_time_total": "--with-stack",
		"cpu_time": "self_device_time_total"} {
		err := writeStacks(context.Background(), s, io.Discard, Options{Rank: model.NoRank, Metric: metric})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one that says %q", metric, err, want)
		}
	}
}

// TestChromeRoundTrip reads what was written: the model must be the same, column by column.
func TestChromeRoundTrip(t *testing.T) {
	names, _ := filepath.Glob("../../testdata/*/*.trace.json.gz")
	if len(names) < 7 {
		t.Fatalf("only %d traces", len(names))
	}
	for _, name := range names {
		before := readSession(t, readFile(t, name), name)
		roundTrip(t, before, filepath.Base(name))
	}
}

func roundTrip(t *testing.T, before *model.Session, name string) {
	t.Helper()
	var out bytes.Buffer
	if err := writeChrome(context.Background(), before, &out, Options{Rank: model.NoRank}); err != nil {
		t.Fatal(err)
	}
	after := readSession(t, out.Bytes(), name)
	a, b := before.Traces[0], after.Traces[0]
	if a.Events.Len() != b.Events.Len() || len(a.Memory.Time) != len(b.Memory.Time) || len(a.Counters) != len(b.Counters) ||
		len(a.Lanes) != len(b.Lanes) {
		t.Fatalf("%s: %d events, %d memory, %d counters, %d lanes became %d, %d, %d, %d", name,
			a.Events.Len(), len(a.Memory.Time), len(a.Counters), len(a.Lanes), b.Events.Len(), len(b.Memory.Time),
			len(b.Counters), len(b.Lanes))
	}
	// Lanes may come in another order; what is in a lane may not.
	places := map[string]int{}
	for i := range b.Lanes {
		places[laneKey(after, &b.Lanes[i])] = i
	}
	for i := range a.Lanes {
		at, ok := places[laneKey(before, &a.Lanes[i])]
		if !ok {
			t.Fatalf("%s: lane %s is gone", name, laneKey(before, &a.Lanes[i]))
		}
		x, y := a.Lanes[i].FirstEvent, b.Lanes[at].FirstEvent
		for ; x < a.Lanes[i].EndEvent; x, y = x+1, y+1 {
			if got, want := eventText(after, b, y), eventText(before, a, x); got != want {
				t.Fatalf("%s: event %d became\n%s\nwas\n%s", name, x, got, want)
			}
		}
	}
	for i := range a.Memory.Time {
		if a.Memory.Time[i] != b.Memory.Time[i] || a.Memory.Addr[i] != b.Memory.Addr[i] || a.Memory.Bytes[i] != b.Memory.Bytes[i] ||
			a.Memory.Allocated[i] != b.Memory.Allocated[i] {
			t.Fatalf("%s: memory event %d differs", name, i)
		}
	}
	for key, value := range a.Header.Metadata {
		if len(value) >= 256<<10 { // the model cuts values there; what is left of one is written as a string
			continue
		}
		if key != "traceName" && b.Header.Metadata[key] != value {
			t.Errorf("%s: metadata %s became %q, was %q", name, key, b.Header.Metadata[key], value)
		}
	}
	if a.Rank != b.Rank || a.World != b.World || a.Header.Backend != b.Header.Backend || len(a.Header.Groups) != len(b.Header.Groups) ||
		len(a.Header.Devices) != len(b.Header.Devices) {
		t.Errorf("%s: header became %+v, was %+v", name, b.Header, a.Header)
	}
}

func laneKey(s *model.Session, l *model.Lane) string {
	return strings.Join([]string{s.Strings.Text(l.PID), s.Strings.Text(l.TID), string('0' + rune(l.Kind))}, "/")
}

// eventText is everything the model holds of an event, texts resolved.
func eventText(s *model.Session, t *model.Trace, id model.EventID) string {
	e := &t.Events
	text := s.Strings.Text
	fields := []any{e.Start[id], e.Dur[id], text(e.Name[id]), e.Kind[id]}
	if d := e.Detail[id]; d >= 0 {
		switch e.Kind[id] {
		case model.KindOp, model.KindAnnotation:
			o := e.OpDetails[d]
			a := e.OpArgsOf(d)
			fields = append(fields, o.External, o.Sequence, o.FwdThread, a.Unended,
				text(a.Shapes), text(a.Strides), text(a.Types), text(a.Concrete), text(a.Stack), text(a.Module), text(a.Extra))
		case model.KindPython:
			x := e.PythonDetails[d]
			from := text(x.From)
			x.From = 0
			fields = append(fields, x, from)
		case model.KindRuntime:
			fields = append(fields, e.RuntimeDetails[d])
		case model.KindKernel, model.KindMemcpy, model.KindMemset, model.KindGPUAnnotation, model.KindSync, model.KindDeviceEvent:
			x := *e.DeviceArgsOf(d)
			collective := text(x.Collective)
			x.Collective = 0
			fields = append(fields, e.DeviceDetails[d].Correlation, e.DeviceDetails[d].External, x, collective)
		}
	}
	b, _ := json.Marshal(fields)
	return string(b)
}
