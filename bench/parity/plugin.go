package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// plugin is one line of plugin.py: what the TensorBoard plugin (torch-tb-profiler) says of a trace. Times are microseconds.
type plugin struct {
	File    string            `json:"file"`
	Errors  map[string]string `json:"errors"`
	Steps   []map[string]any  `json:"steps"`
	Devices map[string]struct {
		Utilization  *float64 `json:"utilization"`
		SMEfficiency *float64 `json:"sm_efficiency"`
		Occupancy    *float64 `json:"occupancy"`
	} `json:"devices"`
	Kernels   map[string][3]any     `json:"kernels"`
	Operators map[string][5]float64 `json:"operators"`
}

// comparePlugin reads the plugin's lines and prints the table of agreements.
func comparePlugin(in io.Reader, out io.Writer, root string) (differs int, err error) {
	t := &table{out: out}
	fmt.Fprintf(out, "%-46s %16s %16s\n", "", "plugin", "ours")
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if !bytes.HasPrefix(lines.Bytes(), []byte("{")) {
			continue
		}
		var p plugin
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return 0, fmt.Errorf("reading the plugin's numbers: %w", err)
		}
		t.file, t.printed = p.File, false
		if text := p.Errors["load"]; text != "" {
			fmt.Fprintf(out, "%s\n  the plugin fails: %s\n", p.File, text)
			continue
		}
		session, err := readSession(filepath.Join(root, p.File))
		if err != nil {
			return 0, err
		}
		r := newPluginRules(session, &p)
		r.steps(t)
		r.devices(t)
		r.kernels(t)
	}
	fmt.Fprintf(out, "%d equal, %d explained, %d of other definition, %d different\n", t.equal, t.explained, t.other, t.differs)
	return t.differs, lines.Err()
}

// pluginRules applies the plugin's definitions to our model.
type pluginRules struct {
	t *model.Trace
	s *model.Strings
	p *plugin
	// runtime says that calls of the device's runtime have the category that the plugin knows, "Runtime" of PyTorch up to 1.11.
	runtime bool
	windows []stats.Interval // the plugin's steps, in the order of ours
	sets    [account.StepOther]stats.Set
}

func newPluginRules(s *model.Session, p *plugin) *pluginRules {
	r := &pluginRules{t: s.Traces[0], s: s.Strings, p: p}
	for cat := range s.Inputs[0].Counts {
		r.runtime = r.runtime || strings.EqualFold(cat, "runtime")
	}
	r.windows = r.bounds()
	var lists [account.StepOther][]stats.Interval
	for i := range r.t.Events.Len() {
		if kind := r.kind(model.EventID(i)); kind < account.StepOther {
			lists[kind] = append(lists[kind], stats.Interval{From: int64(r.t.Events.Start[i]), To: int64(r.t.Events.End(model.EventID(i)))})
		}
	}
	for kind := range lists {
		r.sets[kind] = stats.Union(lists[kind])
	}
	return r
}

// bounds are the plugin's steps: ours where it can follow launches, else the host's; without steps all that operators span.
func (r *pluginRules) bounds() []stats.Interval {
	var out []stats.Interval
	switch {
	case len(r.t.Steps) > 0 && r.t.Steps[0].Source == model.StepProfiler && r.runtime:
		for _, st := range account.StepPartsOf(r.t, r.s) {
			out = append(out, stats.Interval{From: int64(st.Start), To: int64(st.End)})
		}
	case len(r.t.Steps) > 0 && r.t.Steps[0].Source == model.StepProfiler:
		for _, st := range r.t.Steps {
			out = append(out, stats.Interval{From: int64(st.Start), To: int64(st.End)})
		}
	default:
		all := stats.Interval{From: math.MaxInt64, To: math.MinInt64}
		for i, kind := range r.t.Events.Kind {
			if kind == model.KindOp {
				all.From, all.To = min(all.From, int64(r.t.Events.Start[i])), max(all.To, int64(r.t.Events.End(model.EventID(i))))
			}
		}
		for i := range r.t.Events.Len() {
			if launch := r.t.Events.Link[i]; r.runtime && launch != model.NoEvent && r.t.Events.Kind[i].Device() &&
				int64(r.t.Events.Start[launch]) >= all.From {
				all.To = max(all.To, int64(r.t.Events.End(model.EventID(i))))
			}
		}
		out = append(out, all)
	}
	return out
}

// extent is what the plugin's rates are of: from its first step to the end of its last, where steps' shadows on the device
// are steps too.
func (r *pluginRules) extent() stats.Interval {
	first, last := r.windows[0], r.windows[len(r.windows)-1]
	for i, kind := range r.t.Events.Kind {
		if kind != model.KindGPUAnnotation || !strings.HasPrefix(r.s.Text(r.t.Events.Name[i]), "ProfilerStep#") {
			continue
		}
		if at := int64(r.t.Events.Start[i]); at > last.From {
			last = stats.Interval{From: at, To: int64(r.t.Events.End(model.EventID(i)))}
		}
	}
	return stats.Interval{From: first.From, To: last.To}
}

// collectives are the names by which the plugin knows communication, on the host only.
var collectives = regexp.MustCompile(`^(nccl|gloo):(broadcast|reduce|all_reduce|all_gather|reduce_scatter)$`)

// kind is the plugin's role of an event.
func (r *pluginRules) kind(id model.EventID) account.StepPartKind {
	name := r.s.Text(r.t.Events.Name[id])
	switch r.t.Events.Kind[id] {
	case model.KindKernel:
		return account.StepKernel
	case model.KindMemcpy:
		return account.StepMemcpy
	case model.KindMemset:
		return account.StepMemset
	case model.KindRuntime:
		if r.runtime {
			return account.StepRuntime
		}
	case model.KindOp, model.KindAnnotation:
		switch {
		case collectives.MatchString(name):
			return account.StepCommunication
		case r.t.Events.Kind[id] == model.KindAnnotation && !(r.runtime && strings.HasPrefix(name, "Optimizer.")): // an operator then
		case strings.HasPrefix(name, "enumerate(DataLoader)#") && strings.HasSuffix(name, ".__next__"),
			strings.HasPrefix(name, "enumerate(DataPipe)#"):
			return account.StepDataLoader
		default:
			return account.StepCPUOp
		}
	}
	return account.StepOther
}

// parts cuts a window by the plugin's roles.
func (r *pluginRules) parts(window stats.Interval) (out [account.NumStepParts]float64) {
	left := stats.Set{window}
	for kind := range account.StepOther {
		taken := r.sets[kind].And(left)
		out[kind] = micro(model.Dur(taken.Len()))
		left = left.Minus(taken)
	}
	out[account.StepOther] = micro(model.Dur(left.Len()))
	return out
}

const (
	pluginParts = "no cuda_runtime, no collective kernels, steps end with the host's operators"
	pluginRates = "rates of the steps, not of the device's span"
	pluginWide  = "float64 time stamps: 0.25 µs steps"
)

// steps compares the parts of each step of which both know the bounds.
func (r *pluginRules) steps(t *table) {
	ours := account.StepPartsOf(r.t, r.s)
	if len(r.p.Steps) != len(ours) {
		t.note("steps", float64(len(r.p.Steps)), float64(len(ours)),
			"a step's shadow on the device counts as another, last steps with little device work are dropped, only ProfilerStep is known")
	}
	if len(ours) != len(r.windows) { // without its marks the plugin has one step, of another extent than any of ours
		return
	}
	for i := range ours {
		theirs := r.stepOf(&ours[i], i)
		if theirs == nil {
			continue
		}
		by := r.parts(r.windows[i])
		for kind, name := range []string{"Kernel", "Memcpy", "Memset", "Communication", "Runtime", "DataLoader", "CpuOp", "Other"} {
			v, _ := theirs[name].(float64)
			rule := pluginParts
			if off := math.Abs(v - by[kind]); wide(r.t) && off < 0.25*math.Sqrt(float64(r.t.Events.Len()))+1 {
				by[kind] = v
				rule += "; " + pluginWide
			}
			t.row(fmt.Sprintf("step %d: %s", ours[i].Number, account.StepPartKind(kind)), v, micro(ours[i].Parts[kind]), by[kind], rule)
		}
	}
}

// stepOf finds the plugin's step of the same number.
func (r *pluginRules) stepOf(ours *account.StepParts, at int) map[string]any {
	for _, st := range r.p.Steps {
		if st["name"] == fmt.Sprint(ours.Number) {
			return st
		}
	}
	if ours.Number < 0 && at == 0 && len(r.p.Steps) == 1 {
		return r.p.Steps[0]
	}
	return nil
}

func (r *pluginRules) devices(t *table) {
	for _, g := range device.GPUs(r.t, r.s) {
		theirs, ok := r.p.Devices[fmt.Sprint(g.Device)]
		if !ok || theirs.Utilization == nil {
			continue
		}
		prefix := fmt.Sprintf("device %d: ", g.Device)
		utilisation, efficiency, occupancy := r.rates(g.Device)
		t.row(prefix+"utilisation, %", 100**theirs.Utilization, 100*float64(g.Compute+g.Communication-g.Overlap)/float64(max(1, g.Span)),
			100*utilisation, pluginRates)
		if theirs.SMEfficiency != nil {
			t.row(prefix+"SM efficiency, %", 100**theirs.SMEfficiency, 100*g.SMEfficiency, 100*efficiency, pluginRates)
		}
		if theirs.Occupancy != nil {
			t.row(prefix+"occupancy, %", *theirs.Occupancy, 100*g.Occupancy, 100*occupancy, pluginRates)
		}
	}
}

// rates are utilisation, SM efficiency and occupancy of a device's kernels within the plugin's steps, 0..1.
func (r *pluginRules) rates(device int32) (utilisation, efficiency, occupancy float64) {
	window := r.extent()
	var runs []stats.Interval
	var blocks []stats.Weighted
	var sum, time float64
	ev := &r.t.Events
	for l := range r.t.Lanes {
		lane := &r.t.Lanes[l]
		for id := lane.FirstEvent; id < lane.EndEvent && lane.Device == device; id++ {
			run := stats.Interval{From: max(int64(ev.Start[id]), window.From), To: min(int64(ev.End(id)), window.To)}
			if ev.Kind[id] != model.KindKernel || run.To <= run.From {
				continue
			}
			runs = append(runs, run)
			if d := ev.DeviceArgsOf(ev.Detail[id]); ev.Detail[id] >= 0 {
				if d.BlocksPerSM > 0 {
					blocks = append(blocks, stats.Weighted{Interval: run, Weight: min(1, float64(d.BlocksPerSM))})
				}
				if d.Occupancy >= 0 {
					sum, time = sum+float64(d.Occupancy)/100*float64(run.Len()), time+float64(run.Len())
				}
			}
		}
	}
	length := float64(max(1, window.To-window.From))
	return float64(stats.Union(runs).Len()) / length, stats.CappedIntegral(blocks, 1) / length, sum / max(1, time)
}

// kernels compares counts and sums by name.
func (r *pluginRules) kernels(t *table) {
	if r.p.Kernels == nil {
		return
	}
	ours := map[string]device.Kernel{}
	for _, k := range device.Kernels([]*model.Trace{r.t}, r.s) {
		ours[k.Name] = k
	}
	var theirSum, ourSum, theirCount, ourCount, theirTensor, ourTensor float64
	wrong := 0
	for name, row := range r.p.Kernels {
		count, sum := row[0].(float64), row[1].(float64)
		k := ours[name]
		theirSum, ourSum, theirCount, ourCount = theirSum+sum, ourSum+micro(k.Dur), theirCount+count, ourCount+float64(k.Count)
		if used, _ := row[2].(bool); used {
			theirTensor += sum
		}
		if k.TensorCores {
			ourTensor += micro(k.Dur)
		}
		if !near(sum, micro(k.Dur)) || count != float64(k.Count) {
			wrong++
		}
	}
	t.row(fmt.Sprintf("kernels by name: sum over %d names", len(r.p.Kernels)), theirSum, ourSum, 0, "")
	t.row("kernels by name: runs", theirCount, ourCount, 0, "")
	t.row("kernels by name: sum or runs differ", 0, float64(wrong), 0, "")
	if near(theirTensor, ourTensor) {
		t.row("time in Tensor Core kernels", theirTensor, ourTensor, 0, "")
		return
	}
	t.note("time in Tensor Core kernels", theirTensor, ourTensor,
		"the plugin has a list of names that ends in 2021, and takes no attention kernels in it")
}

// note prints a difference of definition that is no number of an analysis.
func (t *table) note(what string, theirs, ours float64, rule string) {
	if !t.printed {
		fmt.Fprintf(t.out, "%s\n", t.file)
		t.printed = true
	}
	t.other++
	fmt.Fprintf(t.out, "  %-44s %16.3f %16.3f  other definition: %s\n", what, theirs, ours, strings.TrimSpace(rule))
}
