package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"

	"bottleneck/internal/model"
)

// Caps of what a sample file may ask for.
const (
	maxSampleChunk   = 64 << 20  // bytes of a chunk as stored
	maxSampleMessage = 256 << 20 // and decompressed
	maxSampleRun     = 1 << 24   // samples that one run stands for
	maxSampleRows    = 1 << 22   // entries of all tables of a chunk, and samples of a batch: the empty ones cost more memory than text
	// maxSampleResources bounds the processes of a chunk, each of which refers to its tables.
	maxSampleResources = 1 << 16
)

// ErrSamplesDamaged says that a sample file ends in a chunk that cannot be read; what came before was.
var ErrSamplesDamaged = errors.New("sample file is damaged")

// SampleBatch is what one chunk holds of one process. Stacks refer to Locations, innermost first.
type SampleBatch struct {
	Process      SampleProcess
	Counts       SampleCounts
	Mono, Unix   int64 // one moment on both clocks
	Locations    []SampleFrame
	Stacks       [][]int32
	Samples      []StoredSample
	InconsistIDs int64 // references to entries that do not exist
	Stored       int64 // bytes of the file up to here
}

// StoredSample are samples of one thread in one place. A run's N samples are spread evenly from the first to the last
// of its two times.
type StoredSample struct {
	Stack  int32
	Thread int32
	Name   string
	State  model.ThreadState
	Flags  uint8
	Times  []int64 // Unix ns
	N      int64   // of a run; 0 otherwise
}

// ReadSamples reads a sample file chunk by chunk. The error of a file that is damaged at some place wraps
// ErrSamplesDamaged and names the offset; everything before it was visited.
func ReadSamples(r io.Reader, visit func(*SampleBatch) error) error {
	zip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxSampleMessage))
	if err != nil {
		return fmt.Errorf("read samples: %w", err)
	}
	defer zip.Close()
	var offset, unpacked int64
	var head [4]byte
	var stored, raw []byte
	for {
		n, err := io.ReadFull(r, head[:])
		if err == io.EOF {
			return nil
		}
		size := binary.LittleEndian.Uint32(head[:])
		if err != nil || size == 0 || size > maxSampleChunk { // an empty one is no frame: a hole in a file would be a billion of them
			return fmt.Errorf("chunk at byte %d (%d bytes of its length): %w", offset, n, ErrSamplesDamaged)
		}
		if stored, err = readUpTo(r, stored[:0], int(size)); err != nil {
			return fmt.Errorf("chunk at byte %d ends early: %w", offset, ErrSamplesDamaged)
		}
		if raw, err = zip.DecodeAll(stored, raw[:0]); err != nil {
			return fmt.Errorf("chunk at byte %d: %w (%w)", offset, ErrSamplesDamaged, err)
		}
		offset += 4 + int64(size)
		if unpacked += int64(len(raw)); unpacked > GuardFloor && unpacked/GuardRatio > offset {
			return fmt.Errorf("chunk at byte %d: %w (%w)", offset-4-int64(size), ErrSamplesDamaged, ErrBomb)
		}
		if err := decodeSamples(raw, offset, visit); err != nil {
			return fmt.Errorf("chunk that ends at byte %d: %w", offset, err)
		}
	}
}

// readUpTo reads n bytes without trusting n for the allocation.
func readUpTo(r io.Reader, buf []byte, n int) ([]byte, error) {
	for len(buf) < n {
		step := min(n-len(buf), 1<<20)
		at := len(buf)
		buf = append(buf, make([]byte, step)...)
		if _, err := io.ReadFull(r, buf[at:]); err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// field is one decoded field of a message.
type field struct {
	num  protowire.Number
	typ  protowire.Type
	u    uint64
	body []byte
}

// fields calls f for each field of a message; a malformed message is an error.
func fields(b []byte, f func(field) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return ErrSamplesDamaged
		}
		b = b[n:]
		x := field{num: num, typ: typ}
		switch typ {
		case wireVarint:
			x.u, n = protowire.ConsumeVarint(b)
		case wireFixed64:
			x.u, n = protowire.ConsumeFixed64(b)
		case wireBytes:
			x.body, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return ErrSamplesDamaged
		}
		b = b[n:]
		if err := f(x); err != nil {
			return err
		}
	}
	return nil
}

// ints appends a repeated integer field, packed or not.
func ints(to []int64, x field) []int64 {
	if x.typ == wireVarint {
		return append(to, int64(x.u))
	}
	for b := x.body; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			break
		}
		to = append(to, int64(v))
		b = b[n:]
	}
	return to
}

func decodeAny(b []byte) any {
	var out any
	_ = fields(b, func(x field) error {
		switch x.num {
		case anyString:
			out = string(x.body)
		case anyBool:
			out = x.u != 0
		case anyInt:
			out = int64(x.u)
		case anyDouble:
			out = math.Float64frombits(x.u)
		case anyArray:
			var list []string
			_ = fields(x.body, func(y field) error {
				if s, ok := decodeAny(y.body).(string); ok {
					list = append(list, s)
				}
				return nil
			})
			out = list
		}
		return nil
	})
	return out
}

// dictionary is a decoded ProfilesDictionary.
type dictionary struct {
	strings    []string
	functions  []SampleFrame
	locations  []SampleFrame
	stacks     [][]int32
	attributes []attribute
	bad        int64
	rows       int // of all tables
}

func (d *dictionary) str(i int64) string {
	if i < 0 || i >= int64(len(d.strings)) {
		d.bad++
		return ""
	}
	return d.strings[i]
}

// decodeSamples decodes one ProfilesData. The dictionary comes after what refers to it, so the message is gone
// through twice.
func decodeSamples(raw []byte, stored int64, visit func(*SampleBatch) error) error {
	d := &dictionary{}
	var resources [][]byte
	err := fields(raw, func(x field) error {
		switch x.num {
		case dataResources:
			if len(resources) >= maxSampleResources {
				return ErrSamplesDamaged
			}
			resources = append(resources, x.body)
		case dataDictionary:
			return d.decode(x.body)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, r := range resources {
		b, err := d.batch(r)
		if err != nil {
			return err
		}
		b.Stored = stored
		if err := visit(b); err != nil {
			return err
		}
	}
	return nil
}

func (d *dictionary) decode(b []byte) error {
	var functions, locations, attributes [][]byte
	err := fields(b, func(x field) error {
		if d.rows++; d.rows > maxSampleRows {
			return fmt.Errorf("more than %d entries: %w", maxSampleRows, ErrSamplesDamaged)
		}
		switch x.num {
		case dictStrings:
			d.strings = append(d.strings, string(x.body))
		case dictFunctions:
			functions = append(functions, x.body)
		case dictLocations:
			locations = append(locations, x.body)
		case dictAttributes:
			attributes = append(attributes, x.body)
		case dictStacks:
			d.stacks = append(d.stacks, nil)
			return fields(x.body, func(y field) error {
				last := &d.stacks[len(d.stacks)-1]
				for _, v := range ints(nil, y) {
					*last = append(*last, int32(v))
				}
				return nil
			})
		}
		return nil
	})
	for _, f := range functions {
		err = errors.Join(err, d.function(f))
	}
	for _, a := range attributes {
		err = errors.Join(err, d.attribute(a))
	}
	for _, l := range locations {
		err = errors.Join(err, d.location(l))
	}
	return err
}

func (d *dictionary) function(b []byte) error {
	var f SampleFrame
	err := fields(b, func(x field) error {
		switch x.num {
		case functionName:
			f.Function = d.str(int64(x.u))
		case functionFile:
			f.File = d.str(int64(x.u))
		case functionStart:
			f.First = int32(x.u)
		}
		return nil
	})
	d.functions = append(d.functions, f)
	return err
}

func (d *dictionary) attribute(b []byte) error {
	var a attribute
	err := fields(b, func(x field) error {
		switch x.num {
		case keyValueKey:
			a.key = d.str(int64(x.u))
		case keyValueValue:
			a.val = decodeAny(x.body)
		}
		return nil
	})
	d.attributes = append(d.attributes, a)
	return err
}

func (d *dictionary) location(b []byte) error {
	var loc SampleFrame
	err := fields(b, func(x field) error {
		switch x.num {
		case locationLines:
			var line int32
			err := fields(x.body, func(y field) error {
				switch y.num {
				case lineFunction:
					if y.u < uint64(len(d.functions)) {
						loc = d.functions[y.u]
					} else {
						d.bad++
					}
				case lineLine:
					line = int32(y.u)
				}
				return nil
			})
			loc.Line = line
			return err
		case locationAttributes:
			for _, a := range ints(nil, x) {
				if a >= 0 && a < int64(len(d.attributes)) && d.attributes[a].key == attrNative {
					loc.Native = true
				}
			}
		}
		return nil
	})
	d.locations = append(d.locations, loc)
	return err
}
