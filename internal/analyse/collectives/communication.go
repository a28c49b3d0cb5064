package collectives

import (
	"strings"

	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// Communication is all collectives of one operation in one group on one rank. Durations of a device's collective include
// waiting for late ranks; only where several ranks are given can waiting be told from transfer.
type Communication struct {
	Rank    int
	Device  int32  // -1: on CPU threads
	Op      string // "allreduce", "_allgather_base", …: as the process group called it, else from the kernel's name
	Group   string // name of the process group; "" unknown
	Ranks   int    // size of the group; 0 unknown
	DType   string
	Count   int64
	Bytes   int64 // sum of message sizes; -1 unknown
	Dur     model.Dur
	Exposed model.Dur // while nothing computes on the device
	// AlgBW and BusBW are GB/s by nccl-tests' formulas over Dur, or over Transfer where that is known; 0 unknown.
	AlgBW, BusBW float64
	// Matched is the number of calls that were found on every rank of the given traces; the following hold for those.
	Matched  int64
	Wait     model.Dur // from its own start to the start of the last rank
	Transfer model.Dur // the rest
	LateRank int       // the rank that the others waited for longest in sum; NoRank unknown
	// LateDid is what that rank did while the others waited for it longest: "computing on the device", an operator or a data
	// wait; "" for something that the trace does not show.
	LateDid string
}

// Collective is one call on one device.
type Collective struct {
	call  *collectiveKind
	Row   model.EventID
	start model.Time
	end   model.Time
	seq   int64 // sequence number in its group as the trace says; -1
}

// collectiveKind is what calls share; it is parsed once per distinct text.
type collectiveKind struct {
	op, group, dtype string
	members          string // ranks of the group as written
	size             int
	bytes            int64 // S of nccl-tests: -1 unknown
	factor           float64
	seq              int64
}

// dtypeBytes are the sizes of the element types that process groups name.
var dtypeBytes = map[string]int64{"float": 4, "float32": 4, "int": 4, "int32": 4, "half": 2, "float16": 2, "bfloat16": 2, "double": 8,
	"float64": 8, "long": 8, "int64": 8, "byte": 1, "char": 1, "bool": 1, "uint8": 1, "int8": 1, "short": 2, "float8_e4m3fn": 1,
	"float8_e5m2": 1, "float8_e4m3fnuz": 1, "complexfloat": 8, "complexdouble": 16}

// busFactor is the share of the algorithm's bandwidth that crosses a rank's links (nccl-tests), and which of input and
// output is the size that the formula means.
func busFactor(op string, ranks int) (factor float64, useOutput bool) {
	n := float64(ranks)
	name := strings.ToLower(strings.TrimPrefix(op, "_"))
	switch {
	case ranks < 2:
		return 1, false
	case strings.Contains(name, "allreduce"), strings.Contains(name, "all_reduce"):
		return 2 * (n - 1) / n, false
	case strings.Contains(name, "allgather"), strings.Contains(name, "all_gather"):
		return (n - 1) / n, true
	case strings.Contains(name, "reduce_scatter"), strings.Contains(name, "reducescatter"), strings.Contains(name, "all_to_all"),
		strings.Contains(name, "alltoall"), name == "gather", name == "scatter":
		return (n - 1) / n, false
	}
	return 1, false
}

// Parser turns a trace's collective arguments into kinds, once per text.
type Parser struct {
	texts *model.Strings
	known map[model.Str]*collectiveKind
	names map[model.Str]*collectiveKind
}

// NewParser remembers what it parsed of the names of one session.
func NewParser(s *model.Strings) *Parser {
	return &Parser{s, map[model.Str]*collectiveKind{}, map[model.Str]*collectiveKind{}}
}

func (p *Parser) of(ev *model.Events, id model.EventID) *collectiveKind {
	args := model.Str(0)
	if d := ev.Detail[id]; d >= 0 {
		args = ev.DeviceArgsOf(d).Collective
	}
	cache, key := p.known, args
	if args == 0 {
		cache, key = p.names, ev.Name[id]
	}
	kind := cache[key]
	if kind == nil {
		if args == 0 {
			kind = &collectiveKind{op: collectiveFromName(p.texts.Text(key)), bytes: -1, factor: 1, seq: -1}
		} else {
			kind = parseCollective(p.texts.Text(key))
		}
		cache[key] = kind
	}
	return kind
}

// collectiveFromName is the operation in a kernel's name: "ncclDevKernel_AllReduce_Sum_f32_RING_LL" is "allreduce".
func collectiveFromName(name string) string {
	lower := strings.ToLower(name)
	for _, op := range [...]string{"allreduce", "all_reduce", "allgather", "all_gather", "reducescatter", "reduce_scatter", "alltoall",
		"all_to_all", "broadcast", "sendrecv", "send", "recv", "reduce"} {
		if strings.Contains(lower, op) {
			return strings.ReplaceAll(op, "_", "")
		}
	}
	return naming.ShortKernelName(name)
}

// parseCollective reads the JSON object that ingest kept.
func parseCollective(text string) *collectiveKind {
	args := arguments.Object(text)
	k := &collectiveKind{op: args["Collective name"], group: args["Process Group Name"], dtype: args["dtype"],
		members: args["Process Group Ranks"], bytes: -1, seq: -1}
	k.size = int(arguments.Int64(args["Group size"], 0))
	if k.group == "" {
		k.group = args["Process Group ID"]
	}
	if v, ok := args["Seq"]; ok {
		k.seq = arguments.Int64(v, -1)
	}
	factor, useOutput := busFactor(k.op, k.size)
	k.factor = factor
	elements := arguments.Int64(args["In msg nelems"], -1)
	if out := arguments.Int64(args["Out msg nelems"], -1); useOutput || elements <= 0 {
		elements = out
	}
	if width, ok := dtypeBytes[strings.ToLower(k.dtype)]; ok && elements >= 0 {
		k.bytes = elements * width
	}
	return k
}

// Communications sums up the collectives of each rank, and, with several ranks of one job, splits waiting from transfer.
// Most time first within a rank.
func Communications(traces []*model.Trace, s *model.Strings) []Communication {
	ranks := make([]*Calls, len(traces))
	parser := NewParser(s)
	for i, t := range traces {
		ranks[i] = callsOf(t, s, parser)
	}
	return joinCalls(ranks, func(rank int, from, to model.Time) string { return doing(traces[rank], s, from, to) })
}

// commOwner says which trace and kind a row of the result stands for.
type commOwner struct {
	trace int
	call  *collectiveKind
}

// rate fills the bandwidths.
func (c *Communication) rate(factor float64) {
	over := c.Dur
	if c.Matched == c.Count && c.Transfer > 0 {
		over = c.Transfer
	}
	if c.Bytes > 0 && over > 0 {
		c.AlgBW = float64(c.Bytes) / float64(over)
		c.BusBW = c.AlgBW * factor
	}
}

// OnDevice are the device's calls in order of start.
func OnDevice(w *device.Timeline, parser *Parser) []Collective {
	ev := &w.Trace.Events
	var out []Collective
	for _, id := range w.Rows {
		if w.Classes.Of(ev, id) == naming.ClassCommunication {
			kind := parser.of(ev, id)
			out = append(out, Collective{kind, id, ev.Start[id], ev.End(id), kind.seq})
		}
	}
	return out
}

// communication sums up one device's collectives; calls are a kind of each row.
func communication(w *device.Timeline, list []Collective) (rows []Communication, calls []*collectiveKind) {
	if len(list) == 0 {
		return nil, nil
	}
	return sumCollectives(list, w.Sets().Compute, w.Trace.Rank, w.Device)
}

// sumCollectives forms the rows of one device, or of the host.
func sumCollectives(list []Collective, compute stats.Set, rank int, device int32) (rows []Communication, calls []*collectiveKind) {
	index := map[commKey]int{}
	for _, c := range list {
		key := c.call.key()
		at, known := index[key]
		if !known {
			at = len(rows)
			index[key] = at
			rows = append(rows, Communication{Rank: rank, Device: device, Op: key.op, Group: key.group, Ranks: c.call.size,
				DType: key.dtype, LateRank: model.NoRank})
			calls = append(calls, c.call)
		}
		r := &rows[at]
		r.Count++
		r.Dur += c.end.Sub(c.start)
		r.Exposed += c.end.Sub(c.start) - model.Dur(compute.LenIn(stats.Interval{From: int64(c.start), To: int64(c.end)}))
		if c.call.bytes < 0 {
			r.Bytes = -1
		} else if r.Bytes >= 0 {
			r.Bytes += c.call.bytes
		}
	}
	return rows, calls
}

type commKey struct{ op, group, dtype string }

func (k *collectiveKind) key() commKey { return commKey{k.op, k.group, k.dtype} }
