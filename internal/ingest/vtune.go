package ingest

import (
	"io"
	"strings"

	"bottleneck/internal/model"
)

// vtuneColumns are those of `vtune -report hotspots -format csv`; what parts CPU time falls into depends on the version.
var vtuneColumns = []string{"function", "cputime", "module"}

func isVTune(head []byte) bool { return csvHead(head, vtuneColumns) }

// readVTune reads VTune's functions by the CPU time that they took. Its times are seconds.
func readVTune(o *opening, src source, r io.Reader) (func() error, error) {
	c, err := openCSV(r, vtuneColumns)
	if err != nil {
		return nil, &UnusableError{Path: src.path, Reason: "a table of VTune that cannot be read: " + err.Error(), err: err}
	}
	t := &model.FileTable{Name: "vtune", Title: "Hot functions of VTune", Columns: []model.FileColumn{{Name: "function"},
		{Name: "share", Unit: model.FileShare}, {Name: "CPU time", Unit: model.FileTime}, {Name: "module"}, {Name: "source file"}}}
	total := 0.0
	for c.next() {
		seconds, ok := csvNumber(strings.TrimSuffix(c.text("cputime"), "s"))
		if !ok {
			c.damaged(c.offset)
			continue
		}
		total += seconds
		valid := func(columns ...string) model.FileCell {
			return fileText(strings.ToValidUTF8(c.text(columns...), "\uFFFD"))
		}
		t.Rows = append(t.Rows, []model.FileCell{valid("function"), noCell, fileNumber(seconds * 1e9), valid("module"),
			valid("sourcefile")})
	}
	for _, row := range t.Rows {
		if total > 0 {
			row[1] = fileNumber(row[2].Number / total)
		}
	}
	t.Sentence = summarySentence(t)
	return addTables(o, src, "vtune-csv", []*model.FileTable{t}, c.rows, c.damage()...), nil
}
