package ingest

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"

	"bottleneck/internal/model"
	"bottleneck/internal/pickle"
)

// readMemorySnapshot reads the pickle that torch.cuda.memory._dump_snapshot writes.
func readMemorySnapshot(o *opening, src source, in io.Reader) (func() error, error) {
	r := newSnapshotReader(in)
	snapshot, err := r.read()
	if err != nil {
		return nil, &UnusableError{Path: src.path, Reason: "a CUDA memory snapshot that cannot be read: " + err.Error(), err: err}
	}
	return func() error {
		r.store(o.s, snapshot)
		events := int64(0)
		for i := range snapshot.Devices {
			events += int64(len(snapshot.Devices[i].Events))
		}
		snapshot.Input = len(o.s.Inputs)
		o.s.Inputs = append(o.s.Inputs, model.Input{Path: src.path, Format: "memory-snapshot", Bytes: src.size,
			Rank: (&header{rank: model.NoRank}).rankOf(src.path), Events: events, Diagnostics: r.diagnostics()})
		o.s.Snapshots = append(o.s.Snapshots, snapshot)
		return nil
	}, nil
}

var errNoSnapshot = errors.New("no list of segments in it")

// read reads the file. Texts of frames are still the pickle's.
func (s *snapshotReader) read() (*model.MemorySnapshot, error) {
	top, err := s.pickle.Read()
	if err = errors.Join(err, s.over); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) && s.events.n > 0 {
			return s.cutShort(), nil
		}
		return nil, err
	}
	segments, ok := s.pickle.Get(top, "segments")
	if !ok {
		return nil, errNoSnapshot
	}
	segmentRun, ok := s.runOf(segments, rowSegment)
	if items, isList := s.pickle.List(segments); !ok && (!isList || len(items) > 0) {
		return nil, errNoSnapshot
	}
	traces, _ := s.pickle.Get(top, "device_traces")
	lists, _ := s.pickle.List(traces)
	if len(lists) > maxSnapshotDevices {
		return nil, fmt.Errorf("%d devices", len(lists))
	}
	eventRuns := make([]rowRun, len(lists))
	for n, list := range lists {
		eventRuns[n], _ = s.runOf(s.pickle.Resolve(list), rowEvent)
	}
	out := &model.MemorySnapshot{Config: s.config(top)}
	s.release()
	out.Devices, err = s.devices(segmentRun, eventRuns)
	return out, err
}

// release gives up what was needed to read, before the rows move to where they stay.
func (s *snapshotReader) release() {
	large := s.events.n > 1<<20
	s.pickle.Release()
	s.runs = column[rowRun]{}
	if large {
		debug.FreeOSMemory()
	}
}

// devices moves the rows to their devices.
func (s *snapshotReader) devices(segments rowRun, events []rowRun) ([]model.SnapshotDevice, error) {
	devices := snapshotDevices{}
	s.addSegments(devices, segments)
	s.blocks, s.segments = column[model.MemoryBlock]{}, column[snapshotSegment]{}
	moved := int32(0)
	for n, run := range events {
		if run.to > run.from && run.from < moved {
			return nil, errors.New("two devices with the same events")
		}
		if run.to > run.from {
			devices.of(n).Events = s.events.move(int(run.from), int(run.to))
			moved = run.to
		}
	}
	return devices.inOrder(), nil
}

// cutShort is what there is of a file that ends within its events: the segments, which stand before them. Its events end
// somewhere, so that no level can be told from them.
func (s *snapshotReader) cutShort() *model.MemorySnapshot {
	s.odd.add("cut-short", s.pickle.Offset())
	devices := snapshotDevices{}
	for i := range s.runs.n {
		if run := s.runs.at(i); run.kind == rowSegment {
			s.addSegments(devices, *run)
		}
	}
	return &model.MemorySnapshot{Devices: devices.inOrder()}
}

// snapshotDevices are devices by their index.
type snapshotDevices map[int]*model.SnapshotDevice

func (d snapshotDevices) of(index int) *model.SnapshotDevice {
	if d[index] == nil {
		d[index] = &model.SnapshotDevice{Index: index}
	}
	return d[index]
}

func (d snapshotDevices) inOrder() []model.SnapshotDevice {
	var out []model.SnapshotDevice
	for n := range maxSnapshotDevices {
		if d[n] != nil {
			out = append(out, *d[n])
		}
	}
	return out
}

func (s *snapshotReader) runOf(v pickle.Value, kind int) (rowRun, bool) {
	if k, index, ok := rowParts(v); ok && k == rowList && s.runs.at(index).kind == int32(kind) {
		return *s.runs.at(index), true
	}
	return rowRun{}, false
}

func (s *snapshotReader) addSegments(to snapshotDevices, run rowRun) {
	segments, blocks := map[int]int{}, map[int]int{}
	for i := run.from; i < run.to; i++ {
		g := s.segments.at(int(i))
		segments[g.device]++
		blocks[g.device] += int(g.EndBlock - g.FirstBlock)
	}
	for index, n := range segments {
		d := to.of(index)
		d.Segments, d.Blocks = slices.Grow(d.Segments, n), slices.Grow(d.Blocks, blocks[index])
	}
	for i := run.from; i < run.to; i++ {
		g := s.segments.at(int(i))
		d := to.of(g.device)
		out := g.MemorySegment
		out.FirstBlock = int32(len(d.Blocks))
		d.Blocks = s.blocks.appendTo(d.Blocks, int(g.FirstBlock), int(g.EndBlock))
		out.EndBlock = int32(len(d.Blocks))
		d.Segments = append(d.Segments, out)
	}
}

func (s *snapshotReader) config(top pickle.Value) string {
	settings, _ := s.pickle.Get(top, "allocator_settings")
	value, _ := s.pickle.Get(settings, "PYTORCH_CUDA_ALLOC_CONF")
	text, _ := s.pickle.Text(value)
	return text
}

// snapshotOddities say what each oddity means.
var snapshotOddities = map[string]string{"absurd-number": "sizes or addresses that no memory has; taken as 0",
	"cut-short": "the file ends within its events, which are left out: peak and history are not known"}

func (s *snapshotReader) diagnostics() []model.Diagnostic {
	var out []model.Diagnostic
	for _, kind := range []string{"cut-short", "absurd-number"} {
		if odd := s.odd[kind]; odd != nil {
			out = append(out, model.Diagnostic{Kind: kind, Count: odd.count, FirstOffset: odd.first, Text: snapshotOddities[kind]})
		}
	}
	return out
}
