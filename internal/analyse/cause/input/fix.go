package input

import (
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// trainerFile is where Hugging Face's Trainer builds its DataLoaders; their workers are options of the Trainer's.
const (
	trainerFile       = "/transformers/trainer.py"
	TrainingArguments = "TrainingArguments"
)

// Arguments of a DataLoader.
const (
	NumWorkers     = "num_workers"
	prefetchFactor = "prefetch_factor"
)

// KeepWorkers keeps workers between epochs.
var KeepWorkers = finding.Argument{Name: "persistent_workers", Value: "True"}

// fetchFaster says how the code that prepares a batch becomes faster, or less in the way.
func (v *inputView) fetchFaster(c *facts.Facts, f *finding.Finding) {
	f.Title = wording.Say("input.title-slow", wording.Share("share", f.Share), c.Said())
	if v.own {
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-own")}
		return
	}
	if v.unpacks() {
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-archive")}
		return
	}
	if v.makesAnew() {
		f.Title = wording.Say("input.title-alike", wording.Share("share", f.Share), c.Said())
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-alike")}
		return
	}
	if v.shrinks() {
		v.keepSmaller(c, f)
		return
	}
	f.Fix.Advice = []wording.Text{wording.Say("input.fix-slow")}
	ready := v.library || v.alike // nobody makes native code faster
	if ready {
		f.Fix.Advice = nil
	}
	switch {
	case v.light():
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-light"))
	case v.copies.device:
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-device"))
	case v.workers == 0 && v.spares(c):
		switch {
		case ready && v.collated >= price.Collation:
			f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-collate"))
		case ready && v.prepared() == price.Prepared:
			f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-once"))
		}
		// Where workers take a thread from the step, what is prepared once does better without them.
		if r := v.room(c); !v.alike || r.left(float64(v.suggestWorkers(c))) >= r.threads {
			v.alsoWorkers(c, f, "input.fix-hide")
		}
	case v.library && v.workers > 0:
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-prepare"))
	case v.workers == 0:
		switch {
		case ready && v.collated >= price.Collation:
			f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-collate"), wording.Say("input.fix-workers-full"))
		case ready && v.prepared() != price.Prepared:
			f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-batches"), wording.Say("input.fix-workers-full"))
		default:
			f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-once"), wording.Say("input.fix-no-workers"))
		}
		r := v.room(c)
		f.Evidence = append(f.Evidence, wording.Say("input.full-cores", wording.Count("threads", r.threads),
			wording.Value("cores", r.cores)))
	}
}

// readEarlier says what helps where the fetch sleeps: for storage, for a lock or for another's answer.
func (v *inputView) readEarlier(c *facts.Facts, f *finding.Finding) {
	switch {
	case v.locked(c):
		f.Title = wording.Say("input.title-lock", wording.Share("share", f.Share), c.Said())
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-lock")}
	case v.asking():
		v.ask(c, f)
	default:
		f.Title = wording.Say("input.title-storage", wording.Share("share", f.Share), c.Said())
		if read := v.fromDisks(c); read > 0 {
			f.Evidence = append(f.Evidence, wording.Say("input.disks", wording.Size("bytes", read), c.Said()))
		}
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-storage")}
		v.alsoWorkers(c, f, "input.fix-workers-alone")
		if v.copies.device {
			f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-device"))
		}
	}
}

// fetchAtOnce says how more is fetched while the step runs: by more workers, by workers that are kept, or with more batches ready.
func (v *inputView) fetchAtOnce(c *facts.Facts, f *finding.Finding) {
	switch {
	case v.startsAgain():
		v.startAgain(c, f)
		return
	case v.keepsUp(c):
		v.even(c, f)
		return
	}
	f.Title = wording.Say("input.title-few", wording.Share("share", f.Share), c.Said())
	f.Fix.Advice = []wording.Text{wording.Say("input.fix-workers")}
	if c.Cores == 0 {
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-workers-cores-unknown")}
	}
	v.proposeWorkers(c, f)
	if v.hotOK && !v.library && v.hotPart*v.hot.Line >= price.FetchLine*v.hot.Unit {
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-line-too", wording.Named("at", finding.Place(c.Where(v.hot)))))
	}
}

// proposes says that the fix sets an argument of the DataLoader.
func (v *inputView) proposes(argument string) bool {
	return slices.ContainsFunc(v.sets, func(g finding.Argument) bool { return g.Name == argument })
}

// proposeWorkers proposes as many workers as would keep up; nothing where the program has them, where those that compute would take
// their cores from the step, or where the fetch cannot run in one.
func (v *inputView) proposeWorkers(c *facts.Facts, f *finding.Finding) {
	n := v.suggestWorkers(c)
	if v.copies.device || n <= v.workers || v.blocked < 0.5 && !v.spares(c) {
		return
	}
	v.propose(c, f, finding.Argument{Name: NumWorkers, Value: strconv.Itoa(n)}, KeepWorkers)
	if r := v.room(c); r.left(float64(n)) < r.threads {
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-leave", wording.Count("left", r.left(float64(n))),
			wording.Count("threads", r.threads)))
		f.Fix.Action.Uncertain = true
		f.Fix.Action.With = fmt.Sprintf("torch.set_num_threads(%.0f)", r.left(float64(n)))
	}
}

// alsoWorkers proposes workers beside a fix that saves something else, and says by a text what they save alone.
func (v *inputView) alsoWorkers(c *facts.Facts, f *finding.Finding, text string) {
	alone := v.moreWorkers(c)
	if alone.Low <= 0 {
		return
	}
	before := len(f.Fix.Advice)
	v.proposeWorkers(c, f)
	if !v.proposes(NumWorkers) {
		return
	}
	f.Fix.Action.Step, f.Fix.Action.Run = alone, c.OverRun(alone)
	f.Fix.Advice = slices.Insert(f.Fix.Advice, before, wording.Say(text, wording.Time("saved", alone.Mid), c.Said()))
}

// propose proposes arguments of the DataLoader, at the line that builds it. The change is certain where nothing else has to change with it.
func (v *inputView) propose(c *facts.Facts, f *finding.Finding, arguments ...finding.Argument) {
	v.sets = slices.Clone(arguments)
	f.Fix.Action = finding.SetArguments("DataLoader", arguments...)
	if v.loader == nil {
		return
	}
	if v.loader.Iterable && v.workers < 2 && v.proposes(NumWorkers) {
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-iterable"))
		f.Fix.Action.Uncertain = true
	}
	if v.workers == 0 && startsScriptAnew(c) {
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-script"))
		f.Fix.Action.Uncertain = true
	}
	if v.loader.File == 0 {
		return
	}
	file, at := c.Text(v.loader.File), int(v.loader.Line)
	f.Fix.Action.File, f.Fix.Action.Line = file, at
	switch line := c.Source(file, at); {
	case line == "" || strings.Contains(line, "DataLoader"):
	case runs(c, trainerFile):
		for i := range arguments {
			arguments[i].Name = "dataloader_" + arguments[i].Name
		}
		f.Fix.Action = finding.SetArguments(TrainingArguments, arguments...)
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-trainer"))
	default:
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-hand-on"))
		f.Fix.Action.Uncertain = true
	}
}

// guard matches the line below which a script does what its workers must not do again.
var guard = regexp.MustCompile(`^if\s+__name__\s*==`)

// startsScriptAnew says that a worker would run the program's script once more: it is not forked, and no source has a guard against it.
func startsScriptAnew(c *facts.Facts) bool {
	at, _ := c.OnlyLine(guard.MatchString)
	return at.File == "" && !forksWorkers(c)
}

// forksWorkers says that a worker is a copy of the program's process: so it is on Linux where the program asks for nothing else, until
// Python 3.13.
func forksWorkers(c *facts.Facts) bool {
	major, minor := 0, 0
	n, _ := fmt.Sscanf(c.P.Python, "%d.%d", &major, &minor)
	return n < 2 || major < 3 || major == 3 && minor < 14
}

// runs says that samples of the accounted process saw code of a file, by the end of its name.
func runs(c *facts.Facts, file string) bool {
	frames := c.P.Samples.Stacks.Frames
	for i := range frames {
		if strings.HasSuffix(c.Text(frames[i].File), file) {
			return true
		}
	}
	return false
}

// startAgain says how workers, or a loader with them, are started once.
func (v *inputView) startAgain(c *facts.Facts, f *finding.Finding) {
	title := "input.title-anew"
	switch {
	case v.rebuilt() && !v.singly():
		title = "input.title-rebuilt"
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-rebuilt")}
		v.propose(c, f, KeepWorkers)
		f.Fix.Action.Uncertain = true
	case v.singly():
		title = "input.title-singly"
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-singly")}
	default:
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-keep")}
		v.propose(c, f, KeepWorkers)
	}
	f.Title = wording.Say(title, wording.Share("share", f.Share), c.Said())
	first := wording.Share("first", v.first/max(v.wait, 1))
	if v.restart > 0 {
		f.Evidence = append(f.Evidence, wording.Say("input.restart", wording.Time("restart", v.restart), first))
		return
	}
	f.Evidence = append(f.Evidence, wording.Say("input.first", first))
}

// light says that the program fetches a batch in less time than it takes to hand one over: workers would only add to it.
func (v *inputView) light() bool {
	return v.workers == 0 && v.fetch > 0 && v.fetch < price.Handover.Mid
}

// keepsUp says that the workers fetch as fast as the step goes on, if all batches took the same time.
func (v *inputView) keepsUp(c *facts.Facts) bool {
	return v.workers > 0 && v.sub(c) == "workers" && !v.startsAgain() && v.fetch > 0 &&
		v.fetch*v.perStep(c) <= float64(v.workers)*max(c.B.Mean()-c.PerStep(v.wait), 0)
}

// even says what helps where some batches take longer than others.
func (v *inputView) even(c *facts.Facts, f *finding.Finding) {
	f.Title = wording.Say("input.title-uneven", wording.Share("share", f.Share), c.Said())
	f.Fix.Advice = []wording.Text{wording.Say("input.fix-uneven")}
	n := 8
	if v.loader != nil {
		n = max(n, 4*v.loader.Prefetch)
	}
	v.propose(c, f, finding.Argument{Name: prefetchFactor, Value: strconv.Itoa(n)})
}
