package again

import (
	"cmp"
	"regexp"
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// Validation is the kind of steps, and the sub of findings about their rounds.
const Validation = "validation"

// validations are the rounds of validation between training steps.
type validations struct {
	rounds, steps, trained float64 // rounds; their steps; training steps until the last round begins
	time                   float64 // in them, ns
	epochs                 float64 // that the training steps go through the data
	batches                int64   // of an epoch
	in                     []times.Interval
}

// trainersRounds matches the argument by which a trainer validates within epochs.
var trainersRounds = regexp.MustCompile(`\b(?:eval_steps|val_check_interval)\s*=`)

// FindValidation names a training that goes through its validation data several times in each epoch, and spends much of the run on it.
func FindValidation(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	v, ok := validationsOf(c)
	stay := max(v.epochs, 1)
	if !ok || v.rounds < price.ValidationRounds || v.rounds < price.ValidationOften*stay || v.time < price.ValidationShare*c.Wall {
		return nil
	}
	at := func(t model.Time) bool { return facts.Inside(v.in, t) }
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.ThreadSamples(c.P, at)[c.B.Thread], func(int, *account.Attributed) bool { return true })
	sp, ok := facts.Hottest(facts.UpToDriver(chains, c.Drivers), c.Drivers)
	if !ok || len(chains) < facts.MinSamples {
		return nil
	}
	where := c.Where(sp)
	if line, only := c.OnlyLine(trainersRounds.MatchString); only {
		where = line.Where()
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Again, Sub: Validation, OfRun: true, Where: where, Share: v.time / c.Wall,
		Confidence: c.ExactBasis(int(v.steps))}, nil)
	f.Run = f.By(price.Validated).Times(v.time * (1 - stay/v.rounds))
	f.Title = wording.Say("again.title-validation", wording.Share("share", f.Share), wording.Value("times", v.rounds/v.epochs))
	f.Evidence = []wording.Text{
		wording.Say("again.validations", wording.Count("rounds", v.rounds), wording.Time("time", v.time/v.rounds),
			wording.Count("steps", v.trained/v.rounds)),
		wording.Say("again.epoch", wording.Value("batches", float64(v.batches))),
	}
	f.Fix.Advice = []wording.Text{wording.Say("again.fix-validation")}
	f.Caveat = []wording.Text{wording.Say("again.caveat-validation")}
	return []finding.Draft{f}
}

// validationsOf reads them off the process's steps; ok is false where some steps have no row, or where it is not known how many batches an
// epoch has.
func validationsOf(c *facts.Facts) (v validations, ok bool) {
	if c.Wall <= 0 {
		return v, false
	}
	steps := make([]*model.Step, len(c.P.Steps))
	for i := range c.P.Steps {
		steps[i] = &c.P.Steps[i]
	}
	slices.SortStableFunc(steps, func(a, b *model.Step) int { return cmp.Compare(a.Number, b.Number) })
	training, before := []times.Interval{}, ""
	trained := 0.0
	for _, st := range steps {
		if st.Count() > 1 {
			return v, false
		}
		kind := c.Text(st.Kind)
		switch kind {
		case "train":
			trained++
			training = append(training, times.Interval{Start: st.Start, End: st.End})
		case Validation:
			if before == "train" {
				v.rounds++
				v.trained = trained
			}
			if v.rounds > 0 {
				v.steps++
				v.time += float64(st.End - st.Start)
				v.in = append(v.in, times.Interval{Start: st.Start, End: st.End})
			}
		}
		before = kind
	}
	training, v.in = facts.Merged(training), facts.Merged(v.in)
	loader, batches := mostAsked(c, func(t model.Time) bool { return facts.Inside(training, t) })
	if loader < 0 || c.P.Loaders[loader].Length <= 0 || c.P.Loaders[loader].Iterable {
		return v, false
	}
	v.batches = c.P.Loaders[loader].Length
	v.epochs = max(trained, float64(batches)) / float64(v.batches)
	return v, v.rounds > 0
}
