package cause

import (
	"fmt"
	"regexp"
	"strings"

	"bottleneck/internal/analyse/cause/price"
)

// trainerFile is where Hugging Face's Trainer builds its DataLoaders; their workers are options of the Trainer's.
const trainerFile = "/transformers/trainer.py"

// proposeWorkers proposes as many workers as would keep up; nothing where the program has them.
func (v *inputView) proposeWorkers(c *Facts, f *Finding) {
	if n := v.suggestWorkers(c); n > v.workers {
		v.propose(c, f, fmt.Sprintf("num_workers=%d", n), "persistent_workers=True")
	}
}

// propose proposes arguments of the DataLoader, at the line that builds it. The change is certain where nothing else has to change with it.
func (v *inputView) propose(c *Facts, f *Finding, arguments ...string) {
	f.Fix.Change = "DataLoader(..., " + strings.Join(arguments, ", ") + ")"
	if v.loader == nil {
		return
	}
	if v.loader.Iterable && v.workers < 2 && strings.Contains(f.Fix.Change, "num_workers") {
		f.Fix.Text += " The data set is iterated: each worker goes through all of it, so that the program learns from copies, unless the set gives each a part of its own." +
			" Let its __iter__ ask torch.utils.data.get_worker_info() which (sets of files in shards, as those of datasets and webdataset, do that by themselves for as many workers as shards)."
		f.Fix.uncertain = true
	}
	if v.workers == 0 && c.startsScriptAnew() {
		f.Fix.Text += " From Python 3.14 on workers are not forked: they import the script anew, whose own work has to stand under if __name__ == \"__main__\", and get the data set by pickle."
		f.Fix.uncertain = true
	}
	if v.loader.File == 0 {
		return
	}
	f.Fix.File, f.Fix.Line = c.text(v.loader.File), int(v.loader.Line)
	switch line := c.source(f.Fix.File, f.Fix.Line); {
	case line == "" || strings.Contains(line, "DataLoader"):
	case c.runs(trainerFile):
		for i := range arguments {
			arguments[i] = "dataloader_" + arguments[i]
		}
		f.Fix.Change = "TrainingArguments(..., " + strings.Join(arguments, ", ") + ")"
		f.Fix.Text += " The Trainer builds the DataLoader: these are its options."
		f.Fix.File, f.Fix.Line = "", 0
	default:
		f.Fix.Text += " The line names no DataLoader: what it calls builds one, and needs to hand this on."
		f.Fix.uncertain = true
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
		f.Fix.Text = "Build the DataLoader once, before the loop, with persistent_workers=True: workers are kept only as long as it is."
		v.propose(c, f, "persistent_workers=True")
		f.Fix.uncertain = true
	case v.singly():
		title = "an iterator is made anew for each batch"
		f.Fix.Text = "Make the iterator once, before the loop, and ask it for one batch after another: for each iter() of a DataLoader its workers start, or start over, and fetch several batches, of which one is taken."
	default:
		f.Fix.Text = "Keep the workers between epochs."
		v.propose(c, f, "persistent_workers=True")
	}
	f.Title = fmt.Sprintf("%s of %s waits for data: %s", percent(f.Share), c.each(), title)
	f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("starting and ending workers takes %s of this run between steps, and the first batch of an epoch %s of the waits in them", ms(v.restart), percent(v.first/max(v.wait, 1))), Value: v.restart / 1e6, Unit: "ms"})
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
	f.Title = fmt.Sprintf("%s of %s waits for data: the workers keep up on average, but not with each batch", percent(f.Share), c.each())
	f.Fix.Text = "Let more batches lie ready for those that take long, or make these shorter; more workers are idle for most of the time."
	n := 8
	if v.loader != nil {
		n = max(n, 4*v.loader.Prefetch)
	}
	v.propose(c, f, fmt.Sprintf("prefetch_factor=%d", n))
}
