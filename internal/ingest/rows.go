package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"bottleneck/internal/kineto"
	"bottleneck/internal/model"
	"bottleneck/internal/sqlite"
)

// rowBuilder makes a trace of a database's rows: the same columns, in the same order and linked alike, as a Kineto trace's text.
type rowBuilder struct{ *builder }

func newRowBuilder() *rowBuilder {
	b := newBuilder(kineto.NewBytesScanner(nil), TraceOptions{})
	b.scan.Fractions = true // times are nanoseconds
	return &rowBuilder{b}
}

func number(n int64) kineto.ID { return kineto.ID{Num: n, Set: true} }

func (b *rowBuilder) thread(pid, tid int64) model.LaneID {
	return b.lanes.find(number(pid), number(tid), model.LaneThread)
}

func (b *rowBuilder) stream(device, stream int64) model.LaneID {
	return b.lanes.find(number(device), number(stream), model.LaneStream)
}

func (b *rowBuilder) aside(pid, tid int64) model.LaneID {
	return b.lanes.find(number(pid), number(tid), model.LaneOther)
}

func (b *rowBuilder) nameThread(pid, tid int64, name string) {
	if name != "" && len(b.lanes.names) < maxLanes {
		b.lanes.names[laneKey{number(pid), number(tid), model.LaneThread}] = b.text(name)
	}
}

func (b *rowBuilder) text(s string) kineto.Text { return b.scan.Names.InternString(s) }

// event adds a row of a category; times are nanoseconds.
func (b *rowBuilder) event(category string, kind model.Kind, lane model.LaneID, start, end int64, name kineto.Text, detail int32) {
	b.total++
	if why := impossible(&kineto.Event{TS: start}, kind, end-start); why != "" {
		b.skipped.add(why, -1)
		return
	}
	b.builder.events.add(rawEvent{start: start, dur: end - start, name: name, lane: lane, detail: detail, kind: kind})
	id := b.text(category)
	for int(id) >= len(b.counts) {
		b.counts = append(b.counts, 0)
	}
	b.counts[id]++
}

func (b *rowBuilder) call(correlation int64) int32 {
	return b.runtime.add(model.RuntimeDetail{Correlation: correlation})
}

// work keeps what a row of a device was launched with.
func (b *rowBuilder) work(correlation int64, args model.DeviceArgs) int32 {
	return b.device.add(model.DeviceDetail{Correlation: correlation, Args: b.deviceArgs.intern(&args, hashDeviceArgs(&args))})
}

// noWork is a row of a device of which nothing more is known.
func noWork(device, stream int64) model.DeviceArgs {
	return model.DeviceArgs{Device: clamp32(device), Stream: stream, Occupancy: -1, Bytes: -1, WaitCorrelation: -1, WaitStream: -1}
}

// operator keeps what emit_nvtx wrote of an operator.
func (b *rowBuilder) operator(r *nvtxRange) int32 {
	a := model.OpArgs{}
	if r.sizes != "" {
		a.Shapes = model.Str(b.scan.JSON.InternString(r.sizes))
	}
	return b.ops.add(model.OpDetail{Sequence: r.sequence, Args: b.opArgs.intern(&a, hashOpArgs(&a))})
}

// copied are the arguments of a copy or set of so many bytes in so many nanoseconds.
func (b *rowBuilder) copied(device, stream, bytes, ns int64) model.DeviceArgs {
	a := noWork(device, stream)
	a.Bytes = bytes
	if ns > 0 && bytes > 0 {
		a.BandwidthGBs = float32(float64(bytes) / float64(ns))
	}
	return a
}

// kernel are the arguments of a kernel; multiprocessors is 0 where their number is not known.
func kernelArgs(device, stream int64, grid, block [3]int64, registers, shared int64, multiprocessors int) model.DeviceArgs {
	a := noWork(device, stream)
	blocks, threads := 1.0, 1.0
	for i := range 3 {
		a.Grid[i], a.Block[i] = clamp32(grid[i]), clamp32(block[i])
		blocks *= float64(max(a.Grid[i], 1))
		threads *= float64(max(a.Block[i], 1))
	}
	a.Registers, a.SharedBytes = clamp32(registers), clamp32(max(shared, 0))
	if multiprocessors > 0 {
		a.BlocksPerSM = float32(blocks / float64(multiprocessors))
		a.WarpsPerSM = float32(blocks * math.Ceil(threads/32) / float64(multiprocessors))
	}
	return a
}

// maxDatabase bounds databases that have to be held in memory: compressed ones, and those from a pipe or an archive.
const maxDatabase = 4 << 30

// readDatabase reads a database of Nsight Systems, nvprof or rocprofv3.
func readDatabase(o *opening, src source, r io.Reader) (func() error, error) {
	in, size, closeFile, err := randomAccess(src, r)
	if err != nil {
		return nil, &UnusableError{Path: src.path, Reason: err.Error(), err: err}
	}
	defer closeFile()
	db, err := sqlite.Open(in, size)
	if err != nil {
		return nil, &UnusableError{Path: src.path, Reason: err.Error(), err: err}
	}
	switch {
	case db.Table("StringIds") != nil || db.Table("META_DATA_EXPORT") != nil || db.Instead("StringIds") != "":
		return readNsys(o, src, db)
	case db.Table("StringTable") != nil || db.Instead("StringTable") != "":
		return readNvprof(o, src, db)
	case isRocpdDatabase(db):
		return readRocpd(o, src, db)
	}
	note := "it has no table of Nsight Systems, nvprof or rocprofv3, and nothing in it is read"
	if size <= headSize || db.Damage().Cut > 0 {
		note += "; the file is cut short"
	}
	return named("sqlite", note)(o, src, r)
}

// randomAccess gives the whole file: itself where it is one on disk, else in memory.
func randomAccess(src source, r io.Reader) (in io.ReaderAt, size int64, closeFile func(), err error) {
	if !src.packed && !src.input && src.open != nil {
		f, err := src.open()
		if err != nil {
			return nil, 0, nil, err
		}
		if at, ok := f.(io.ReaderAt); ok && src.size > 0 {
			return at, src.size, func() { f.Close() }, nil
		}
		f.Close()
	}
	text, err := io.ReadAll(io.LimitReader(r, maxDatabase+1))
	if err == nil && len(text) > maxDatabase {
		err = errors.New("a compressed database of more than 4 GiB: unpack it first")
	}
	return bytes.NewReader(text), int64(len(text)), func() {}, err
}

// databaseDamage says what of a database could not be read.
func databaseDamage(d sqlite.Damage) []model.Diagnostic {
	var out []model.Diagnostic
	add := func(kind string, n int64, text string) {
		if n > 0 {
			out = append(out, model.Diagnostic{Kind: kind, Count: n, FirstOffset: -1, Text: text})
		}
	}
	add("cut-short", d.Cut, "bytes that the database's header promises and the file lacks: it was cut short or is still being written")
	add("damaged-page", d.Pages, fmt.Sprintf("pages of the database are missing or damaged, the first is page %d; their rows are left out",
		d.First))
	add("damaged-record", d.Records, "rows of the database that do not fit their page; left out")
	if d.Log {
		add("write-ahead-log", 1, "the newest rows may stand in a write-ahead log beside the database (-wal), which is not read: close "+
			"the program that writes it")
	}
	return out
}

// storeRows adds the traces of one file, a trace for each process, to the session with one Input.
func storeRows(o *opening, src source, format string, traces []*rowBuilder, damage []model.Diagnostic) func() error {
	return func() error {
		first := len(o.s.Inputs)
		for i, b := range traces {
			t := b.store(o.s, src.path)
			if i == 0 {
				continue
			}
			more := o.s.Inputs[len(o.s.Inputs)-1]
			o.s.Inputs = o.s.Inputs[:len(o.s.Inputs)-1]
			in := &o.s.Inputs[first]
			in.Events += more.Events
			for category, n := range more.Counts {
				in.Counts[category] += n
			}
			in.Diagnostics = append(in.Diagnostics, more.Diagnostics...)
			t.Input = first
		}
		in := &o.s.Inputs[first]
		in.Format, in.Bytes = format, src.size
		in.Diagnostics = append(damage, in.Diagnostics...)
		return nil
	}
}
