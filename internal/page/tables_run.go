package page

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"bottleneck/internal/view"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

func runTables(r *report.Report) []Table {
	return []Table{stepTable(r), runTable(r), phaseTable(r), loaderTable(r), workerTable(r), stageTable(r), rankTable(r), systemTable(r)}
}

func stepTable(r *report.Report) Table {
	// Unprofiled times where there are some, else the traced ones.
	times := func(s *report.StepKind) *report.Quantiles {
		for _, q := range []*report.Quantiles{s.Baseline, s.Traced} {
			if q != nil {
				return q
			}
		}
		return &report.Quantiles{}
	}
	us := func(get func(*report.Quantiles) *float64) func(*report.StepKind) *float64 {
		return func(s *report.StepKind) *float64 { return scaled(get(times(s)), 1e3) }
	}
	return tableOf("steps", "Steps", groupRun, "times are of unprofiled steps where there are some; distortion is traced ÷ unprofiled",
		r.Steps, text("kind", func(s *report.StepKind) string { return s.Kind }),
		count("count", func(s *report.StepKind) int64 { return int64(s.Count) }),
		count("timed", func(s *report.StepKind) int64 { return int64(times(s).Count) }),
		text("timed while", func(s *report.StepKind) string {
			switch {
			case s.Baseline != nil:
				return "unprofiled"
			case s.Traced != nil:
				return "traced"
			}
			return ""
		}),
		bar(number("median", unitTime, func(s *report.StepKind) float64 { return times(s).MedianMs * 1e3 })),
		perhaps("mean", unitTime, us(func(q *report.Quantiles) *float64 { return q.MeanMs })),
		perhaps("p10", unitTime, us(func(q *report.Quantiles) *float64 { return q.P10Ms })),
		perhaps("p90", unitTime, us(func(q *report.Quantiles) *float64 { return q.P90Ms })),
		perhaps("p99", unitTime, us(func(q *report.Quantiles) *float64 { return q.P99Ms })),
		number("total", unitTime, func(s *report.StepKind) float64 { return s.TotalS * 1e6 }),
		perhaps("distortion", unitNumber, func(s *report.StepKind) *float64 { return s.Distortion }),
		perhaps("items a second", unitNumber, func(s *report.StepKind) *float64 { return s.ItemsPerSec }),
		text("found by", func(s *report.StepKind) string { return s.Source }))
}

func runTable(r *report.Report) Table {
	if r.Run == nil {
		return Table{}
	}
	return tableOf("run", "The whole run", groupRun, "start, steps by kind, end", r.Run.Parts,
		text("part", func(p *report.Part) string { return p.Part }),
		bar(sum(number("time", unitTime, func(p *report.Part) float64 { return p.Ms * 1e3 }))),
		sum(number("share", unitShare, func(p *report.Part) float64 { return p.Share })),
		perhaps("waiting for the disk", unitTime, func(p *report.Part) *float64 {
			if len(p.Of) == 0 {
				return nil
			}
			us := p.Of[0].Ms * 1e3
			return &us
		}))
}

func phaseTable(r *report.Report) Table {
	if r.Run == nil {
		return Table{}
	}
	return tableOf("phases", "Phases", groupRun, "what was measured while the program ran", r.Run.Phases,
		text("phase", func(p *report.Phase) string { return p.Name }),
		number("from", unitTime, func(p *report.Phase) float64 { return p.FromS * 1e6 }),
		number("to", unitTime, func(p *report.Phase) float64 { return p.ToS * 1e6 }),
		sum(number("length", unitTime, func(p *report.Phase) float64 { return (p.ToS - p.FromS) * 1e6 })),
		count("steps", func(p *report.Phase) int64 { return int64(p.Steps) }))
}

func loaderTable(r *report.Report) Table {
	return tableOf("loaders", "DataLoaders", groupRun, "per batch, over the whole run", r.Loaders,
		text("data set", func(l *report.Loader) string { return l.Dataset }),
		text("process", func(l *report.Loader) string { return l.Process }),
		rank(func(l *report.Loader) *int { return l.Rank }),
		number("workers", unitNumber, func(l *report.Loader) float64 { return float64(l.Workers) }),
		count("batch size", func(l *report.Loader) int64 { return int64(l.BatchSize) }),
		sum(count("batches", func(l *report.Loader) int64 { return int64(l.Batches) })),
		bar(number("wait", unitTime, func(l *report.Loader) float64 { return l.WaitMs * 1e3 })),
		number("fetch", unitTime, func(l *report.Loader) float64 { return l.FetchMs * 1e3 }),
		perhaps("batches ready, mean", unitNumber, func(l *report.Loader) *float64 { return l.QueueDepth }),
		place("built at", func(l *report.Loader) (string, int) { return l.File, l.Line }))
}

func workerTable(r *report.Report) Table {
	return tableOf("workers", "Workers", groupRun, "DataLoader workers", r.Workers,
		number("loader", unitNumber, func(w *report.Worker) float64 { return float64(w.Loader) }),
		text("worker", func(w *report.Worker) string { return strconv.Itoa(w.Index) }),
		number("pid", unitNumber, func(w *report.Worker) float64 { return float64(w.PID) }),
		sum(count("batches", func(w *report.Worker) int64 { return int64(w.Batches) })),
		bar(number("fetch, mean", unitTime, func(w *report.Worker) float64 { return w.FetchMs * 1e3 })),
		perhaps("busy", unitShare, func(w *report.Worker) *float64 { return w.BusyShare }),
		perhaps("batches ready, mean", unitNumber, func(w *report.Worker) *float64 { return w.QueueDepth }))
}

// stageOf is a part of a worker's batch.
type stageOf struct {
	worker *report.Worker
	report.StageRow
}

func stageTable(r *report.Report) Table {
	var rows []stageOf
	for i := range r.Workers {
		for _, s := range r.Workers[i].Stages {
			rows = append(rows, stageOf{&r.Workers[i], s})
		}
	}
	return tableOf("stages", "Workers' stages", groupRun, "where a batch's time goes, by your lines", rows,
		text("worker", func(s *stageOf) string { return strconv.Itoa(s.worker.Index) }),
		text("stage", func(s *stageOf) string { return s.Name }),
		bar(number("per batch", unitTime, func(s *stageOf) float64 { return s.Ms * 1e3 })),
		perhaps("share", unitShare, func(s *stageOf) *float64 { return ratio(s.Ms, s.worker.FetchMs) }),
		place("at", func(s *stageOf) (string, int) { return s.File, s.Line }))
}

func rankTable(r *report.Report) Table {
	clock := func(get func(*report.Clock) float64) func(*report.Rank) *float64 {
		return func(k *report.Rank) *float64 {
			if k.Clock == nil {
				return nil
			}
			v := get(k.Clock)
			return &v
		}
	}
	return tableOf("ranks", "Ranks", groupRun, "waiting and being late are per step", r.Ranks,
		number("rank", unitNumber, func(k *report.Rank) float64 { return float64(k.Rank) }),
		text("host", func(k *report.Rank) string { return k.Host }),
		count("steps", func(k *report.Rank) int64 { return int64(k.Steps) }),
		bar(number("median step", unitTime, func(k *report.Rank) float64 { return k.MedianMs * 1e3 })),
		perhaps("waits for others", unitTime, func(k *report.Rank) *float64 { return scaled(k.WaitsMs, 1e3) }),
		perhaps("behind the mean", unitTime, func(k *report.Rank) *float64 { return scaled(k.LateMs, 1e3) }),
		perhaps("clock off by", unitTime, clock(func(c *report.Clock) float64 { return c.OffsetUs })),
		perhaps("to within", unitTime, clock(func(c *report.Clock) float64 { return c.ErrorUs })))
}

func systemTable(r *report.Report) Table {
	use := func(get func(*report.SystemUse) *float64) func(*report.SystemRow) *float64 {
		return func(p *report.SystemRow) *float64 {
			if p.Use == nil {
				return nil
			}
			return get(p.Use)
		}
	}
	us := func(get func(*report.SystemUse) *float64) func(*report.SystemRow) *float64 {
		of := use(get)
		return func(p *report.SystemRow) *float64 { return scaled(of(p), 1e3) }
	}
	return tableOf("system", "System", groupRun, "as the kernel counts; per step without a trace, switches of the first thread", r.System,
		rank(func(p *report.SystemRow) *int { return p.Rank }),
		text("process", func(p *report.SystemRow) string { return p.Process }),
		bar(number("memory, peak", unitBytes, func(p *report.SystemRow) float64 { return float64(p.PeakBytes) })),
		perhaps("PSS", unitBytes, func(p *report.SystemRow) *float64 { return p.ProportionalBytes }),
		perhaps("user", unitTime, us(func(u *report.SystemUse) *float64 { return &u.UserMs })),
		perhaps("system", unitTime, us(func(u *report.SystemUse) *float64 { return &u.SystemMs })),
		perhaps("page faults", unitNumber, use(func(u *report.SystemUse) *float64 { return &u.MinorFaults })),
		perhaps("with reading", unitNumber, use(func(u *report.SystemUse) *float64 { return &u.MajorFaults })),
		perhaps("waits", unitNumber, use(func(u *report.SystemUse) *float64 { return u.Waits })),
		perhaps("pushed off", unitNumber, use(func(u *report.SystemUse) *float64 { return u.Pushed })),
		perhaps("read", unitBytes, use(func(u *report.SystemUse) *float64 { return u.ReadBytes })),
		perhaps("written", unitBytes, use(func(u *report.SystemUse) *float64 { return u.WrittenBytes })),
		text("malloc", func(p *report.SystemRow) string { return p.Allocator }))
}

// fact is a row of a table of two texts.
type fact struct{ what, value string }

func inputTables(r *report.Report) []Table {
	return []Table{
		tableOf("environment", "Environment", groupRun, "", facts(r),
			text("what", func(f *fact) string { return f.what }), text("value", func(f *fact) string { return f.value })),
		tableOf("packages", "Packages", groupRun, "", r.Environment.Packages,
			text("package", func(p *report.Package) string { return p.Name }),
			text("version", func(p *report.Package) string { return p.Version })),
		tableOf("files", "Files", groupRun, "what was read", r.Inputs,
			text("file", func(i *report.Input) string { return i.Path }),
			text("format", func(i *report.Input) string { return i.Format }),
			rank(func(i *report.Input) *int { return i.Rank }),
			sum(bar(number("size", unitBytes, func(i *report.Input) float64 { return float64(i.Bytes) }))),
			sum(count("events", func(i *report.Input) int64 { return i.Events })),
			text("note", func(i *report.Input) string { return i.Note })),
		diagnosticTable(r),
	}
}

// diagnosticOf is something odd about one input.
type diagnosticOf struct {
	input *report.Input
	report.Diagnostic
}

func diagnosticTable(r *report.Report) Table {
	var rows []diagnosticOf
	for i := range r.Inputs {
		for _, d := range r.Inputs[i].Diagnostics {
			rows = append(rows, diagnosticOf{&r.Inputs[i], d})
		}
	}
	return tableOf("diagnostics", "Diagnostics", groupRun, "what is damaged or odd about the files", rows,
		text("what", func(d *diagnosticOf) string { return d.Text }),
		text("kind", func(d *diagnosticOf) string { return d.Kind }),
		bar(count("times", func(d *diagnosticOf) int64 { return d.Count })),
		perhaps("first at byte", unitNumber, func(d *diagnosticOf) *float64 { return fromInt64(d.FirstOffset) }),
		text("file", func(d *diagnosticOf) string { return d.input.Path }))
}

// facts are the machine, the software and the run.
func facts(r *report.Report) []fact {
	e := &r.Environment
	var out []fact
	add := func(what, value string) {
		if value != "" {
			out = append(out, fact{what, value})
		}
	}
	if r.Run != nil {
		add("command", strings.Join(r.Run.Command, " "))
		add("run", units.Seconds(r.Run.WallS))
	}
	add("PyTorch", e.Torch)
	add("Python", e.Python)
	add("CUDA", e.CUDA)
	add("HIP", e.HIP)
	add("system", e.OS)
	add("host", e.Host)
	if e.CPUs > 0 {
		add("cores", strconv.Itoa(e.CPUs))
	}
	add("processor", e.CPUModel)
	if n := len(e.Affinity); n > 0 && n < e.CPUs {
		add("bound to cores", strings.Trim(fmt.Sprint(e.Affinity), "[]"))
	}
	if e.CPUQuota != nil {
		add("quota of cores", fmt.Sprintf("%.3g", *e.CPUQuota))
	}
	for _, size := range []struct {
		what  string
		bytes *int64
	}{{"memory", e.MemoryBytes}, {"/dev/shm", e.SHMBytes}} {
		if size.bytes != nil {
			add(size.what, units.Bytes(float64(*size.bytes)))
		}
	}
	add("C library", e.Libc)
	add("huge pages", e.HugePages)
	for _, what := range slices.Sorted(maps.Keys(e.Threads)) {
		add(what, e.Threads[what])
	}
	for i := range e.GPUs {
		add(fmt.Sprintf("GPU %d", e.GPUs[i].Index), view.GPUText(&e.GPUs[i]))
	}
	return append(out, costs(r)...)
}

// costs are what measuring cost.
func costs(r *report.Report) []fact {
	if r.Run == nil {
		return nil
	}
	var out []fact
	own := &r.Run.Own
	if own.LongestPauseMs != nil {
		out = append(out, fact{"longest pause by measuring", units.Milliseconds(*own.LongestPauseMs)})
	}
	if own.AgentCPUS != nil {
		out = append(out, fact{"CPU time of measuring in the program", units.Seconds(*own.AgentCPUS)})
	}
	if own.SamplerCPUS != nil {
		out = append(out, fact{"CPU time of sampling", units.Seconds(*own.SamplerCPUS)})
	}
	return out
}
