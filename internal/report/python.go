package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/input"
	"bottleneck/internal/analyse/cause/ranks"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
)

// python makes the tables of functions and lines from the samples of the driving thread in the accounted time.
func (b *Builder) python() {
	total := 0
	for _, p := range b.S.Processes {
		total += p.Samples.Len()
	}
	a := b.res.account
	if total == 0 || a == nil || a.Process == nil {
		return
	}
	sm := &a.Process.Samples
	out := &Python{AskedHz: sm.AskedHz, AchievedHz: sm.AchievedHz, Samples: total, Late: sm.Late, Failed: sm.Failed, ScopeS: a.Total / 1e9,
		Functions: []FuncRow{}, Lines: []LineRow{}, Processes: []ProcessRow{}}
	for _, p := range b.S.Processes { // one sampler watches them all
		if out.AskedHz == 0 {
			out.AskedHz, out.AchievedHz = p.Samples.AskedHz, p.Samples.AchievedHz
		}
	}
	out.Scope = "the driving thread in the accounted steps"
	if !a.PerStep {
		out.Scope = "the main thread over the whole run"
	}
	b.R.Python = out
	b.processRows(out)
	b.hotTables(out, a, sm)
}

func (b *Builder) processRows(out *Python) {
	for _, p := range b.S.Processes {
		row := ProcessRow{PID: p.PID, Role: string(nonEmptyRole(p.Role)), Rank: RankPtr(p.Rank), Command: strings.Join(p.Command, " "),
			Samples: p.Samples.Len()}
		cpu, main := 0, 0
		for i := range p.Samples.Len() {
			if p.MainThread == 0 || int(p.Samples.Thread[i]) == p.MainThread {
				main++
				if p.Samples.State[i] == model.StateCPU {
					cpu++
				}
			}
		}
		if main > 0 {
			row.CPUPart = float64(cpu) / float64(main)
		}
		if len(out.Processes) < 1000 {
			out.Processes = append(out.Processes, row)
		}
	}
}

type FuncKey struct {
	File, Function model.Str
	First          int32
}

type lineKey struct {
	File model.Str
	Line int32
}

// hotTables sums self and total time by function and by line; a frame that occurs several times in a stack counts once.
func (b *Builder) hotTables(out *Python, a *account.Breakdown, sm *model.Samples) {
	cls := code.NewFrameClasses(b.S, a.Process)
	self, total := map[FuncKey]float64{}, map[FuncKey]float64{}
	lself, ltotal := map[lineKey]float64{}, map[lineKey]float64{}
	lfunc := map[lineKey]model.Str{}
	n := 0
	for _, at := range a.Samples {
		n++
		seenF, seenL := map[FuncKey]bool{}, map[lineKey]bool{}
		inner, innerLine := true, true
		cls.Walk(sm.Stack[at.Index], func(id model.FrameID) bool {
			f := cls.Stacks.Frames[id]
			if cls.File(f.File) == code.FileAgent {
				return true
			}
			k := FuncKey{f.File, f.Function, f.First}
			if inner {
				self[k] += at.Weight
				inner = false
			}
			if !seenF[k] {
				seenF[k] = true
				total[k] += at.Weight
			}
			if cls.File(f.File) != code.FileUser { // lines of libraries are nobody's to change
				return true
			}
			l := lineKey{f.File, f.Line}
			if innerLine { // a line's own time includes the library code that it called
				lself[l] += at.Weight
				innerLine = false
			}
			if !seenL[l] {
				seenL[l] = true
				ltotal[l] += at.Weight
				lfunc[l] = f.Function
			}
			return true
		})
	}
	text := b.S.Strings.Text
	for k, t := range total {
		low, high := interval(t/a.Total, n)
		out.Functions = append(out.Functions, FuncRow{text(k.Function), CleanPath(text(k.File)), int(k.First),
			self[k] / 1e9, t / 1e9, low, high})
	}
	for k, t := range ltotal {
		file := text(k.File)
		out.Lines = append(out.Lines, LineRow{CleanPath(file), int(k.Line), text(lfunc[k]), lself[k] / 1e9, t / 1e9,
			code.SourceLine(b.S.Sources, file, int(k.Line))})
	}
	out.order(b.opt.MaxRows)
}

// order puts what takes most time itself first, and keeps so many rows.
func (out *Python) order(rows int) {
	slices.SortFunc(out.Functions, func(x, y FuncRow) int {
		return cmp.Or(cmp.Compare(y.SelfS, x.SelfS), cmp.Compare(y.TotalS, x.TotalS), cmp.Compare(x.File, y.File),
			cmp.Compare(x.Line, y.Line), cmp.Compare(x.Function, y.Function))
	})
	slices.SortFunc(out.Lines, func(x, y LineRow) int {
		return cmp.Or(cmp.Compare(y.SelfS, x.SelfS), cmp.Compare(y.TotalS, x.TotalS), cmp.Compare(x.File, y.File),
			cmp.Compare(x.Line, y.Line))
	})
	out.Functions = out.Functions[:min(len(out.Functions), rows)]
	out.Lines = out.Lines[:min(len(out.Lines), rows)]
}

// interval is the 95 % Wilson score interval of a share seen in n samples.
func interval(p float64, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.96
	nn := float64(n)
	p = min(max(p, 0), 1)
	centre := (p + z*z/(2*nn)) / (1 + z*z/nn)
	half := z / (1 + z*z/nn) * math.Sqrt(p*(1-p)/nn+z*z/(4*nn*nn))
	return max(centre-half, 0), min(centre+half, 1)
}

// loaders makes the consumer's and the workers' view of data loading.
func (b *Builder) loaders() {
	for _, p := range b.S.Processes {
		for i := range p.Loaders {
			l := &p.Loaders[i]
			if p.Role == model.RoleWorker {
				continue
			}
			b.R.Loaders = append(b.R.Loaders, b.loaderRow(p, l, i))
		}
	}
	if b.res.ctx == nil {
		return
	}
	for _, w := range b.res.ctx.WorkerStages() {
		row := Worker{PID: w.Process.PID, Role: string(w.Process.Role), Index: w.Process.WorkerIndex, Loader: w.Loader, Batches: w.Batches,
			FetchMs: w.FetchNs / 1e6, BusyShare: ptr(w.Busy), Stages: []StageRow{}}
		for _, st := range w.Stages {
			row.Stages = append(row.Stages, StageRow{Name: st.Function, Ms: st.Ns / 1e6, File: st.File, Line: st.Line})
		}
		b.R.Workers = append(b.R.Workers, row)
	}
}

func (b *Builder) loaderRow(p *model.Process, l *model.Loader, index int) Loader {
	row := Loader{Process: processName(p), Rank: RankPtr(p.Rank), Workers: l.Workers, BatchSize: l.BatchSize, Dataset: l.Dataset,
		File: b.S.Strings.Text(l.File), Line: int(l.Line)}
	wait, fetch, fetched := 0.0, 0.0, 0
	add := func(q *model.Process, own bool) {
		for i := range q.Spans {
			sp := &q.Spans[i]
			mine := own && int(sp.Loader) == index || !own && sp.Loader >= 0 && int(sp.Loader) < len(q.Loaders) &&
				q.Loaders[sp.Loader].ID == l.ID
			if !mine || sp.End < sp.Start {
				continue
			}
			switch {
			case sp.Kind == model.SpanDataWait && own:
				wait += float64(sp.End - sp.Start)
				row.Batches++
			case sp.Kind == model.SpanFetch:
				fetch += float64(sp.End - sp.Start)
				fetched++
			}
		}
	}
	add(p, true)
	for _, q := range b.S.Processes {
		if q.Role == model.RoleWorker && q.PPID == p.PID && q.Host == p.Host {
			add(q, false)
		}
	}
	if row.Batches > 0 {
		row.WaitMs = wait / float64(row.Batches) / 1e6
	}
	if fetched > 0 {
		row.FetchMs = fetch / float64(fetched) / 1e6
	}
	if d, ok := input.QueueDepth(p, index); ok {
		row.QueueDepth = ptr(d)
	}
	return row
}

// ranks compares the ranks' steps and their waiting for each other.
func (b *Builder) ranks() {
	all := ranks.Ranks(b.S)
	if len(all) == 0 {
		return
	}
	own, known := 0.0, 0.0
	for _, a := range all {
		if len(a.Samples) > 0 {
			own += a.Mean() - a.Part(account.PartComm)/float64(max(len(a.Windows), 1))
			known++
		}
	}
	for _, a := range all {
		row := Rank{Rank: a.Process.Rank, Host: a.Process.Host, MedianMs: a.Median / 1e6}
		for i := range a.Process.Steps {
			row.Steps += a.Process.Steps[i].Count()
		}
		if len(a.Samples) > 0 {
			waits := a.Part(account.PartComm) / float64(max(len(a.Windows), 1))
			row.WaitsMs = ptr(waits / 1e6)
			row.LateMs = ptr((a.Mean() - waits - own/known) / 1e6)
		}
		b.R.Ranks = append(b.R.Ranks, row)
	}
	slices.SortFunc(b.R.Ranks, func(x, y Rank) int { return cmp.Compare(x.Rank, y.Rank) })
}

// next names commands that show more of this session.
func (b *Builder) next() {
	at := b.opt.Path
	if at == "" || len(b.S.Traces)+len(b.S.Processes)+len(b.S.Calls) == 0 {
		return
	}
	if strings.ContainsAny(at, " \t'\"$&;()*?") {
		at = "'" + strings.ReplaceAll(at, "'", `'\''`) + "'"
	}
	b.R.Next = append(b.R.Next, "bottleneck report --all "+at)
	if len(b.S.Traces) > 0 {
		b.R.Next = append(b.R.Next, "bottleneck export --to chrome -o trace.json "+at)
	}
	if b.R.Python != nil {
		b.R.Next = append(b.R.Next, "bottleneck export --to speedscope -o stacks.json "+at)
	}
}
