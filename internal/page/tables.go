package page

import (
	"bottleneck/internal/report"
	"cmp"
	"slices"
)

// Groups of views, in the order of the page's list.
const (
	groupPictures = "Pictures"
	groupWork     = "Work"
	groupPython   = "Python"
	groupRun      = "Run"
)

// tablesOf makes the tables that a report has rows for.
func tablesOf(r *report.Report) []Table {
	all := slices.Concat(workTables(r), pythonTables(r), deviceTables(r), snapshotTables(r), runTables(r))
	for i := range r.Tables {
		all = append(all, generalTable(&r.Tables[i]))
	}
	all = append(all, inputTables(r)...)
	return withRows(all...)
}

func withRows(tables ...Table) []Table {
	return slices.DeleteFunc(tables, func(t Table) bool { return t.Rows == 0 })
}

func workTables(r *report.Report) []Table {
	// Kernels have a table of their own, and annotations are around operators: among them a time would stand in several rows.
	var operators, annotations []report.OpRow
	for _, o := range r.KeyAverages {
		switch {
		case o.IsUserAnnotation:
			annotations = append(annotations, o)
		case o.DeviceType == "cpu":
			operators = append(operators, o)
		}
	}
	kernels := 0.0
	for i := range r.Kernels {
		kernels += r.Kernels[i].DeviceUs
	}
	return []Table{
		operatorTable("operators", "Operators", "PyTorch's key averages of the traced steps, tracing cost included", operators),
		operatorTable("annotations", "Annotations", "named stretches of the trace: of record_function, profilers' steps, optimizers",
			annotations),
		tableOf("kernels", "Kernels", groupWork, "all launches of each kernel in the traces", r.Kernels,
			text("kernel", func(k *report.KernelRow) string { return report.ShortKernel(k.Name) }),
			text("kind", func(k *report.KernelRow) string { return k.Category }),
			sum(count("runs", func(k *report.KernelRow) int64 { return k.Count })),
			sum(bar(number("time", unitTime, func(k *report.KernelRow) float64 { return k.DeviceUs }))),
			sum(perhaps("share", unitShare, func(k *report.KernelRow) *float64 { return ratio(k.DeviceUs, kernels) })),
			number("mean", unitTime, func(k *report.KernelRow) float64 { return k.MeanUs }),
			number("min", unitTime, func(k *report.KernelRow) float64 { return k.MinUs }),
			number("max", unitTime, func(k *report.KernelRow) float64 { return k.MaxUs }),
			text("launched by", func(k *report.KernelRow) string { return k.Launcher.Op }),
			place("at", func(k *report.KernelRow) (string, int) { return k.Launcher.File, k.Launcher.Line }),
			text("module", func(k *report.KernelRow) string { return k.Launcher.Module }),
			perhaps("stream", unitNumber, func(k *report.KernelRow) *float64 { return fromInt64(k.Stream) }),
			name("full name", func(k *report.KernelRow) string { return k.Name })),
		actionTable(r), callTable("calls", "Calls", "exact counts; times include what counting cost", r.Calls),
	}
}

func operatorTable(id, title, aside string, rows []report.OpRow) Table {
	selfCPU := 0.0
	for i := range rows {
		selfCPU += rows[i].SelfCPUUs
	}
	return tableOf(id, title, groupWork, aside, rows,
		name("name", func(o *report.OpRow) string { return o.Name }),
		text("shapes", func(o *report.OpRow) string { return o.InputShapes }),
		text("module", func(o *report.OpRow) string { return o.Module }),
		sum(count("calls", func(o *report.OpRow) int64 { return o.Count })),
		sum(bar(number("self device", unitTime, func(o *report.OpRow) float64 { return o.SelfDeviceUs }))),
		number("total device", unitTime, func(o *report.OpRow) float64 { return o.DeviceUs }),
		sum(bar(number("self CPU", unitTime, func(o *report.OpRow) float64 { return o.SelfCPUUs }))),
		sum(perhaps("self CPU share", unitShare, func(o *report.OpRow) *float64 { return ratio(o.SelfCPUUs, selfCPU) })),
		number("total CPU", unitTime, func(o *report.OpRow) float64 { return o.CPUUs }),
		perhaps("CPU a call", unitTime, func(o *report.OpRow) *float64 { return ratio(o.CPUUs, float64(o.Count)) }),
		sum(number("self CPU memory", unitBytes, func(o *report.OpRow) float64 { return float64(o.SelfCPUBytes) })),
		number("CPU memory", unitBytes, func(o *report.OpRow) float64 { return float64(o.CPUBytes) }),
		sum(number("self device memory", unitBytes, func(o *report.OpRow) float64 { return float64(o.SelfDeviceBytes) })),
		number("device memory", unitBytes, func(o *report.OpRow) float64 { return float64(o.DeviceBytes) }),
		sum(count("FLOPs", func(o *report.OpRow) int64 { return o.Flops })),
		text("stack", func(o *report.OpRow) string { return o.Stack }))
}

func actionTable(r *report.Report) Table {
	return tableOf("actions", "Actions", groupRun, "a trainer's actions and named regions", r.Actions,
		rank(func(a *report.ActionRow) *int { return a.Rank }),
		name("action", func(a *report.ActionRow) string { return a.Name }),
		sum(count("calls", func(a *report.ActionRow) int64 { return a.Count })),
		bar(number("total", unitTime, func(a *report.ActionRow) float64 { return a.TotalS * 1e6 })),
		sum(number("own", unitTime, func(a *report.ActionRow) float64 { return a.SelfS * 1e6 })),
		number("mean", unitTime, func(a *report.ActionRow) float64 { return a.MeanMs * 1e3 }))
}

func callTable(name, title, aside string, rows []report.CallRow) Table {
	return tableOf(name, title, groupPython, aside, rows,
		text("function", func(c *report.CallRow) string { return c.Function }),
		place("at", func(c *report.CallRow) (string, int) { return c.File, c.Line }),
		sum(count("calls", func(c *report.CallRow) int64 { return c.Hits })),
		sum(bar(number("own", unitTime, func(c *report.CallRow) float64 { return c.SelfS * 1e6 }))),
		bar(number("total", unitTime, func(c *report.CallRow) float64 { return c.TotalS * 1e6 })),
		perhaps("own a call", unitTime, func(c *report.CallRow) *float64 { return ratio(c.SelfS*1e6, float64(c.Hits)) }))
}

// generalTable is a table that the report has as one.
func generalTable(from *report.Table) Table {
	t := Table{Name: from.Name, Title: from.Title, Group: groupWork, Rows: len(from.Rows), Sort: -1, Columns: []Column{}}
	ranks := tableOf("", "", "", "", from.Rows, rank(func(r *report.TableRow) *int { return r.Rank }))
	t.Columns = append(t.Columns, ranks.Columns...)
	for i, c := range from.Columns {
		col := column[report.TableRow]{Column: Column{Head: c.Name, Unit: c.Unit}}
		cell := func(r *report.TableRow) report.TableCell {
			if i < len(r.Cells) {
				return r.Cells[i]
			}
			return report.TableCell{}
		}
		if c.Unit == unitText {
			col.text = func(r *report.TableRow) string { return cell(r).Text }
		} else {
			col.value = func(r *report.TableRow) *float64 { return cell(r).Value }
		}
		if fillColumn(&col, from.Rows) {
			t.Columns = append(t.Columns, col.Column)
		}
	}
	t.Name = cmp.Or(t.Name, "table")
	return t
}
