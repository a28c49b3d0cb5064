package tables

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// compiledRegions are the regions that torch.compile made, and Inductor's graphs in them: each call, what the host spent in
// it and what its work took on the device. Regions are inclusive: graphs stand within regions, so that times do not add up
// over rows.
var compiledRegions = Analysis{
	Name: "compiled", Title: "Compiled regions",
	Aside: "graphs lie within regions: times are inclusive; a region once more per graph break, numbered again per recompilation",
	Needs: "regions of torch.compile",
	Columns: []Column{{"region", UnitText}, {"calls", UnitCount}, {"on CPU", UnitTime}, {"on device", UnitTime}, {"of device", UnitShare},
		{"work", UnitCount}, {"Triton", UnitShare}, {"recompiled", UnitCount}},
	Rows: compiledRows,
}

// compiledRegion sums one region over its calls.
type compiledRegion struct {
	name             string
	calls, work      int
	host             model.Dur
	runs             []stats.Interval
	triton           model.Dur
	device           model.Dur // sum, to take the share of Triton of
	frame, recompile int64     // -1 where the name does not tell
}

func compiledRows(t *model.Trace, s *model.Strings) [][]Cell {
	regions := findCompiled(t, s)
	if len(regions) == 0 {
		return nil
	}
	var device []stats.Interval
	for i, kind := range t.Events.Kind {
		if kind.Device() {
			device = append(device, times.OfEvent(&t.Events, model.EventID(i)))
		}
	}
	busy := float64(max(stats.Union(device).Len(), 1))
	recompiled := map[int64]int64{}
	for _, r := range regions {
		recompiled[r.frame] = max(recompiled[r.frame], r.recompile)
	}
	rows := make([][]Cell, 0, len(regions))
	for _, r := range regions {
		own := model.Dur(stats.Union(r.runs).Len())
		row := []Cell{textCell(r.name), numberCell(r.calls), numberCell(r.host), numberCell(own), numberCell(float64(own) / busy),
			numberCell(r.work), numberCell(float64(r.triton) / float64(max(r.device, 1))), {None: r.frame < 0}}
		if r.device == 0 {
			row[3].None, row[4].None, row[6].None = true, true, true
		}
		if r.frame >= 0 {
			row[7].Number = float64(recompiled[r.frame])
		}
		rows = append(rows, row)
	}
	return rows
}

// findCompiled sums up regions by name, most device time first, then most host time.
func findCompiled(t *model.Trace, s *model.Strings) []*compiledRegion {
	ev := &t.Events
	byName := map[model.Str]*compiledRegion{}
	isRegion := make([]int8, s.Len()) // by name: 0 unseen, 1 yes, -1 no
	around := make([]model.EventID, ev.Len())
	for i := range ev.Len() {
		id := model.EventID(i)
		around[i] = model.NoEvent
		if p := ev.Parent[i]; p != model.NoEvent {
			around[i] = around[p]
		}
		if ev.Kind[i] != model.KindOp && ev.Kind[i] != model.KindAnnotation {
			continue
		}
		name := ev.Name[i]
		if isRegion[name] == 0 {
			isRegion[name] = -1
			if isCompiledRegion(s.Text(name)) {
				isRegion[name] = 1
				byName[name] = newCompiledRegion(s.Text(name))
			}
		}
		if isRegion[name] < 0 {
			continue
		}
		around[i] = id
		r := byName[name]
		r.calls++
		r.host += ev.Dur[i]
	}
	if len(byName) == 0 {
		return nil
	}
	for i := range ev.Len() {
		if launch := ev.Link[i]; ev.Kind[i].Device() && launch != model.NoEvent {
			bookCompiled(ev, byName, around, model.EventID(i), launch, s)
		}
	}
	out := make([]*compiledRegion, 0, len(byName))
	for _, r := range byName {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *compiledRegion) int {
		return cmp.Or(cmp.Compare(b.device, a.device), cmp.Compare(b.host, a.host), strings.Compare(a.name, b.name))
	})
	return out
}

// bookCompiled books a piece of device work on every region around its launch, once on each of a name.
func bookCompiled(ev *model.Events, byName map[model.Str]*compiledRegion, around []model.EventID, work, launch model.EventID,
	s *model.Strings) {
	last := (*compiledRegion)(nil)
	for at := around[launch]; at != model.NoEvent; {
		if r := byName[ev.Name[at]]; r != last {
			r.work++
			r.device += ev.Dur[work]
			r.runs = append(r.runs, times.OfEvent(ev, work))
			if strings.HasPrefix(s.Text(ev.Name[work]), "triton_") {
				r.triton += ev.Dur[work]
			}
			last = r
		}
		if p := ev.Parent[at]; p != model.NoEvent {
			at = around[p]
		} else {
			at = model.NoEvent
		}
	}
}

func isCompiledRegion(name string) bool {
	return strings.HasPrefix(name, "Torch-Compiled Region") || strings.HasPrefix(name, "## Call CompiledFxGraph")
}

// newCompiledRegion reads "Torch-Compiled Region: frame/recompilation" and shortens the hash of "## Call CompiledFxGraph hash ##".
func newCompiledRegion(name string) *compiledRegion {
	r := &compiledRegion{name: name, frame: -1, recompile: -1}
	if hash, ok := strings.CutPrefix(name, "## Call CompiledFxGraph "); ok {
		hash = strings.Trim(hash, "# ")
		r.name = "  graph " + hash[:min(len(hash), 12)]
		return r
	}
	_, number, _ := strings.Cut(name, ": ")
	frame, again, _ := strings.Cut(number, "/")
	f, err := strconv.ParseInt(frame, 10, 32)
	n, errAgain := strconv.ParseInt(again, 10, 32)
	if err == nil && errAgain == nil && f >= 0 && n >= 0 {
		r.frame, r.recompile = f, n
	}
	return r
}

// tritonKernels are Inductor's and hand-written Triton kernels with the file that holds their source.
var tritonKernels = Analysis{
	Name: "triton", Title: "Triton kernels", Aside: "with the file of their source, as the operator that launched them names it",
	Needs: "operators of Inductor or Triton",
	Columns: []Column{{"kernel", UnitText}, {"runs", UnitCount}, {"on device", UnitTime}, {"mean", UnitTime}, {"settings", UnitText},
		{"source", UnitText}},
	Rows: tritonRows,
}

// tritonKernel sums one kernel over its runs.
type tritonKernel struct {
	name     string
	runs     int
	device   model.Dur
	settings string
	file     string
}

func tritonRows(t *model.Trace, s *model.Strings) [][]Cell {
	ev := &t.Events
	byName := map[model.Str]*tritonKernel{}
	for i := range ev.Len() {
		op := ev.Op[i]
		if !ev.Kind[i].Device() || op == model.NoEvent || ev.Detail[op] < 0 {
			continue
		}
		k := byName[ev.Name[op]]
		if k == nil {
			extra := arguments.Object(s.Text(ev.OpArgsOf(ev.Detail[op]).Extra))
			if extra["kernel_file"] == "" && extra["kernel_backend"] != "triton" {
				continue
			}
			k = &tritonKernel{name: s.Text(ev.Name[op]), file: extra["kernel_file"], settings: extra["kernel_kwargs"]}
			if warps := extra["num_warps"]; warps != "" {
				k.settings = strings.TrimPrefix(k.settings+",num_warps="+warps, ",")
			}
			byName[ev.Name[op]] = k
		}
		k.runs++
		k.device += ev.Dur[i]
	}
	list := make([]*tritonKernel, 0, len(byName))
	for _, k := range byName {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b *tritonKernel) int {
		return cmp.Or(cmp.Compare(b.device, a.device), strings.Compare(a.name, b.name))
	})
	var rows [][]Cell
	for _, k := range list {
		rows = append(rows, []Cell{textCell(k.name), numberCell(k.runs), numberCell(k.device),
			numberCell(k.device / model.Dur(max(k.runs, 1))), textCell(k.settings), textCell(k.file)})
	}
	return rows
}
