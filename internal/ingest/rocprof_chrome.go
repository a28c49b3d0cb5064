package ingest

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"bottleneck/internal/model"
)

// isRocprofChrome: the results.json of rocprof's first two versions, a Chrome trace whose rows have no category: the names of
// its processes say what they are.
func isRocprofChrome(head []byte) bool {
	return looksLikeJSON(head) && bytes.Contains(head[:min(len(head), 64)], []byte(`"traceEvents"`)) &&
		bytes.Contains(head, []byte(`"sort_index"`)) && !bytes.Contains(head, []byte(`"cat"`)) &&
		(bytes.Contains(head, []byte(`"args":{"name":"GPU`)) || bytes.Contains(head, []byte(`"args":{"name":"CPU HIP API`)) ||
			bytes.Contains(head, []byte(`"args":{"name":"COPY"`)))
}

// looseNumber is a number that may stand in quotes.
type looseNumber float64

func (n *looseNumber) UnmarshalJSON(text []byte) error {
	v, err := strconv.ParseFloat(string(bytes.Trim(text, `"`)), 64)
	if err == nil && v == v {
		*n = looseNumber(v)
	}
	return nil
}

// looseInt is a whole number that may stand in quotes: nanoseconds since the start of the machine need all their digits.
type looseInt int64

func (n *looseInt) UnmarshalJSON(text []byte) error {
	v, err := strconv.ParseInt(string(bytes.Trim(text, `"`)), 10, 64)
	if err == nil {
		*n = looseInt(v)
	}
	return nil
}

type rocChromeEvent struct {
	Phase string      `json:"ph"`
	Name  string      `json:"name"`
	PID   looseInt    `json:"pid"`
	TID   looseInt    `json:"tid"`
	TS    looseNumber `json:"ts"` // microseconds
	Dur   looseNumber `json:"dur"`
	Args  struct {
		Name  string   `json:"name"`
		GPU   looseInt `json:"gpu-id"`
		Queue looseInt `json:"queue-id"`
		PID   looseInt `json:"pid"`
		Grid  looseInt `json:"grd"`
		Group looseInt `json:"wgr"`
		LDS   looseInt `json:"lds"`
		VGPR  looseInt `json:"arch_vgpr"`
		Begin looseInt `json:"BeginNs"`
		End   looseInt `json:"EndNs"`
	} `json:"args"`
}

func readRocprofChrome(o *opening, src source, r io.Reader) (func() error, error) {
	in, rows, n := newJSONStream(r), newRocRows(), int64(0)
	processes := map[looseInt]string{}
	err := in.object(func(name string) error {
		if name != "traceEvents" {
			return in.skip()
		}
		return in.array(func(int) error {
			var e rocChromeEvent
			if err := in.lenient(&e); err != nil {
				return err
			}
			if e.Phase == "M" && e.Name == "process_name" && len(processes) < maxRowTraces {
				processes[e.PID] = e.Args.Name
			}
			if e.Phase == "X" {
				rows.chrome(&e, processes[e.PID])
				n++
			}
			return nil
		})
	})
	var damage []model.Diagnostic
	if err != nil && n == 0 {
		return nil, &UnusableError{Path: src.path, Reason: "a trace of rocprof that cannot be read: " + err.Error(), err: err}
	} else if err != nil {
		damage = append(damage, model.Diagnostic{Kind: "unreadable-end", Count: 1, FirstOffset: in.InputOffset(),
			Text: "the file stops being readable: " + err.Error()})
	}
	return o.addRocprof(src, src.path, rows, n, damage), nil
}

// chrome adds an event of a process that is named so.
func (r *rocRows) chrome(e *rocChromeEvent, process string) {
	start, end := int64(e.Args.Begin), int64(e.Args.End)
	if start <= 0 || end < start {
		if start = int64(min(max(float64(e.TS), -1e15), 1e15) * 1e3); start < 0 {
			return
		}
		end = start + int64(min(max(float64(e.Dur), 0), 1e15)*1e3)
	}
	a := &e.Args
	pid := int64(a.PID)
	switch {
	case strings.HasPrefix(process, "GPU") && !strings.HasPrefix(process, "GPU Barriers"):
		device := int64(a.GPU)
		if n, err := strconv.ParseInt(process[3:], 10, 32); err == nil {
			device = n
		}
		group := [3]int64{int64(a.Group), 1, 1}
		groups := perWorkGroup([3]int64{int64(a.Grid), 1, 1}, group)
		args := kernelArgs(device, int64(a.Queue), groups, group, int64(a.VGPR), int64(a.LDS), 0)
		r.add(model.KindKernel, pid, device, int64(a.Queue), start, end, 0, rocKernelName(e.Name), &args)
	case process == "COPY":
		args := noWork(0, 0)
		r.add(model.KindMemcpy, pid, 0, 0, start, end, 0, "Memcpy ("+e.Name+")", &args)
	case strings.Contains(process, "HIP API"):
		r.add(model.KindRuntime, pid, 0, int64(e.TID), start, end, 0, e.Name, nil)
	case strings.Contains(process, "Marker"):
		r.add(model.KindAnnotation, pid, 0, int64(e.TID), start, end, 0, e.Name, nil)
	default:
		r.add(model.KindOther, pid, 0, int64(e.TID), start, end, 0, e.Name, nil)
	}
}
