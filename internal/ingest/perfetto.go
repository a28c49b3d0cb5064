package ingest

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"bottleneck/internal/model"
)

// Bounds of Perfetto traces.
const (
	maxPerfettoPacket  = 64 << 20
	maxPerfettoBundle  = 64 << 20 // of packets that are compressed together
	maxPerfettoState   = 1 << 22  // interned texts, frames and stacks, tracks and sequences
	maxPerfettoOpen    = 10_000   // slices of a track that are open at once
	maxPerfettoSamples = 1 << 24
)

// Fields of TracePacket (google/perfetto, protos/perfetto/trace/trace_packet.proto) and their wire types.
var perfettoFields = map[protowire.Number]protowire.Type{1: protowire.BytesType, 2: protowire.BytesType, 3: protowire.VarintType,
	6: protowire.BytesType, 8: protowire.VarintType, 10: protowire.VarintType, 11: protowire.BytesType, 12: protowire.BytesType,
	13: protowire.VarintType, 33: protowire.BytesType, 36: protowire.BytesType, 41: protowire.VarintType, 42: protowire.VarintType,
	43: protowire.BytesType, 44: protowire.BytesType, 50: protowire.BytesType, 54: protowire.BytesType, 58: protowire.VarintType,
	59: protowire.BytesType, 60: protowire.BytesType, 66: protowire.BytesType, 69: protowire.BytesType, 79: protowire.VarintType,
	87: protowire.VarintType}

// isPerfetto checks that a text begins with packets of a Perfetto trace: the format has no magic bytes. A pprof profile begins
// alike, but the fields of its first message have other types.
func isPerfetto(head []byte) bool {
	packets, known := 0, 0
	for len(head) > 1 && head[0] == 0x0A && packets < 8 {
		size, n := protowire.ConsumeVarint(head[1:])
		if n < 0 || size > maxPerfettoPacket {
			return false
		}
		body := head[1+n:]
		whole := uint64(len(body)) >= size
		if whole {
			body = body[:size]
		}
		for len(body) > 0 {
			number, wire, tag := protowire.ConsumeTag(body)
			if tag < 0 {
				return !whole && known > 0
			}
			if want, ok := perfettoFields[number]; ok && want != wire || number > 1200 || wire > protowire.Fixed32Type ||
				wire == protowire.StartGroupType || wire == protowire.EndGroupType {
				return false
			} else if ok {
				known++
			}
			value := protowire.ConsumeFieldValue(number, wire, body[tag:])
			if value < 0 {
				return !whole && known > 0
			}
			body = body[tag+value:]
		}
		packets++
		if !whole {
			break
		}
		head = head[1+n+int(size):]
	}
	return packets > 0 && known > 0 && (len(head) < 2 || head[0] == 0x0A || packets >= 8)
}

// protoFields hands over the fields of a message: v is the number of a varint or fixed field, b the bytes of others. It is
// false where the message is damaged.
func protoFields(message []byte, field func(number protowire.Number, v uint64, b []byte)) bool {
	for len(message) > 0 {
		number, wire, n := protowire.ConsumeTag(message)
		if n < 0 {
			return false
		}
		message = message[n:]
		var v uint64
		var b []byte
		switch wire {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(message)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(message)
		case protowire.Fixed32Type:
			var short uint32
			short, n = protowire.ConsumeFixed32(message)
			v = uint64(short)
		case protowire.BytesType:
			b, n = protowire.ConsumeBytes(message)
			if b == nil {
				b = []byte{}
			}
		default:
			n = protowire.ConsumeFieldValue(number, wire, message)
		}
		if n < 0 {
			return false
		}
		message = message[n:]
		field(number, v, b)
	}
	return true
}

// protoNumbers hands over the numbers of a repeated field, which may be packed.
func protoNumbers(v uint64, b []byte, number func(uint64)) {
	if b == nil {
		number(v)
		return
	}
	for len(b) > 0 {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return
		}
		number(v)
		b = b[n:]
	}
}

// readPerfetto reads a Perfetto trace: slices and counters become a trace, CPU samples a process with stacks.
func readPerfetto(o *opening, src source, r io.Reader) (func() error, error) {
	p := newPerfettoReader()
	p.stream(bufio.NewReaderSize(r, 256<<10))
	for _, track := range p.tracks {
		for range track.open {
			p.b.skipped.add("begin-without-end", -1)
		}
	}
	samples, damage := (*model.Process)(nil), p.damage()
	if p.samples > 0 {
		out, err := p.profile.process("perfetto", p.samplePeriod())
		if err == nil {
			samples = out
		}
	}
	if p.b.builder.events.n+p.b.builder.counters.n == 0 && samples == nil {
		reason := "a Perfetto trace without slices, counters or CPU samples"
		if p.packets == 0 {
			reason = "a Perfetto trace that cannot be read: no packet is whole"
		}
		return nil, &UnusableError{Path: src.path, Reason: reason}
	}
	p.b.finish()
	return func() error {
		input := len(o.s.Inputs)
		if p.b.trace.Events.Len()+p.b.builder.counters.n > 0 {
			p.b.store(o.s, src.path)
		} else {
			o.s.Inputs = append(o.s.Inputs, model.Input{Path: src.path, Rank: model.NoRank})
		}
		in := &o.s.Inputs[input]
		in.Format, in.Bytes, in.Diagnostics = "perfetto", src.size, append(damage, in.Diagnostics...)
		if samples != nil {
			in.Events += int64(samples.Samples.Len())
			p.profile.store(o.s, samples)
		}
		return nil
	}, nil
}

// stream reads packets until the text ends or is no sequence of packets any more.
func (p *perfettoReader) stream(in *bufio.Reader) {
	var buf []byte
	for {
		tag, err := binary.ReadUvarint(in)
		if err != nil {
			p.ended(err)
			return
		}
		size, err := binary.ReadUvarint(in)
		if err != nil {
			p.cut = true
			return
		}
		if tag != 0x0A {
			p.broken = true
			return
		}
		if size > maxPerfettoPacket {
			p.large++
			if n, err := io.CopyN(io.Discard, in, int64(min(size, math.MaxInt64))); err != nil || n < int64(size) {
				p.cut = true
				return
			}
			continue
		}
		if buf, err = readInto(buf, in, int(size)); err != nil {
			p.cut = true
			return
		}
		p.packet(buf, 0)
	}
}

func (p *perfettoReader) ended(err error) {
	if !errors.Is(err, io.EOF) {
		p.cut = true
	}
}

// readInto reads n bytes, and takes memory as they come: a file may state any length.
func readInto(buf []byte, in io.Reader, n int) ([]byte, error) {
	buf = buf[:0]
	for len(buf) < n {
		step := min(n-len(buf), 1<<20)
		if cap(buf)-len(buf) < step {
			buf = append(buf, make([]byte, step)...)[:len(buf)]
		}
		m, err := io.ReadFull(in, buf[len(buf):len(buf)+step])
		buf = buf[:len(buf)+m]
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// bundle reads packets that were compressed together.
func (p *perfettoReader) bundle(packed []byte, depth int) {
	if depth > 0 { // they do not nest
		p.bad++
		return
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		p.bad++
		return
	}
	defer z.Close()
	text, err := io.ReadAll(io.LimitReader(z, maxPerfettoBundle+1))
	if err != nil {
		p.bad++
	}
	if len(text) > maxPerfettoBundle {
		p.large++
		text = text[:maxPerfettoBundle]
	}
	protoFields(text, func(number protowire.Number, _ uint64, b []byte) {
		if number == 1 && b != nil {
			p.packet(b, depth+1)
		}
	})
}

func (p *perfettoReader) damage() []model.Diagnostic {
	var out []model.Diagnostic
	add := func(kind string, n int64, text string) {
		if n > 0 {
			out = append(out, model.Diagnostic{Kind: kind, Count: n, FirstOffset: -1, Text: text})
		}
	}
	is := func(b bool) int64 {
		if b {
			return 1
		}
		return 0
	}
	add("cut-short", is(p.cut), "the last packet ends too early: the file was cut short or is still being written")
	add("damaged", is(p.broken), "behind the last packet that was read something else stands; it was not read")
	add("bad-packet", p.bad, "packets that cannot be decoded; left out")
	add("large-packet", p.large, fmt.Sprintf("packets larger than %d MiB, or unpacked than %d MiB; left out", maxPerfettoPacket>>20,
		maxPerfettoBundle>>20))
	add("lost-state", p.lost, "packets whose names stand in packets that were lost; left out")
	add("too-many-rows", p.over, "more names, tracks, slices at once or samples than can be kept; left out")
	return out
}
