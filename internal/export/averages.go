package export

import (
	"bufio"
	"context"
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"bottleneck/internal/analyse/keyaverages"
	"bottleneck/internal/model"
	"bottleneck/internal/view"
)

// averages are the rows of the operator table that the options ask for.
func averages(s *model.Session, opt Options, format string) ([]view.TorchRow, error) {
	var rows []view.TorchRow
	keys := keyaverages.Options{ByShapes: opt.GroupByInputShapes, ByStack: opt.GroupByStackN, ByModule: opt.GroupByModule}
	traces := tracesOf(s, opt)
	switch len(traces) {
	case 0:
		return nil, &UnavailableError{format, "there is no trace in the input"}
	case 1:
		rows = view.TorchRows(traces[0], s.Strings, keys)
	default:
		rows = view.TorchRowsOf(keyaverages.Of(traces, s.Strings, keys), keys)
	}
	if opt.SortBy != "" {
		if err := view.SortTorchRows(rows, opt.SortBy); err != nil {
			return nil, err
		}
	}
	if opt.RowLimit > 0 && opt.RowLimit < len(rows) {
		rows = rows[:opt.RowLimit]
	}
	return rows, nil
}

// averageColumns are the columns of the report's key_averages, in its order and under its names.
var averageColumns = []struct {
	name string
	text func(*view.TorchRow) string
	json func([]byte, *view.TorchRow) []byte
}{
	textColumn("name", func(r *view.TorchRow) string { return r.Name }),
	intColumn("count", func(r *view.TorchRow) int64 { return r.Count }),
	timeColumn("self_cpu_us", func(r *view.TorchRow) float64 { return r.SelfCPU }),
	timeColumn("cpu_us", func(r *view.TorchRow) float64 { return r.CPU }),
	timeColumn("self_device_us", func(r *view.TorchRow) float64 { return r.SelfDevice }),
	timeColumn("device_us", func(r *view.TorchRow) float64 { return r.Device }),
	intColumn("self_cpu_bytes", func(r *view.TorchRow) int64 { return r.SelfCPUBytes }),
	intColumn("cpu_bytes", func(r *view.TorchRow) int64 { return r.CPUBytes }),
	intColumn("self_device_bytes", func(r *view.TorchRow) int64 { return r.SelfDeviceBytes }),
	intColumn("device_bytes", func(r *view.TorchRow) int64 { return r.DeviceBytes }),
	intColumn("flops", func(r *view.TorchRow) int64 { return r.Flops }),
	textColumn("input_shapes", func(r *view.TorchRow) string { return r.InputShapes }),
	textColumn("stack", func(r *view.TorchRow) string { return strings.Join(r.Stack, ";") }),
	textColumn("device_type", func(r *view.TorchRow) string {
		if r.OnDevice {
			return "device"
		}
		return "cpu"
	}),
	{
		"is_user_annotation",
		func(r *view.TorchRow) string { return strconv.FormatBool(r.UserAnnotation) },
		func(b []byte, r *view.TorchRow) []byte { return strconv.AppendBool(b, r.UserAnnotation) },
	},
	textColumn("module", func(r *view.TorchRow) string { return r.Module }),
}

type averageColumn = struct {
	name string
	text func(*view.TorchRow) string
	json func([]byte, *view.TorchRow) []byte
}

func textColumn(name string, get func(*view.TorchRow) string) averageColumn {
	return averageColumn{name, func(r *view.TorchRow) string { return noFormula(get(r)) }, func(b []byte, r *view.TorchRow) []byte {
		return appendString(b, get(r))
	}}
}

func intColumn(name string, get func(*view.TorchRow) int64) averageColumn {
	return averageColumn{
		name,
		func(r *view.TorchRow) string { return strconv.FormatInt(get(r), 10) },
		func(b []byte, r *view.TorchRow) []byte { return strconv.AppendInt(b, get(r), 10) },
	}
}

// timeColumn rounds to nanoseconds, the precision of a trace.
func timeColumn(name string, get func(*view.TorchRow) float64) averageColumn {
	return averageColumn{
		name,
		func(r *view.TorchRow) string { return strconv.FormatFloat(get(r), 'f', 3, 64) },
		func(b []byte, r *view.TorchRow) []byte { return strconv.AppendFloat(b, get(r), 'f', 3, 64) },
	}
}

// noFormula puts an apostrophe before a text that a spreadsheet would take for a formula: names are the program's, and a formula may start
// programs or send cells away. Spreadsheets do not show the apostrophe.
func noFormula(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r\n|%＝＋－＠", []rune(s)[0]) {
		return "'" + s
	}
	return s
}

// writeCSV writes the operator table with one header row.
func writeCSV(_ context.Context, s *model.Session, w io.Writer, opt Options) error {
	rows, err := averages(s, opt, "csv")
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	cells := make([]string, len(averageColumns))
	for i := range averageColumns {
		cells[i] = averageColumns[i].name
	}
	out.Write(cells)
	for i := range rows {
		for k := range averageColumns {
			cells[k] = averageColumns[k].text(&rows[i])
		}
		out.Write(cells)
	}
	out.Flush()
	return out.Error()
}

// writeAveragesJSON writes the operator table as a list of objects.
func writeAveragesJSON(_ context.Context, s *model.Session, w io.Writer, opt Options) error {
	rows, err := averages(s, opt, "json")
	if err != nil {
		return err
	}
	return buffered(w, func(out *bufio.Writer) error {
		b := []byte{'['}
		for i := range rows {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, "\n{"...)
			for k := range averageColumns {
				b = averageColumns[k].json(appendKey(b, averageColumns[k].name), &rows[i])
			}
			if _, err := out.Write(append(b, '}')); err != nil {
				return err
			}
			b = b[:0]
		}
		_, err := out.Write(append(b, "\n]\n"...))
		return err
	})
}
