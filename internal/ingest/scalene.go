package ingest

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

func isScalene(head []byte) bool {
	return looksLikeJSON(head) && bytes.Contains(head, []byte(`"alloc_samples"`)) &&
		(bytes.Contains(head, []byte(`"combined_stacks"`)) || bytes.Contains(head, []byte(`"elapsed_time_sec"`)) ||
			bytes.Contains(head, []byte(`"entrypoint_dir"`)))
}

// scaleneLine is one line of Scalene's profile; shares are per cent of the program's time, sizes MiB.
type scaleneLine struct {
	Number int     `json:"lineno"`
	Text   string  `json:"line"`
	Python float64 `json:"n_cpu_percent_python"`
	Native float64 `json:"n_cpu_percent_c"`
	System float64 `json:"n_sys_percent"`
	GPU    float64 `json:"n_gpu_percent"`
	Peak   float64 `json:"n_peak_mb"`
	Copies float64 `json:"n_copy_mb_s"`
	file   string
}

func (l *scaleneLine) total() float64 { return l.Python + l.Native + l.System }

// maxScaleneLines bounds the lines that took time.
const maxScaleneLines = 1 << 18

// readScalene reads Scalene's JSON (plasma-umass/scalene, scalene_json.py): shares of the time by line, in Python, in native code and
// in the system, of the device, and memory.
func readScalene(o *opening, src source, r io.Reader) (func() error, error) {
	in := newJSONStream(r)
	var lines []scaleneLine
	seconds := 0.0
	err := in.object(func(name string) error {
		switch name {
		case "elapsed_time_sec":
			return in.value(&seconds)
		case "files":
			return in.object(func(file string) error {
				var of struct {
					Lines []scaleneLine `json:"lines"`
				}
				err := in.value(&of)
				for _, l := range of.Lines {
					if l.file = file; (l.total() > 0 || l.Peak > 0 || l.GPU > 0) && len(lines) < maxScaleneLines {
						lines = append(lines, l)
					}
				}
				return err
			})
		}
		return in.skip()
	})
	var damage []model.Diagnostic
	if err != nil {
		if len(lines) == 0 {
			return nil, &UnusableError{Path: src.path, Reason: "a Scalene profile that cannot be read: " + err.Error(), err: err}
		}
		damage = append(damage, model.Diagnostic{Kind: "truncated", Count: 1, FirstOffset: in.InputOffset(),
			Text: "damaged, only what comes before is used: " + err.Error()})
	}
	return addTable(o, src, scaleneTable(lines, seconds), int64(len(lines)), damage...), nil
}

func scaleneTable(lines []scaleneLine, seconds float64) *model.FileTable {
	t := &model.FileTable{Name: "scalene", Title: "Lines of Scalene",
		Columns: []model.FileColumn{{Name: "line"}, {Name: "time", Unit: model.FileShare}, {Name: "python", Unit: model.FileShare},
			{Name: "native", Unit: model.FileShare}, {Name: "system", Unit: model.FileShare}, {Name: "device", Unit: model.FileShare},
			{Name: "peak memory", Unit: model.FileBytes}, {Name: "copied a second", Unit: model.FileBytes}, {Name: "source"}}}
	slices.SortStableFunc(lines, func(a, b scaleneLine) int { return cmp.Compare(b.total(), a.total()) })
	for i := range lines {
		l := &lines[i]
		t.Rows = append(t.Rows, []model.FileCell{fileText(fmt.Sprintf("%s:%d", l.file, l.Number)), fileNumber(l.total() / 100),
			fileNumber(l.Python / 100), fileNumber(l.Native / 100), fileNumber(l.System / 100), fileNumber(l.GPU / 100),
			fileNumber(l.Peak * (1 << 20)), fileNumber(l.Copies * (1 << 20)), fileText(strings.TrimSpace(l.Text))})
	}
	t.Sentence = fmt.Sprintf("%.1f s were profiled, and no line took time", seconds)
	if len(lines) > 0 && lines[0].total() > 0 {
		l := &lines[0]
		t.Sentence = fmt.Sprintf(
			"%.0f %% of the profiled %.1f s are in line %d of %s: %.0f %% in Python, %.0f %% in native code, %.0f %% in the system",
			l.total(), seconds, l.Number, path.Base(strings.ReplaceAll(l.file, `\`, "/")), l.Python, l.Native, l.System)
	}
	t.Sentence += "; shares of lines price no fix."
	return t
}
