package cause

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// trainerFile is where Hugging Face's Trainer builds its DataLoaders; their workers are options of the Trainer's.
const (
	trainerFile       = "/transformers/trainer.py"
	trainingArguments = "TrainingArguments"
)

// Arguments of a DataLoader.
const (
	numWorkers     = "num_workers"
	prefetchFactor = "prefetch_factor"
)

// keepWorkers keeps workers between epochs.
var keepWorkers = Argument{Name: "persistent_workers", Value: "True"}

// fetchFaster says how the code that prepares a batch becomes faster, or less in the way.
func (v *inputView) fetchFaster(c *Facts, f *Finding) {
	f.Title = wording.Say("input.title-slow", wording.Share("share", f.Share), c.unit())
	if v.own {
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-own")}
		return
	}
	f.Fix.Advice = []wording.Text{wording.Say("input.fix-slow")}
	switch {
	case v.light():
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-light"))
	case v.workers == 0 && (c.Cores == 0 || c.Cores >= 2):
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-hide"))
		v.proposeWorkers(c, f)
	}
}

// readEarlier says what helps where the fetch sleeps: for storage, for a lock or for another's answer.
func (v *inputView) readEarlier(c *Facts, f *Finding) {
	switch {
	case v.locked(c):
		f.Title = wording.Say("input.title-lock", wording.Share("share", f.Share), c.unit())
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-lock")}
	case v.asking():
		v.ask(c, f)
	default:
		f.Title = wording.Say("input.title-storage", wording.Share("share", f.Share), c.unit())
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-storage")}
		v.proposeWorkers(c, f)
	}
}

// fetchAtOnce says how more is fetched while the step runs: by more workers, by workers that are kept, or with more batches ready.
func (v *inputView) fetchAtOnce(c *Facts, f *Finding) {
	switch {
	case v.startsAgain():
		v.startAgain(c, f)
		return
	case v.keepsUp(c):
		v.even(c, f)
		return
	}
	f.Title = wording.Say("input.title-few", wording.Share("share", f.Share), c.unit())
	f.Fix.Advice = []wording.Text{wording.Say("input.fix-workers")}
	if c.Cores == 0 {
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-workers-cores-unknown")}
	}
	v.proposeWorkers(c, f)
}

// proposes says that the fix sets an argument of the DataLoader.
func (v *inputView) proposes(argument string) bool {
	return slices.ContainsFunc(v.sets, func(g Argument) bool { return g.Name == argument })
}

// proposeWorkers proposes as many workers as would keep up; nothing where the program has them.
func (v *inputView) proposeWorkers(c *Facts, f *Finding) {
	if n := v.suggestWorkers(c); n > v.workers {
		v.propose(c, f, Argument{Name: numWorkers, Value: strconv.Itoa(n)}, keepWorkers)
	}
}

// propose proposes arguments of the DataLoader, at the line that builds it. The change is certain where nothing else has to change with it.
func (v *inputView) propose(c *Facts, f *Finding, arguments ...Argument) {
	v.sets = slices.Clone(arguments)
	f.Fix.Action = setArguments("DataLoader", arguments...)
	if v.loader == nil {
		return
	}
	if v.loader.Iterable && v.workers < 2 && v.proposes(numWorkers) {
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-iterable"))
		f.Fix.Action.uncertain = true
	}
	if v.workers == 0 && c.startsScriptAnew() {
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-script"))
		f.Fix.Action.uncertain = true
	}
	if v.loader.File == 0 {
		return
	}
	file, at := c.text(v.loader.File), int(v.loader.Line)
	f.Fix.Action.File, f.Fix.Action.Line = file, at
	switch line := c.source(file, at); {
	case line == "" || strings.Contains(line, "DataLoader"):
	case c.runs(trainerFile):
		for i := range arguments {
			arguments[i].Name = "dataloader_" + arguments[i].Name
		}
		f.Fix.Action = setArguments(trainingArguments, arguments...)
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-trainer"))
	default:
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-hand-on"))
		f.Fix.Action.uncertain = true
	}
}

// guard matches the line below which a script does what its workers must not do again.
var guard = regexp.MustCompile(`^if\s+__name__\s*==`)

// startsScriptAnew says that a worker would run the program's script once more: it is not forked, and no source has a guard against it.
func (c *Facts) startsScriptAnew() bool {
	at, _ := c.onlyLine(guard.MatchString)
	return at.file == "" && !c.forksWorkers()
}

// forksWorkers says that a worker is a copy of the program's process: so it is on Linux where the program asks for nothing else, until Python 3.13.
func (c *Facts) forksWorkers() bool {
	major, minor := 0, 0
	n, _ := fmt.Sscanf(c.P.Python, "%d.%d", &major, &minor)
	return n < 2 || major < 3 || major == 3 && minor < 14
}

// runs says that samples of the accounted process saw code of a file, by the end of its name.
func (c *Facts) runs(file string) bool {
	frames := c.P.Samples.Stacks.Frames
	for i := range frames {
		if strings.HasSuffix(c.text(frames[i].File), file) {
			return true
		}
	}
	return false
}

// startAgain says how workers, or a loader with them, are started once.
func (v *inputView) startAgain(c *Facts, f *Finding) {
	title := "input.title-anew"
	switch {
	case v.rebuilt() && !v.singly():
		title = "input.title-rebuilt"
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-rebuilt")}
		v.propose(c, f, keepWorkers)
		f.Fix.Action.uncertain = true
	case v.singly():
		title = "input.title-singly"
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-singly")}
	default:
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-keep")}
		v.propose(c, f, keepWorkers)
	}
	f.Title = wording.Say(title, wording.Share("share", f.Share), c.unit())
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
func (v *inputView) keepsUp(c *Facts) bool {
	return v.workers > 0 && v.sub(c) == "workers" && !v.startsAgain() && v.fetch > 0 && v.fetch*v.perStep(c) <= float64(v.workers)*max(c.B.Mean()-c.perStep(v.wait), 0)
}

// even says what helps where some batches take longer than others.
func (v *inputView) even(c *Facts, f *Finding) {
	f.Title = wording.Say("input.title-uneven", wording.Share("share", f.Share), c.unit())
	f.Fix.Advice = []wording.Text{wording.Say("input.fix-uneven")}
	n := 8
	if v.loader != nil {
		n = max(n, 4*v.loader.Prefetch)
	}
	v.propose(c, f, Argument{Name: prefetchFactor, Value: strconv.Itoa(n)})
}
