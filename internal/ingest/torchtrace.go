package ingest

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/model"
)

// Bounds of TORCH_TRACE logs.
const (
	maxTraceLine     = 16 << 20
	maxTraceCompiles = 1 << 16
	maxTraceBreaks   = 1 << 14
	maxReason        = 2 << 10
)

// isTorchTrace: lines of torch's structured log, "V1123 09:46:00.743000 24971 torch/_dynamo/utils.py:2473] {"…, whose payloads follow,
// each line behind a tab (pytorch/pytorch, torch/_logging/_internal.py, trace_structured).
func isTorchTrace(head []byte) bool { return torchTraceLine.Match(head) }

var torchTraceLine = regexp.MustCompile(`^V[0-9]{4} [0-9:.]{8,20} [0-9]+ [^ \n]+:[0-9]+\] \{"`)

// torchCompilation is one record of compilation_metrics.
type torchCompilation struct {
	ID        string  `json:"compile_id"`
	Function  string  `json:"co_name"`
	File      string  `json:"co_filename"`
	Line      int     `json:"co_firstlineno"`
	Seconds   float64 `json:"entire_frame_compile_time_s"`
	Backend   float64 `json:"backend_compile_time_s"`
	Operators int64   `json:"graph_op_count"`
	Guards    int64   `json:"guard_count"`
	Failed    string  `json:"fail_reason"`
	Again     string  `json:"recompile_reason"`
}

func (c *torchCompilation) place() string { return c.File + ":" + strconv.Itoa(c.Line) }

// torchRecord is the part of a record that is read.
type torchRecord struct {
	Metrics  *torchCompilation `json:"compilation_metrics"`
	Artifact *struct {
		Name string `json:"name"`
	} `json:"artifact"`
}

// graphBreak is a line at which a graph was cut, with the first reason that was given.
type graphBreak struct {
	place, reason string
	count         int64
}

type torchTraceReader struct {
	compiled []torchCompilation
	breaks   map[string]*graphBreak
	payload  *bytes.Buffer // of a graph break; nil where the lines that follow are of something else
	records  int64
	bad      int64
	more     int64
}

// readTorchTrace reads what TORCH_TRACE=DIR makes torch.compile write: compilations with their times, and graph breaks.
func readTorchTrace(o *opening, src source, r io.Reader) (func() error, error) {
	t := &torchTraceReader{breaks: map[string]*graphBreak{}}
	in := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := boundedLine(in)
		t.line(line)
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, &UnusableError{Path: src.path, Reason: "a TORCH_TRACE log that cannot be read: " + err.Error(), err: err}
		}
	}
	t.endPayload()
	var damage []model.Diagnostic
	if t.bad > 0 {
		damage = append(damage, model.Diagnostic{Kind: "bad-record", Count: t.bad, FirstOffset: -1,
			Text: "lines of the log that are no record; left out"})
	}
	if t.more > 0 {
		damage = append(damage, model.Diagnostic{Kind: "too-many", Count: t.more, FirstOffset: -1,
			Text: "compilations or graph breaks beyond those that are kept; left out"})
	}
	return addTables(o, src, "torch-trace", []*model.FileTable{t.compilations(), t.graphBreaks()}, t.records, damage...), nil
}

// boundedLine is the next line without its end; what is longer than maxTraceLine is passed over.
func boundedLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) <= maxTraceLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(line, []byte("\n")), err
		}
	}
}

func (t *torchTraceReader) line(line []byte) {
	if len(line) == 0 {
		return
	}
	if line[0] == '\t' {
		if t.payload != nil && t.payload.Len() < maxReason {
			t.payload.Write(line[1:])
			t.payload.WriteByte('\n')
		}
		return
	}
	t.endPayload()
	_, record, ok := bytes.Cut(line, []byte("] {"))
	if !ok || line[0] != 'V' {
		t.bad++
		return
	}
	t.records++
	record = append([]byte("{"), record...)
	if !bytes.Contains(record, []byte(`"compilation_metrics"`)) && !bytes.Contains(record, []byte(`"dynamo_graph_break_reason"`)) {
		return
	}
	var of torchRecord
	switch err := json.Unmarshal(record, &of); {
	case err != nil:
		t.bad++
	case of.Metrics != nil && len(t.compiled) < maxTraceCompiles:
		t.compiled = append(t.compiled, *of.Metrics)
	case of.Metrics != nil:
		t.more++
	case of.Artifact != nil && of.Artifact.Name == "dynamo_graph_break_reason":
		t.payload = &bytes.Buffer{}
	}
}

// endPayload takes a graph break's text: "Graph break in user code at FILE:LINE", then the reason.
func (t *torchTraceReader) endPayload() {
	if t.payload == nil {
		return
	}
	text := strings.ToValidUTF8(t.payload.String(), "\uFFFD")
	t.payload = nil
	place, reason := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if at, ok := strings.CutPrefix(line, "Graph break in user code at "); ok {
			place = at
			continue
		}
		line = strings.TrimPrefix(line, "Graph Break Reason: ")
		line = strings.TrimPrefix(line, "Reason: ")
		if line == "" || strings.HasPrefix(line, "Encountered graph break when attempting to trace") {
			continue
		}
		reason = line
		break
	}
	b := t.breaks[place]
	if b == nil {
		if len(t.breaks) >= maxTraceBreaks {
			t.more++
			return
		}
		b = &graphBreak{place: place, reason: reason}
		t.breaks[place] = b
	}
	b.count++
}

func (t *torchTraceReader) compilations() *model.FileTable {
	out := &model.FileTable{Name: "compilations", Title: "Compilations of torch.compile",
		Columns: []model.FileColumn{{Name: "function"}, {Name: "at"}, {Name: "id"},
			{Name: "time", Unit: model.FileTime}, {Name: "backend", Unit: model.FileTime}, {Name: "operators", Unit: model.FileCount},
			{Name: "guards", Unit: model.FileCount}, {Name: "why again, or failed"}}}
	total, again := 0.0, 0
	slices.SortStableFunc(t.compiled, func(a, b torchCompilation) int { return cmp.Compare(b.Seconds, a.Seconds) })
	for i := range t.compiled {
		c := &t.compiled[i]
		total += c.Seconds
		if c.Again != "" {
			again++
		}
		why, _, _ := strings.Cut(cmp.Or(c.Failed, c.Again), "\n")
		out.Rows = append(out.Rows, []model.FileCell{fileText(c.Function), fileText(c.place()), fileText(c.ID), fileNumber(c.Seconds * 1e9),
			fileNumber(c.Backend * 1e9), fileCount(c.Operators), fileCount(c.Guards), fileText(strings.Join(strings.Fields(why), " "))})
	}
	out.Sentence = fmt.Sprintf("%d compilations took %.1f s, %d of them because a guard of an earlier one failed",
		len(t.compiled), total, again)
	breaks := int64(0)
	for _, b := range t.breaks {
		breaks += b.count
	}
	if most := t.ordered(); len(most) > 0 {
		out.Sentence += fmt.Sprintf("; %d graph breaks, most at %s (%s)", breaks, cmp.Or(most[0].place, "an unknown line"), most[0].reason)
	}
	if len(t.compiled) > 0 {
		out.Sentence += fmt.Sprintf("; the longest is of %s at %s", t.compiled[0].Function, t.compiled[0].place())
	}
	out.Sentence += ". A log of compilations holds no steps, and prices no fix."
	return out
}

func (t *torchTraceReader) ordered() []*graphBreak {
	var list []*graphBreak
	for _, b := range t.breaks {
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b *graphBreak) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.place, b.place))
	})
	return list
}

func (t *torchTraceReader) graphBreaks() *model.FileTable {
	out := &model.FileTable{Name: "graph-breaks", Title: "Graph breaks",
		Columns: []model.FileColumn{{Name: "at"}, {Name: "count", Unit: model.FileCount}, {Name: "reason"}}}
	for _, b := range t.ordered() {
		out.Rows = append(out.Rows, []model.FileCell{fileText(cmp.Or(b.place, "unknown")), fileCount(b.count), fileText(b.reason)})
	}
	out.Sentence = fmt.Sprintf("graphs were cut at %d lines.", len(out.Rows))
	return out
}
