package compare

import (
	"bottleneck/internal/report"
	"fmt"
	"path"
	"strings"
)

// costs are the kinds of rows, and what a run spent on each of them.
type costs struct {
	kind string
	of   func(*timed) []item
}

// costsOf are the kinds whose rows need no program text. after says that the runs are of the after side.
func (c *comparison) costsOf(after bool) []costs {
	return []costs{
		{"part", c.parts},
		{"line", func(t *timed) []item { return c.lines(t, after) }},
		{"function", func(t *timed) []item { return c.functions(t, after) }},
		{"operator", c.operators},
		{"module", c.modules},
		{"kernel", kernels},
		{"collective", collectives},
		{"wait", c.waits},
		{"worker", c.workers},
	}
}

// parts are those of the step's account.
func (c *comparison) parts(t *timed) []item {
	r := t.Report
	if r.Account == nil {
		return nil
	}
	by := c.accountScale(t)
	var out []item
	for _, p := range r.Breakdown {
		out = append(out, item{key: p.Part, name: p.Part, ms: p.Ms * by})
	}
	return out
}

// accountScale turns the milliseconds of a run's account into the unit; 0 where they are of something else.
func (c *comparison) accountScale(t *timed) float64 {
	switch {
	case t.Report.Account.Unit == "step":
		return t.perStep * typical(t.Report)
	case c.per == perRun:
		return t.perRun
	}
	return 0
}

// typical turns the accounted step, the mean of uneven ones, into the median one, which is what is compared.
func typical(r *report.Report) float64 {
	if len(r.Steps) == 0 || r.Steps[0].Baseline == nil || r.Account.TotalMs <= 0 || r.Account.Kind != "" &&
		r.Account.Kind != r.Steps[0].Kind {
		return 1
	}
	if median := r.Steps[0].Baseline.MedianMs; median > 0 && median < r.Account.TotalMs {
		return median / r.Account.TotalMs
	}
	return 1
}

// sampled are a run's samples, with what turns their seconds into milliseconds of the unit; nil where they say nothing of it. Stacks of
// programs that are not Python have no account: their samples are the run.
func (c *comparison) sampled(t *timed) (p *report.Python, by float64) {
	switch r := t.Report; {
	case r.Python == nil || r.Python.ScopeS <= 0:
		return nil, 0
	case r.Account != nil:
		return r.Python, r.Account.TotalMs * c.accountScale(t) / r.Python.ScopeS
	case c.per == perRun:
		return r.Python, 1e3 * t.perRun
	}
	return nil, 0
}

// lines are the user's lines by samples, or as a line profiler timed them.
func (c *comparison) lines(t *timed, after bool) []item {
	r := t.Report
	var out []item
	add := func(file string, line int, function, text string, ms, calls float64, counted bool) {
		it := item{name: path.Base(file) + ":" + itoa(line), ms: ms, calls: calls, counted: counted,
			where: &report.Place{File: file, Line: line}, text: text}
		it.key = c.lineKey(place{file, line}, function, text, after)
		out = append(out, it)
	}
	if p, by := c.sampled(t); p != nil {
		for i := range p.Lines {
			l := &p.Lines[i]
			add(l.File, l.Line, l.Function, l.Source, l.SelfS*by, 0, false)
		}
		return out
	}
	for i := range r.Lines {
		l := &r.Lines[i]
		add(l.File, l.Line, l.Function, "", 1e3*l.SelfS*t.perRun, float64(l.Hits)*t.perRun, true)
	}
	return out
}

// lineKey is the same for a line before and after where it is the same line of the same function.
func (c *comparison) lineKey(at place, function, text string, after bool) string {
	if after {
		if was, ok := c.texts.lineBefore[at]; ok {
			at = was
		} else if c.texts.funcAfter[at] != nil {
			return fmt.Sprintf("new %s:%d", at.file, at.line)
		}
	}
	if c.texts.funcBefore[at] != nil {
		return fmt.Sprintf("%s:%d", at.file, at.line)
	}
	if text != "" { // its file is not with the session, the line is
		return path.Base(at.file) + " " + lastName(function) + " " + text
	}
	return fmt.Sprintf("%s %s:%d", path.Base(at.file), lastName(function), at.line)
}

// functions are those of samples, else of exact counts.
func (c *comparison) functions(t *timed, after bool) []item {
	r := t.Report
	var out []item
	if p, by := c.sampled(t); p != nil {
		for i := range p.Functions {
			f := &p.Functions[i]
			out = append(out, c.function(f.File, f.Line, f.Function, after, item{ms: f.SelfS * by}))
		}
		return out
	}
	for i := range r.Calls {
		f := &r.Calls[i]
		out = append(out, c.function(f.File, f.Line, f.Function, after,
			item{ms: 1e3 * f.SelfS * t.perRun, calls: float64(f.Hits) * t.perRun, counted: true}))
	}
	return out
}

func (c *comparison) function(file string, line int, name string, after bool, it item) item {
	it.name, name = name, address.ReplaceAllString(name, "")
	short, library := libraryPath(file)
	if file != "" && !strings.HasPrefix(file, "<") && file != "~" {
		it.where = &report.Place{File: file, Line: line}
	}
	it.key = short + " " + name
	if library {
		return it
	}
	it.key = path.Base(short) + " " + name // the same file in another folder
	if !after {
		return it
	}
	if was := c.texts.functions[place{file, line}]; was != nil && was.name != moduleLevel {
		it.key = path.Base(was.file) + " " + strings.TrimSuffix(name, lastName(name)) + was.name
	}
	return it
}

// operators are by name and shapes, as traced; time on the device is a part of the kernels.
func (c *comparison) operators(t *timed) []item {
	under := map[string][]string{}
	if counts := t.Report.Counts; counts != nil {
		for i := range counts.Rows {
			if row := &counts.Rows[i]; row.Kind == "op" {
				under[row.Name] = row.Under
			}
		}
	}
	var out []item
	for _, row := range byShapes(t.Report) {
		name := strings.TrimSpace(row.name + " " + row.shapes)
		family := []string{row.name} // of other shapes
		callers := under[row.name]
		for n := len(callers); n > 0; n-- {
			family = append(family, "in "+strings.Join(callers[:n], " › "))
		}
		out = append(out, item{key: name, name: name, ms: row.us / 1e3 * t.perTrace, calls: row.calls * t.perTrace,
			counted: true, family: family})
	}
	return out
}

// shaped is an operator with one set of shapes.
type shaped struct {
	name, shapes string
	us, calls    float64
}

// byShapes are the operators by name and shapes. A run is traced in windows of which some have no shapes: what an operator did there is
// spread over its shapes as its calls in the others are.
func byShapes(r *report.Report) []shaped {
	var out []shaped
	at := map[string]int{}        // of the row without shapes
	calls := map[string]float64{} // with shapes
	for i := range r.KeyAverages {
		row := &r.KeyAverages[i]
		if row.DeviceType != "cpu" || row.SelfCPUUs == 0 && row.Count == 0 {
			continue
		}
		if row.InputShapes == "" {
			at[row.Name] = len(out)
		} else {
			calls[row.Name] += float64(row.Count)
		}
		out = append(out, shaped{row.Name, row.InputShapes, row.SelfCPUUs, float64(row.Count)})
	}
	spread := make([]shaped, 0, len(out))
	for i, row := range out {
		bare, has := at[row.name]
		if has && calls[row.name] > 0 {
			if i == bare {
				continue
			}
			part := row.calls / calls[row.name]
			row.us, row.calls = row.us+part*out[bare].us, row.calls+part*out[bare].calls
		}
		spread = append(spread, row)
	}
	return spread
}

// modules are the rows of the table of modules.
func (c *comparison) modules(t *timed) []item {
	var out []item
	for i := range t.Report.Tables {
		table := &t.Report.Tables[i]
		if table.Name != "modules" {
			continue
		}
		at := map[string]int{}
		for k, column := range table.Columns {
			at[column.Name] = k
		}
		for _, row := range table.Rows {
			module, calls, self := cell(row, at, "module"), cell(row, at, "calls"), cell(row, at, "self CPU")
			if module.Text == "" || self.Value == nil {
				continue
			}
			it := item{key: module.Text, name: module.Text, ms: *self.Value / 1e3 * t.perTrace}
			if calls.Value != nil {
				it.calls, it.counted = *calls.Value*t.perTrace, true
			}
			out = append(out, it)
		}
	}
	return out
}

// cell is a row's cell in the column of that name; empty without it.
func cell(row report.TableRow, columns map[string]int, name string) report.TableCell {
	if i, ok := columns[name]; ok && i < len(row.Cells) {
		return row.Cells[i]
	}
	return report.TableCell{}
}

// kernels are by name without tuning parameters; those that have no counterpart are told by what launched them.
func kernels(t *timed) []item {
	var out []item
	for i := range t.Report.Kernels {
		k := &t.Report.Kernels[i]
		name := kernelName(k.Name)
		it := item{key: name, name: name, ms: k.DeviceUs / 1e3 * t.perTrace, calls: float64(k.Count) * t.perTrace, counted: true}
		if k.Launcher.File != "" {
			it.where = &report.Place{File: k.Launcher.File, Line: k.Launcher.Line}
		}
		if k.Launcher.Op != "" {
			it.family = []string{"of " + k.Launcher.Op}
		}
		out = append(out, it)
	}
	return out
}

func collectives(t *timed) []item {
	var out []item
	for i := range t.Report.Communication {
		row := &t.Report.Communication[i]
		name := strings.TrimSpace(row.Op + " " + row.Dtype)
		if row.Group != "" {
			name += " in " + row.Group
		}
		out = append(out, item{key: name, name: name, ms: row.DeviceUs / 1e3 * t.perTrace,
			calls: float64(row.Count) * t.perTrace, counted: true})
	}
	return out
}

// waits are of the device for each cause, of ranks for each other, and of the program for its batches.
func (c *comparison) waits(t *timed) []item {
	var out []item
	for i := range t.Report.GPU {
		for _, idle := range t.Report.GPU[i].IdleByCause {
			name := "GPU idle: " + idle.Cause
			out = append(out, item{key: name, name: name, ms: idle.Us / 1e3 * t.perTrace,
				calls: float64(idle.Gaps) * t.perTrace, counted: true})
		}
	}
	for i := range t.Report.Communication {
		if row := &t.Report.Communication[i]; row.WaitUs != nil {
			name := "for other ranks: " + row.Op
			out = append(out, item{key: name, name: name, ms: *row.WaitUs / 1e3 * t.perTrace,
				calls: float64(row.Count) * t.perTrace, counted: true})
		}
	}
	for i := range t.Report.Loaders {
		l := &t.Report.Loaders[i]
		batches := float64(l.Batches) * t.perRun
		it := item{name: "for batches of " + l.Dataset, ms: l.WaitMs * batches, calls: batches, counted: true}
		it.key = it.name
		if l.File != "" {
			it.where = &report.Place{File: l.File, Line: l.Line}
		}
		out = append(out, it)
	}
	return out
}

// workers are the DataLoader's, by what they do.
func (c *comparison) workers(t *timed) []item {
	var out []item
	for i := range t.Report.Workers {
		w := &t.Report.Workers[i]
		batches := float64(w.Batches) * t.perRun
		left := w.FetchMs
		for _, stage := range w.Stages {
			it := item{key: path.Base(stage.File) + " " + stage.Name, name: stage.Name, ms: stage.Ms * batches,
				calls: batches, counted: true}
			if stage.File != "" {
				it.where = &report.Place{File: stage.File, Line: stage.Line}
			}
			out = append(out, it)
			left -= stage.Ms
		}
		if left > 0 {
			out = append(out, item{key: "the rest of fetching", name: "the rest of fetching", ms: left * batches,
				calls: batches, counted: true})
		}
	}
	return out
}

// memory is what held the peak of each device.
func memory(r *report.Report) map[[2]string]int64 {
	out := map[[2]string]int64{}
	for i := range r.Memory {
		m := &r.Memory[i]
		left := m.PeakBytes
		for _, h := range m.Holders {
			name := strings.TrimSpace(h.Phase + " " + h.Op)
			if name == "" {
				name = "outside of operators"
			}
			out[[2]string{m.Device, name}] += h.Bytes
			left -= h.Bytes
		}
		out[[2]string{m.Device, unexplained}] += left
		out[[2]string{m.Device, "peak"}] += m.PeakBytes
	}
	return out
}
