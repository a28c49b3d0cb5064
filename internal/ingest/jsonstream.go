package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Bounds of JSON read value by value: encoding/json holds one value in memory at a time.
const (
	maxJSONValue = 64 << 20
	maxJSONDepth = 1000
)

// jsonStream reads a large JSON text member by member without holding it. Its readers are for profiles, not for traces,
// which package kineto tokenises.
type jsonStream struct {
	*json.Decoder
	in    io.Reader
	ahead int64 // bytes that the decoder took
}

func newJSONStream(r io.Reader) *jsonStream {
	s := &jsonStream{in: r}
	s.Decoder = json.NewDecoder(s)
	return s
}

// Read feeds the decoder as long as it does not collect one value of absurd size.
func (s *jsonStream) Read(b []byte) (int, error) {
	if s.Decoder != nil && s.ahead-s.InputOffset() > maxJSONValue {
		return 0, fmt.Errorf("a value longer than %d MiB at byte %d", maxJSONValue>>20, s.InputOffset())
	}
	n, err := s.in.Read(b)
	s.ahead += int64(n)
	return n, err
}

// object calls member for each member of the object that comes next; member must consume the value.
func (s *jsonStream) object(member func(name string) error) error {
	if err := s.open('{'); err != nil {
		return err
	}
	for s.More() {
		name, err := s.Token()
		if err != nil {
			return s.failed(err)
		}
		text, ok := name.(string)
		if !ok {
			return s.failed(errors.New("a member without a name"))
		}
		if err := member(text); err != nil {
			return err
		}
	}
	_, err := s.Token()
	return s.failed(err)
}

// array calls element for each element of the array that comes next; element must consume the value.
func (s *jsonStream) array(element func(i int) error) error {
	if err := s.open('['); err != nil {
		return err
	}
	for i := 0; s.More(); i++ {
		if err := element(i); err != nil {
			return err
		}
	}
	_, err := s.Token()
	return s.failed(err)
}

func (s *jsonStream) open(want json.Delim) error {
	t, err := s.Token()
	if err != nil {
		return s.failed(err)
	}
	if d, ok := t.(json.Delim); !ok || d != want {
		return s.failed(fmt.Errorf("%v where %v was expected", t, want))
	}
	return nil
}

// value decodes what comes next.
func (s *jsonStream) value(to any) error { return s.failed(s.Decode(to)) }

// skip passes over the value that comes next.
func (s *jsonStream) skip() error {
	for depth := 0; ; {
		t, err := s.Token()
		if err != nil {
			return s.failed(err)
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > maxJSONDepth {
				return s.failed(fmt.Errorf("nested deeper than %d", maxJSONDepth))
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// failed says where an error arose.
func (s *jsonStream) failed(err error) error {
	if err == nil || err == io.EOF {
		if err == io.EOF {
			return fmt.Errorf("at byte %d: the text ends too early", s.InputOffset())
		}
		return nil
	}
	return fmt.Errorf("at byte %d: %w", s.InputOffset(), err)
}
