package rerun

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// maxLine bounds a line of the process's answer: it can come from somewhere else, such as a start-up file of the user's Python.
const maxLine = 1 << 20

// reader takes the process's answer, line by line as it is written. A later line on an operator stands for what it told before.
type reader struct {
	ops   []Op
	began func(torch string) error // called when the process has imported torch
	ready bool
	err   error // of began
	known map[int]row
	line  []byte
}

// row is a line of the answer.
type row struct {
	Ready      bool     `json:"ready"`
	Torch      string   `json:"torch"`
	Index      *int     `json:"index"`
	UnderWay   bool     `json:"under_way"`
	BaseUs     *float64 `json:"base_us"`
	BaseMeanUs float64  `json:"base_mean_us"`
	Fixes      []Fixed  `json:"fixes"`
	Error      string   `json:"error"`
}

// Write fails once the answer is of no use.
func (r *reader) Write(text []byte) (int, error) {
	n := len(text)
	for {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			break
		}
		if line := append(r.line, text[:end]...); len(line) <= maxLine {
			r.take(line)
		}
		r.line, text = r.line[:0], text[end+1:]
	}
	if len(r.line) <= maxLine {
		r.line = append(r.line, text...)
	}
	return n, r.err
}

func (r *reader) take(line []byte) {
	var one row
	if json.Unmarshal(line, &one) != nil {
		return
	}
	if one.Ready && !r.ready {
		r.ready = true
		if r.began != nil {
			r.err = r.began(one.Torch)
		}
	}
	if one.Index == nil || *one.Index < 0 || *one.Index >= len(r.ops) {
		return
	}
	if r.known == nil {
		r.known = map[int]row{}
	}
	r.known[*one.Index] = one
}

// results are what came of each operator. ended is how the process failed, nil where it did not, or was ended with the budget.
func (r *reader) results(ended error) []Result {
	results := make([]Result, len(r.ops))
	for i := range r.ops {
		one, ok := r.known[i]
		switch {
		case !ok && ended == nil:
			one.Error = "the budget was used up before it"
		case !ok:
			one.Error = "an operator before it ended the process"
		case one.UnderWay && ended != nil:
			one.Error = fmt.Sprintf("it ended the process: %v", ended)
		}
		results[i] = Result{Op: r.ops[i], BaseUs: one.BaseUs, BaseMeanUs: one.BaseMeanUs, Fixes: one.Fixes, Error: one.Error, index: i}
		results[i].judge()
	}
	return results
}

// judge compares the repetition with the recording.
func (r *Result) judge() {
	if r.BaseUs == nil || *r.BaseUs <= 0 || r.Op.RecordedUs <= 0 {
		return
	}
	ratio := *r.BaseUs / r.Op.RecordedUs
	r.Reproduced = ratio <= Tolerance && ratio >= 1/Tolerance
	if !r.Reproduced && r.Error == "" {
		r.Error = fmt.Sprintf("it took %.2g times as long as recorded", ratio)
	}
}

// maxText is how much of what the process writes to standard error is kept.
const maxText = 16 << 10

// lastText keeps the end of what is written to it.
type lastText struct{ bytes.Buffer }

// Write never fails.
func (t *lastText) Write(text []byte) (int, error) {
	n := len(text)
	t.Buffer.Write(text[max(n-maxText, 0):])
	t.Next(max(t.Len()-maxText, 0))
	return n, nil
}

// lastLine is what the process said last, nil where it said nothing.
func (t *lastText) lastLine() error {
	lines := strings.Split(strings.TrimSpace(t.String()), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return errors.New(last)
	}
	return nil
}
