package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"bottleneck/internal/model"
)

func refuseStream(context.Context, *model.Session, io.Writer, Options) error {
	return errors.New("it is a directory of files: name it with -o")
}

// writeTensorboard writes each trace to <dir>/<worker>.<time in ns>.pt.trace.json[.gz], where worker is <host>_<process>
// unless the options name it, as torch.profiler.tensorboard_trace_handler does. The time is that of the trace's end, so
// that a second export writes the same names.
func writeTensorboard(ctx context.Context, s *model.Session, dir string, opt Options) error {
	traces := tracesOf(s, opt)
	if len(traces) == 0 {
		return &UnavailableError{"tensorboard", "there is no trace in the input"}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err // names the operation and the directory
	}
	used := map[string]bool{}
	for _, t := range traces {
		worker, end := workerName(s, t, opt), int64(t.To)
		for used[worker+strconv.FormatInt(end, 10)] {
			end++
		}
		used[worker+strconv.FormatInt(end, 10)] = true
		name := fmt.Sprintf("%s.%d.pt.trace.json", worker, end)
		if opt.Gzip {
			name += ".gz"
		}
		one := &model.Session{Strings: s.Strings, Processes: s.Processes, Traces: []*model.Trace{t}}
		err := replaceFile(filepath.Join(dir, name), func(w io.Writer) error {
			return writeChrome(ctx, one, w, Options{Rank: model.NoRank})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// workerName is what tells the processes of a job apart in a directory.
func workerName(s *model.Session, t *model.Trace, opt Options) string {
	if opt.Worker != "" {
		return strings.ReplaceAll(opt.Worker, string(filepath.Separator), "_")
	}
	host, pid := t.Header.Host, ""
	if t.Process >= 0 && t.Process < len(s.Processes) {
		host, pid = s.Processes[t.Process].Host, strconv.Itoa(s.Processes[t.Process].PID)
	}
	for i := 0; i < len(t.Lanes) && pid == ""; i++ {
		if t.Lanes[i].Kind == model.LaneThread {
			pid = s.Strings.Text(t.Lanes[i].PID)
		}
	}
	if host == "" { // a file that does not say: ranks at least stay apart
		host = "host"
		if t.Rank != model.NoRank {
			host = "rank" + strconv.Itoa(t.Rank)
		}
	}
	return strings.Map(safeNameRune, host+"_"+pid)
}

// safeNameRune replaces what cannot stand in a file's name.
func safeNameRune(r rune) rune {
	if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
		return '_'
	}
	return r
}
