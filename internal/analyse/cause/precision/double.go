package precision

import (
	"regexp"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// doubleWork is what traced steps say of operators whose inputs are float64.
type doubleWork struct {
	time, all float64 // ns of outermost operators: with such an operator inside, and of all whose types are known
	calls     int
	op        model.Str // the longest of them
	longest   model.Dur
}

// FindDouble names operators on the CPU whose inputs are float64: NumPy makes arrays of it where nothing else is said, and a processor
// multiplies half as many of them at once and moves twice the bytes.
func FindDouble(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	if c.Share(c.B.Part(account.PartOps)) < price.DoubleShare || c.UsesDevice() {
		return nil
	}
	w := workInDouble(c)
	if w.all <= 0 {
		return nil
	}
	t := c.B.Part(account.PartOps) * w.time / w.all
	if c.Share(t) < price.DoubleShare {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Precision, Where: finding.Nowhere(), Share: c.Share(t),
		Confidence: c.Basis(len(c.B.Samples))},
		finding.Parts{account.PartOps: t})
	ops := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool { return a.Part == account.PartOps })
	if sp, ok := facts.Hottest(ops, c.Drivers); ok && sp.Samples >= facts.MinSamples {
		f.Where = c.Where(sp)
	}
	per := c.PerStep(t)
	f.Step = f.By(price.Float64).Times(per)
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("precision.double", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("precision.double-operators", wording.Time("time", per), c.Said(),
		wording.Count("calls", w.calls), wording.Named("op", c.Text(w.op)))}
	f.Fix.Advice = []wording.Text{wording.Say("precision.fix-double")}
	f.Caveat = []wording.Text{wording.Say("precision.caveat-double")}
	if at := c.UserLines(meansDouble.MatchString); len(at) > 0 {
		f.Step.Low, f.Run.Low = 0, 0 // it may need the digits
		f.Evidence = append(f.Evidence, wording.Say("precision.means-double",
			wording.Named("at", finding.Place(finding.Where{File: at[0].File, Line: at[0].Line}))))
	}
	if f.Confidence.Level == finding.High {
		f.Confidence.Level = finding.Medium
	}
	return []finding.Draft{f}
}

// meansDouble matches lines that ask for float64 as the type of all that is made.
var meansDouble = regexp.MustCompile(`\bset_default_(?:dtype|tensor_type)\([^)]*(?:float64|[Dd]ouble)`)

// workInDouble sums the operators of the traced steps that recorded types.
func workInDouble(c *facts.Facts) (w doubleWork) {
	dur, typed, double, slow := 0.0, false, false, false // of the current outermost operator
	flush := func() {
		if typed {
			w.all += dur
		}
		if double && !slow {
			w.time += dur
		}
		typed, double, slow = false, false, false
	}
	account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, outer bool) {
		if outer {
			flush()
			dur = float64(ev.Dur[id])
		}
		slow = slow || strings.Contains(c.Text(ev.Name[id]), slowConvolutions) // findFormat names it
		args := ev.OpArgsOf(ev.Detail[id])
		types := c.Text(args.Types)
		typed = typed || types != ""
		if !inDouble(types) || !anyElements(c.Text(args.Shapes)) {
			return
		}
		double = true
		w.calls++
		if ev.Dur[id] > w.longest {
			w.longest, w.op = ev.Dur[id], ev.Name[id]
		}
	})
	flush()
	return w
}

// anyElements says that shapes as traces write them have a tensor with dimensions: without any, it is a number that Python handed over,
// which is float64 beside tensors of all types. Shapes that are not there tell nothing.
func anyElements(shapes string) bool {
	return shapes == "" || strings.ContainsAny(shapes, "0123456789")
}

// inDouble says that an operator's floating-point tensors, of types as traces write them, are all float64. A conversion has one of each
// kind at most, and a number beside tensors of another kind is none.
func inDouble(types string) bool {
	if !strings.Contains(types, `"double"`) && types != "double" {
		return false
	}
	for _, other := range []string{`"float"`, "c10::Half", "c10::BFloat16"} {
		if strings.Contains(types, other) {
			return false
		}
	}
	return true
}
