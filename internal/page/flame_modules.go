package page

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"bottleneck/internal/analyse/tables"
	"bottleneck/internal/model"
)

// moduleTrees are the CPU time and the device time of a model's modules by their places in it, rank by rank. One without time is nil.
func moduleTrees(s *model.Session) (cpu, device *tree) {
	ranks := map[int][]*model.Trace{}
	for _, t := range s.Traces {
		ranks[t.Rank] = append(ranks[t.Rank], t)
	}
	cpu, device = newTree("all modules"), newTree("all modules")
	for _, rank := range slices.Sorted(maps.Keys(ranks)) {
		rows := tables.ModuleTimes(ranks[rank], s.Strings)
		// a module stands behind the one that it is in, which knows its class
		slices.SortStableFunc(rows, func(a, b tables.ModuleTime) int {
			return cmp.Compare(strings.Count(a.Path, "."), strings.Count(b.Path, "."))
		})
		onCPU, onDevice := map[string]int32{}, map[string]int32{}
		if len(ranks) > 1 {
			name := frame{name: traceName(ranks[rank][0])}
			onCPU[""], onDevice[""] = cpu.child(0, name), device.child(0, name)
		}
		for i := range rows {
			m := &rows[i]
			cpu.nodes[cpu.module(onCPU, m.Path, m.Class)].self += float64(max(m.SelfCPU, 0))
			device.nodes[device.module(onDevice, m.Path, m.Class)].self += float64(max(m.SelfDevice, 0))
		}
	}
	for _, tree := range []**tree{&cpu, &device} {
		if (*tree).sum(); (*tree).nodes[0].total <= 0 {
			*tree = nil
		}
	}
	return cpu, device
}

// module is the node of a place in a model. at remembers the first node of each place; containers that are never called have no class.
func (t *tree) module(at map[string]int32, path, class string) int32 {
	dot := strings.LastIndexByte(path, '.')
	name := path[dot+1:]
	if class != "" && class != name {
		name += " (" + class + ")"
	}
	if node, known := at[path]; known && (class == "" || t.list[t.nodes[node].frame].name == name) {
		return node
	}
	around, known := at[path[:max(dot, 0)]]
	if !known && dot > 0 {
		around = t.module(at, path[:max(dot, 0)], "")
	}
	node := t.child(around, frame{name: name})
	if _, known := at[path]; !known {
		at[path] = node
	}
	return node
}
