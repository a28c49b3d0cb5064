package ingest

import (
	"sync"
	"sync/atomic"

	"bottleneck/internal/kineto"
	"bottleneck/internal/model"
)

// pieceSize is how much text is parsed by one goroutine at a time: a thousand events, and less than a core's cache.
const pieceSize = 256 << 10

// maxReaders bounds the goroutines that parse one text: unpacking cannot feed more.
const maxReaders = 8

// piece is a part of a text, and what a reader made of it. Texts, lanes and arguments are those of the reader; the new ones
// among them come with the piece.
type piece struct {
	text      []byte
	offset    int64
	end       int64 // offset up to which it was read
	by        *pieceReader
	parsed    chan struct{}
	buf       []byte
	read      *stage
	names     []string
	json      []string
	lanes     []laneKey
	named     map[laneKey]kineto.Text
	ops       []model.OpArgs
	device    []model.DeviceArgs
	dropped   int64 // extras
	fractions bool
}

// pieceReader parses pieces with a builder of its own.
type pieceReader struct {
	b *builder
	// How much of the builder's tables has been handed over.
	names, json, lanes, ops, device int
	dropped                         int64
	// What the texts, lanes and arguments of this builder are in the trace's; grown as pieces are taken over.
	nameOf, jsonOf     []kineto.Text
	laneOf             []model.LaneID
	opArgs, deviceArgs []uint32
}

// runPieces is run with the text cut into pieces that several goroutines parse. What they made of the pieces is taken over
// in order, so the columns are those of run, to the last bit. Where a piece does not end as it should (damage, the array's
// end, a string that looks like events), and from rows on that need the ones before them, the rest is read by run.
func (b *builder) runPieces() {
	readers := min(b.readers, maxReaders)
	if readers < 2 || !b.scan.Start() {
		b.run()
		return
	}
	if rest, all := b.scan.Rest(); all && rest <= b.pieceSize {
		b.run() // one piece: not worth the memory of several
		return
	}
	c := b.scan.Pieces(b.pieceSize)
	p := &pipeline{cut: c, free: make(chan *piece, readers+2), order: make(chan *piece, readers+2), jobs: make(chan *piece, readers+2),
		quit: make(chan struct{})}
	for range cap(p.free) {
		p.free <- &piece{read: newStage(), parsed: make(chan struct{}, 1)}
	}
	var working sync.WaitGroup
	working.Go(p.feed)
	for range readers {
		r := newPieceReader(b.opt)
		working.Go(func() { p.parse(r) })
	}
	unread, offset := b.takeOver(p)
	working.Wait()
	c.Resume(unread, offset)
	b.run()
}

// pipeline hands pieces from the one that cuts them to those that parse them, and to the one that takes them over.
type pipeline struct {
	cut               *kineto.Pieces
	free, order, jobs chan *piece
	quit              chan struct{}
	stopped           atomic.Bool
}

// feed cuts the text until it ends or somebody quits.
func (p *pipeline) feed() {
	defer close(p.order)
	defer close(p.jobs)
	for {
		var next *piece
		select {
		case next = <-p.free:
		case <-p.quit:
			return
		}
		if next.text, next.offset = p.cut.Next(next.buf); len(next.text) == 0 {
			return
		}
		next.buf = next.text[:0]
		p.order <- next
		p.jobs <- next
	}
}

func (p *pipeline) parse(r *pieceReader) {
	for next := range p.jobs {
		if !p.stopped.Load() {
			r.parse(next)
		}
		next.parsed <- struct{}{}
	}
}

// takeOver adds pieces in order. It returns the text that was cut and not taken over, and the offset from which on nothing was.
func (b *builder) takeOver(p *pipeline) (unread [][]byte, offset int64) {
	offset = -1
	for next := range p.order {
		<-next.parsed
		if offset >= 0 {
			unread = append(unread, next.text)
			continue
		}
		done := next.offset
		if b.room(next) {
			b.take(next)
			done = next.end
		}
		if done == next.offset+int64(len(next.text)) {
			p.free <- next
			continue
		}
		offset, unread = done, [][]byte{next.text[done-next.offset:]}
		p.stopped.Store(true)
		close(p.quit)
	}
	if offset < 0 {
		offset = p.cut.Offset()
	}
	return unread, offset
}

func newPieceReader(opt TraceOptions) *pieceReader {
	r := &pieceReader{b: newBuilder(kineto.NewBytesScanner(nil), opt)}
	r.b.piecewise = true
	r.names, r.json = 1, 1
	r.nameOf, r.jsonOf = []kineto.Text{0}, []kineto.Text{0}
	return r
}

// parse reads one piece.
func (r *pieceReader) parse(p *piece) {
	b := r.b
	p.read.reset()
	b.stage, b.lanes.names = p.read, map[laneKey]kineto.Text{}
	b.scan.Piece(p.text, p.offset)
	p.end = b.run()
	p.by, p.fractions, p.named = r, b.scan.Fractions, b.lanes.names
	p.names, p.json = newTexts(p.names[:0], b.scan.Names, &r.names), newTexts(p.json[:0], b.scan.JSON, &r.json)
	p.lanes = p.lanes[:0]
	for ; r.lanes < len(b.lanes.list); r.lanes++ {
		p.lanes = append(p.lanes, b.lanes.list[r.lanes].key)
	}
	p.ops = append(p.ops[:0], b.opArgs.rows[r.ops:]...)
	p.device = append(p.device[:0], b.deviceArgs.rows[r.device:]...)
	r.ops, r.device = len(b.opArgs.rows), len(b.deviceArgs.rows)
	p.dropped, r.dropped = b.extras.dropped-r.dropped, b.extras.dropped
}

func newTexts(to []string, from *kineto.Texts, known *int) []string {
	for ; *known < from.Len(); *known++ {
		to = append(to, from.String(kineto.Text(*known)))
	}
	return to
}

// room says whether a piece can be taken over without reaching a bound on lanes or texts, which run keeps row by row.
func (b *builder) room(p *piece) bool {
	return len(b.lanes.list)+len(p.lanes) < maxLanes && len(b.lanes.names)+len(p.named) < maxLanes &&
		b.extras.bytes+extraBytes(p) < maxExtras
}

// extraBytes is the most that a piece's new texts can add to the extras.
func extraBytes(p *piece) int64 {
	n := int64(0)
	for _, text := range p.json {
		n += int64(len(text)) + 32
	}
	return n
}

// take adds what was read of a piece.
func (b *builder) take(p *piece) {
	r := p.by
	b.extras.bytes += extraBytes(p)
	b.extras.dropped += p.dropped
	b.scan.Fractions = b.scan.Fractions || p.fractions
	for _, text := range p.names {
		r.nameOf = append(r.nameOf, b.scan.Names.InternString(text))
	}
	for _, text := range p.json {
		r.jsonOf = append(r.jsonOf, b.scan.JSON.InternString(text))
	}
	for _, key := range p.lanes {
		r.laneOf = append(r.laneOf, b.lanes.find(r.id(key.pid), r.id(key.tid), key.kind))
	}
	for key, name := range p.named {
		b.lanes.names[laneKey{r.id(key.pid), r.id(key.tid), key.kind}] = r.nameOf[name]
	}
	r.mapArgs(b, p)
	b.takeRows(r, p.read)
	st := p.read
	b.total += st.total
	for cat, n := range st.counts {
		if n > 0 {
			to := r.nameOf[cat]
			b.cat(to)
			b.counts[to] += n
		}
	}
	for kind, s := range st.skipped {
		if have := b.skipped[kind]; have != nil {
			have.count += s.count
		} else {
			b.skipped[kind] = s
		}
	}
}

// id is an id with its text in the trace's table.
func (r *pieceReader) id(id kineto.ID) kineto.ID {
	id.Text = r.nameOf[id.Text]
	return id
}

// mapArgs carries new sets of arguments over.
func (r *pieceReader) mapArgs(b *builder, p *piece) {
	name := func(id *model.Str) { *id = model.Str(r.nameOf[*id]) }
	json := func(id *model.Str) { *id = model.Str(r.jsonOf[*id]) }
	for _, a := range p.ops {
		json(&a.Shapes)
		json(&a.Strides)
		json(&a.Types)
		json(&a.Concrete)
		json(&a.Extra)
		name(&a.Stack)
		name(&a.Module)
		r.opArgs = append(r.opArgs, b.opArgs.intern(&a, hashOpArgs(&a)))
	}
	for _, a := range p.device {
		json(&a.Collective)
		r.deviceArgs = append(r.deviceArgs, b.deviceArgs.intern(&a, hashDeviceArgs(&a)))
	}
}

// takeRows adds the rows of a piece behind those that are there.
func (b *builder) takeRows(r *pieceReader, st *stage) {
	var before [model.KindOverhead + 1]int32 // rows of details by kind of event
	for kind := range before {
		switch kind := model.Kind(kind); kind {
		case model.KindOp, model.KindAnnotation:
			before[kind] = int32(b.ops.n)
		case model.KindPython:
			before[kind] = int32(b.python.n)
		case model.KindRuntime:
			before[kind] = int32(b.runtime.n)
		default:
			before[kind] = int32(b.device.n)
		}
	}
	for _, chunk := range st.events.chunks() {
		for _, raw := range chunk {
			raw.name, raw.lane = r.nameOf[raw.name], r.laneOf[raw.lane]
			if raw.detail >= 0 {
				raw.detail += before[raw.kind]
			}
			b.events.add(raw)
		}
	}
	takeAll(&b.ops, &st.ops, func(d *model.OpDetail) { d.Args = r.opArgs[d.Args] })
	takeAll(&b.python, &st.python, func(d *model.PythonDetail) { d.From = model.Str(r.nameOf[d.From]) })
	takeAll(&b.runtime, &st.runtime, func(*model.RuntimeDetail) {})
	takeAll(&b.device, &st.device, func(d *model.DeviceDetail) { d.Args = r.deviceArgs[d.Args] })
	takeAll(&b.memory, &st.memory, func(m *rawMemory) { m.lane = r.laneOf[m.lane] })
	takeAll(&b.ranges, &st.ranges, func(c *rawCounter) { c.name, c.key, c.pid.Num = r.nameOf[c.name], r.nameOf[c.key], c.pid.Num+b.ranged })
	b.ranged += st.ranged
	takeAll(&b.counters, &st.counters, func(c *rawCounter) { c.name, c.key, c.pid = r.nameOf[c.name], r.nameOf[c.key], r.id(c.pid) })
}

func takeAll[T any](to, from *rows[T], change func(*T)) {
	for _, chunk := range from.chunks() {
		for i := range chunk {
			change(&chunk[i])
			to.add(chunk[i])
		}
	}
}
