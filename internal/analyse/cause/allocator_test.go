package cause_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// paging is a program of 300 steps of 100 ms whose first thread has so many page faults in each, of 2 µs of system time, and whose private
// memory comes and goes by so many MiB.
func paging(faults, swing float64) *testkit.Program {
	p := testkit.NewProgram()
	p.Steps(300, model.PhaseBaseline, testkit.Native(100, module, loop(40), torchFrame("nn/modules/conv.py", "forward")))
	p.P.Allocator = "glibc"
	k := 0
	for at := testkit.Epoch; at < p.T; at += 255e6 {
		n := float64(at-testkit.Epoch) / 100e6 * faults
		p.P.Usage = append(p.P.Usage, model.Usage{At: at, Anonymous: 400<<20 + int64(swing*math.Mod(float64(k)*0.37, 1)*(1<<20)),
			MinorFaults: int64(2 * n), System: model.Dur(4000 * n),
			First: &model.ThreadUse{MinorFaults: int64(n), System: model.Dur(2000 * n)}})
		k++
	}
	return p
}

func TestAllocatorThatGivesMemoryBack(t *testing.T) {
	grown := func(p *testkit.Program) { // by as much as the faults give: nothing is taken again
		for i := range p.P.Usage {
			p.P.Usage[i].Anonymous += p.P.Usage[i].MinorFaults * 4096
		}
	}
	for name, c := range map[string]struct {
		p      *testkit.Program
		change func(*testkit.Program)
		saves  float64 // ms per step, 0: no finding
	}{
		"gives back":               {paging(20000, 200), nil, 41},
		"no swing":                 {paging(20000, 0), nil, 0},
		"few faults":               {paging(900, 200), nil, 0},
		"a little above the floor": {paging(2000, 200), nil, 4.1},
		"grows":                    {paging(20000, 200), grown, 0},
		"jemalloc":                 {paging(20000, 200), func(p *testkit.Program) { p.P.Allocator = "jemalloc" }, 0},
		"not known":                {paging(20000, 200), func(p *testkit.Program) { p.P.Allocator = "" }, 0},
		"set already": {paging(20000, 200), func(p *testkit.Program) {
			p.S.Environment.Threads["GLIBC_TUNABLES"] = "glibc.malloc.mmap_max=0"
		}, 0},
		"in a part of the run": {paging(20000, 200), func(p *testkit.Program) {
			half := len(p.P.Usage) / 2
			for i := range p.P.Usage[half:] { // as many as a tenth of them
				p.P.Usage[half+i].MinorFaults = p.P.Usage[half].MinorFaults + (p.P.Usage[half+i].MinorFaults-p.P.Usage[half].MinorFaults)/10
			}
		}, 0},
		"with a pause": {paging(20000, 200), func(p *testkit.Program) {
			from, to := len(p.P.Usage)/2, len(p.P.Usage)*7/10
			for i := range p.P.Usage[from:] {
				u := &p.P.Usage[from+i]
				last := min(from+i, to)
				u.MinorFaults -= p.P.Usage[last].MinorFaults - p.P.Usage[from].MinorFaults
			}
		}, 41},
		"memory that goes at the end": {paging(1, 2), func(p *testkit.Program) {
			p.P.Usage = p.P.Usage[len(p.P.Usage)-11:]
			p.P.Usage[10].Anonymous = 0
		}, 0},
		"seen in five steps": {paging(20000, 200), func(p *testkit.Program) {
			p.P.Usage = p.P.Usage[:6]
			for i := range p.P.Usage {
				u := &p.P.Usage[i]
				u.At = testkit.Epoch + 5e9 + model.Time(i)*100e6
				u.MinorFaults, u.System = int64(40000*i), model.Dur(80e6*i)
				u.First = &model.ThreadUse{MinorFaults: int64(20000 * i), System: model.Dur(40e6 * i)}
			}
		}, 0},
		"other system time": {paging(20000, 200), func(p *testkit.Program) {
			for i := range p.P.Usage {
				p.P.Usage[i].First.System = model.Dur(p.P.Usage[i].At-testkit.Epoch) * 9 / 10
			}
		}, 82},
		"pages of files": {paging(20000, 20), func(p *testkit.Program) {
			for i := range p.P.Usage {
				p.P.Usage[i].File = int64(i%2) * 300 << 20
			}
		}, 0},
		"another thread drives": {paging(20000, 200), func(p *testkit.Program) { p.P.MainThread = 7 }, 20.6}, // of 4 threads
		"nobody looked":         {paging(20000, 200), func(p *testkit.Program) { p.P.Usage = nil }, 0},
	} {
		if c.change != nil {
			c.change(c.p)
		}
		res, _ := find(t, c.p)
		var f *finding.Finding
		for i := range res.Findings {
			if res.Findings[i].Sub == "allocator" {
				f = &res.Findings[i]
			}
		}
		if (f != nil) != (c.saves > 0) {
			t.Errorf("%s: %+v", name, res.Findings)
		}
		if f != nil && math.Abs(f.Step.Mid/1e6-c.saves) > 0.03*c.saves {
			t.Errorf("%s saves %v ms, want %v", name, f.Step.Mid/1e6, c.saves)
		}
	}
}

// What the program has set of glibc's stays, and a word is said where a trace changes what is given back.
func TestAllocatorKeepsOtherTunables(t *testing.T) {
	p := paging(20000, 200)
	p.S.Environment.Threads["GLIBC_TUNABLES"], p.S.Environment.Libc = "glibc.rtld.optional_static_tls=2048", "glibc 2.39"
	p.P.Windows = []model.Window{{Start: testkit.Epoch + 10e9, End: testkit.Epoch + 20e9, StopDone: testkit.Epoch + 20e9}}
	fewer := int64(0)
	for i := 1; i < len(p.P.Usage); i++ {
		u := &p.P.Usage[i]
		if u.At > testkit.Epoch+10e9 && u.At <= testkit.Epoch+20e9 {
			fewer += 90_000
		}
		u.MinorFaults -= fewer
	}
	res, _ := find(t, p)
	f := want(t, res, finding.Machine, "allocator", 0, 41)
	if got := f.Fix.Action.Change(); !strings.HasPrefix(got, "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=2048:glibc.malloc.mmap_max=0:") {
		t.Errorf("change %q", got)
	}
	said := ""
	for _, e := range f.Evidence {
		said += e.String() + "\n"
	}
	if !strings.Contains(said, "traced steps take ") {
		t.Errorf("evidence %q", said)
	}
}

// Settings that keep all memory let programs grow without end before glibc 2.39, as memalign leaves what was freed: there huge pages are
// asked for, where the kernel gives them to who asks, and by whom this PyTorch or this glibc can ask.
func TestAllocatorIsAskedForWhatIsSafe(t *testing.T) {
	for _, c := range []struct {
		libc, huge, torch string
		set               map[string]string
		change            string
		saves             float64 // ms per step
	}{
		{"glibc 2.36", "madvise", "2.15.0", nil, "THP_MEM_ALLOC_ENABLE=1", 20},
		{"", "madvise", "2.2.0", nil, "THP_MEM_ALLOC_ENABLE=1", 20},
		{"glibc 2.41", "madvise", "2.15.0", nil, "GLIBC_TUNABLES=glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=1000000000000", 41},
		{"glibc 2.41", "never", "1.13.1", nil, "GLIBC_TUNABLES=glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=1000000000000", 41},
		{"glibc 2.36", "madvise", "1.13.1", nil, "GLIBC_TUNABLES=glibc.malloc.hugetlb=1", 20},
		{"glibc 2.31", "madvise", "1.13.1", nil, "", 41},
		{"glibc 2.36", "never", "2.15.0", nil, "", 41},
		{"glibc 2.36", "always", "2.15.0", nil, "", 41},
		{"glibc 2.36", "madvise", "2.15.0", map[string]string{"THP_MEM_ALLOC_ENABLE": "1"}, "", 41},
		{"glibc 2.36", "madvise", "2.15.0", map[string]string{"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}, "", 41},
	} {
		p := paging(20000, 200)
		e := &p.S.Environment
		e.Libc, e.HugePages, e.Torch = c.libc, c.huge, c.torch
		for name, value := range c.set {
			e.Threads[name] = value
		}
		res, _ := find(t, p)
		f := want(t, res, finding.Machine, "allocator", 0, c.saves)
		if got := f.Fix.Action.Change(); got != c.change {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// heapOf is a program of steps of 100 ms whose C library has so many MiB free at their ends, and that takes so many pages again in each of
// the nine steps between its first two traced windows, and none later.
func heapOf(free, again int64) *testkit.Program {
	p := paging(0, 0)
	taken := int64(50_000)
	for i := range p.P.Steps {
		st := &p.P.Steps[i]
		if i > 0 && i < 10 {
			taken += again
		}
		if i == 0 || i == 10 {
			st.Phase = model.PhaseTrace
		}
		if i < 100 {
			p.P.Pages = append(p.P.Pages, model.Pages{At: st.End, Faults: taken, Resident: 40_000})
		}
		p.P.InUse = append(p.P.InUse, model.InUse{At: st.End, Bytes: 200 << 20, Blocks: 1e6, Free: free << 20})
	}
	return p
}

// A heap whose end goes back now and then is told where some stretch of the run has it, also where nothing was lost in the rest of it.
func TestHeapThatGoesBackNowAndThen(t *testing.T) {
	const change = "GLIBC_TUNABLES=glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=1000000000000"
	cost := func(pages float64) float64 { return pages * 1.5e-3 } // ms
	for name, c := range map[string]struct {
		p           *testkit.Program
		change      func(*testkit.Program)
		saves, most float64 // ms per step, 0: no finding
	}{
		"seen":           {heapOf(160, 8000), nil, cost(0.8 * 8000), cost(1.8 * 8000)},
		"little is free": {heapOf(40, 12000), nil, cost(0.8 * 12000), cost(1.8 * 12000)},
		"what is free is not told": {heapOf(160, 8000), func(p *testkit.Program) { p.P.InUse = nil }, cost(0.8 * 8000),
			cost(1.8 * 8000)},
		"nothing was seen":                  {heapOf(400, 0), nil, 0, 0},
		"a few of a hundred of the run":     {heapOf(160, 2500), nil, 0, 0},
		"blocks with mappings of their own": {heapOf(10, 20000), nil, 0, 0},
		"it grows": {heapOf(160, 8000), func(p *testkit.Program) {
			for i := range p.P.Pages {
				p.P.Pages[i].Resident += p.P.Pages[i].Faults
			}
		}, 0, 0},
		"another C library": {heapOf(160, 8000), func(p *testkit.Program) { p.P.Allocator = "jemalloc" }, 0, 0},
		"kept already": {heapOf(160, 8000), func(p *testkit.Program) {
			p.S.Environment.Threads["GLIBC_TUNABLES"] = "glibc.malloc.trim_threshold=1000000000"
		}, 0, 0},
		"a glibc that has no tunables": {heapOf(160, 8000), func(p *testkit.Program) {
			p.P.InUse, p.S.Environment.Libc = nil, "glibc 2.17"
		}, 0, 0},
		"kept by the older variable": {heapOf(160, 8000), func(p *testkit.Program) {
			p.S.Environment.Threads["MALLOC_TRIM_THRESHOLD_"] = "1000000000"
		}, 0, 0},
	} {
		if c.change != nil {
			c.change(c.p)
		}
		res, _ := find(t, c.p)
		at := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Sub == "allocator" })
		if (at >= 0) != (c.saves > 0) {
			t.Errorf("%s: %+v", name, res.Findings)
		}
		if at < 0 {
			continue
		}
		f := &res.Findings[at]
		if f.Step.Low != 0 || math.Abs(f.Step.Mid/1e6-c.saves) > 0.03*c.saves || math.Abs(f.Step.High/1e6-c.most) > 0.03*c.most {
			t.Errorf("%s saves %+v, want %v and at most %v ms", name, f.Step, c.saves, c.most)
		}
		if got := f.Fix.Action.Change(); got != change {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Where a traced window ended most of what the steps before it took again, the program alone has more.
func TestPagesThatAWindowEnded(t *testing.T) {
	res, _ := find(t, paging(4000, 200))
	plain := want(t, res, finding.Machine, "allocator", 0, 8.2)
	p := paging(4000, 200)
	p.P.Pages = heapOf(160, 20000).P.Pages
	p.P.Steps[0].Phase, p.P.Steps[10].Phase = model.PhaseTrace, model.PhaseTrace
	res, _ = find(t, p)
	f := want(t, res, finding.Machine, "allocator", 0, 16.1)
	if alone := 1.8 * 20000 * 1.5e-3; f.Step.Low != plain.Step.Low || math.Abs(f.Step.High/1e6-alone) > 0.03*alone {
		t.Errorf("saves %+v where a window ended it, and %+v else", f.Step, plain.Step)
	}
}

// Where steps take pages of a heap whose end goes back, keeping that end is safe with every C library; blocks with mappings of their own
// are far more than lies free in it, or more and the same in all stretches.
func TestTheHeapsEndIsKept(t *testing.T) {
	const keeps = "GLIBC_TUNABLES=glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=1000000000000"
	for name, c := range map[string]struct {
		free         int64 // MiB
		first, later int64 // pages that steps take before a traced window and after it
		change       string
		saves        float64 // ms per step
	}{
		"less than is free":        {200, 40000, 40000, keeps, 41},
		"more, by turns":           {50, 30000, 50000, keeps, 41},
		"more, in all stretches":   {50, 40000, 40000, "THP_MEM_ALLOC_ENABLE=1", 20},
		"far more, by turns":       {10, 30000, 50000, "THP_MEM_ALLOC_ENABLE=1", 20},
		"far more, and none of it": {10, 0, 0, "THP_MEM_ALLOC_ENABLE=1", 20},
	} {
		p := paging(20000, 200)
		e := &p.S.Environment
		e.Libc, e.HugePages, e.Torch = "glibc 2.36", "madvise", "2.15.0"
		taken := int64(0)
		for i := range p.P.Steps {
			end := p.P.Steps[i].End
			p.P.InUse = append(p.P.InUse, model.InUse{At: end, Bytes: 200 << 20, Blocks: 1e6, Free: c.free << 20})
			if taken += c.first; i > 50 {
				taken += c.later - c.first
			}
			if i < 100 {
				p.P.Pages = append(p.P.Pages, model.Pages{At: end, Faults: taken, Resident: 40_000})
			}
		}
		p.P.Steps[50].Phase = model.PhaseTrace
		res, _ := find(t, p)
		f := want(t, res, finding.Machine, "allocator", 0, c.saves)
		if got := f.Fix.Action.Change(); got != c.change {
			t.Errorf("%s: %q", name, got)
		}
	}
}
