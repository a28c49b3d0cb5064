package cause

import (
	"fmt"
	"regexp"
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
var keepWorkers = Argument{"persistent_workers", "True"}

// proposeWorkers proposes as many workers as would keep up; nothing where the program has them.
func (v *inputView) proposeWorkers(c *Facts, f *Finding) {
	if n := v.suggestWorkers(c); n > v.workers {
		v.propose(c, f, Argument{numWorkers, strconv.Itoa(n)}, keepWorkers)
	}
}

// propose proposes arguments of the DataLoader, at the line that builds it. The change is certain where nothing else has to change with it.
func (v *inputView) propose(c *Facts, f *Finding, arguments ...Argument) {
	f.Fix.Action = setArguments("DataLoader", arguments...)
	if v.loader == nil {
		return
	}
	if v.loader.Iterable && v.workers < 2 && f.Fix.Action.sets(numWorkers) {
		f.Fix.Advice = append(f.Fix.Advice, wording.Raw(" The data set is iterated: each worker goes through all of it, so that the program learns from copies, unless the set gives each a part of its own."+
			" Let its __iter__ ask torch.utils.data.get_worker_info() which (sets of files in shards, as those of datasets and webdataset, do that by themselves for as many workers as shards)."))
		f.Fix.Action.uncertain = true
	}
	if v.workers == 0 && c.startsScriptAnew() {
		f.Fix.Advice = append(f.Fix.Advice, wording.Raw(" From Python 3.14 on workers are not forked: they import the script anew, whose own work has to stand under if __name__ == \"__main__\", and get the data set by pickle."))
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
		f.Fix.Advice = append(f.Fix.Advice, wording.Raw(" The Trainer builds the DataLoader: these are its options."))
	default:
		f.Fix.Advice = append(f.Fix.Advice, wording.Raw(" The line names no DataLoader: what it calls builds one, and needs to hand this on."))
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
	title := "workers are started anew in each epoch"
	switch {
	case v.rebuilt() && !v.singly():
		title = "a DataLoader is built, and its workers started, again and again"
		f.Fix.Advice = []wording.Text{wording.Raw("Build the DataLoader once, before the loop, with persistent_workers=True: workers are kept only as long as it is.")}
		v.propose(c, f, keepWorkers)
		f.Fix.Action.uncertain = true
	case v.singly():
		title = "an iterator is made anew for each batch"
		f.Fix.Advice = []wording.Text{wording.Raw("Make the iterator once, before the loop, and ask it for one batch after another: for each iter() of a DataLoader its workers start, or start over, and fetch several batches, of which one is taken.")}
	default:
		f.Fix.Advice = []wording.Text{wording.Raw("Keep the workers between epochs.")}
		v.propose(c, f, keepWorkers)
	}
	f.Title = wording.Raw(fmt.Sprintf("%s of %s waits for data: %s", percent(f.Share), c.each(), title))
	f.Evidence = append(f.Evidence, wording.Raw(fmt.Sprintf("starting and ending workers takes %s of this run between steps, and the first batch of an epoch %s of the waits in them", ms(v.restart), percent(v.first/max(v.wait, 1))), wording.RawFact(v.restart/1e6, "ms")))
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
	f.Title = wording.Raw(fmt.Sprintf("%s of %s waits for data: the workers keep up on average, but not with each batch", percent(f.Share), c.each()))
	f.Fix.Advice = []wording.Text{wording.Raw("Let more batches lie ready for those that take long, or make these shorter; more workers are idle for most of the time.")}
	n := 8
	if v.loader != nil {
		n = max(n, 4*v.loader.Prefetch)
	}
	v.propose(c, f, Argument{prefetchFactor, strconv.Itoa(n)})
}
