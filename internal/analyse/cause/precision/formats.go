package precision

import (
	"regexp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// slowTypes are the element types that fast libraries for convolutions may not know, as traces write them.
var slowTypes = []struct{ written, name string }{{"c10::Half", "float16"}, {"c10::BFloat16", "bfloat16"}, {`"double"`, "float64"}}

// asking matches lines that ask for a format, by its name.
var asking = map[string]*regexp.Regexp{
	"float16":  regexp.MustCompile(`\btorch\.(?:float16|half)\b|\.half\(\)|["'](?:float16|(?:fp)?16(?:-mixed|-true)?)["']|\bfp16\s*=\s*True`),
	"bfloat16": regexp.MustCompile(`\btorch\.bfloat16\b|\.bfloat16\(\)|["'](?:bfloat16|bf16(?:-mixed|-true)?)["']|\bbf16\s*=\s*True`),
	"float64":  regexp.MustCompile(`\btorch\.(?:float64|double)\b|\.double\(\)|\b(?:np|numpy)\.float64\b`),
}

// slowConvolutions is PyTorch's own code for convolutions, which it takes where its fast library does not know the format: it
// makes a matrix of all windows of the input and multiplies it element by element.
const slowConvolutions = "slow_conv"

// fastInFloat32 ends the name of systems for which PyTorch is built with the fast library, which knows float32: on others convolutions in
// float32 may take PyTorch's own code.
const fastInFloat32 = "x86_64"

// halfTypes are those of slowTypes, the first ones, in which products of matrices can be slow as well.
const halfTypes = 2

// slowWork is what traced steps say of operators in a format for which there is no fast code.
type slowWork struct {
	steps      int
	all, typed float64     // ns of outermost operators, and of those whose types are known
	windows    float64     // ns of convolutions in PyTorch's own fallback
	calls      int         // of these
	op         string      // that takes them
	products   float64     // ns of matrix products in half precision that float32 computes faster
	saves      price.Range // of that
	flops      float64     // of these products
	product    string      // the longest of them
	longest    model.Dur
	format     string
}

// FindFormat names convolutions and matrix products on the CPU in a number format for which there is no fast code: half precision is meant
// for GPUs and for few processors, float64 for other work.
func FindFormat(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	if c.B.Part(account.PartOps) < finding.Floor*c.B.Total {
		return nil
	}
	w := slowWorkOf(c)
	// Few long steps may be traced without types.
	if w.format == "" && w.windows > 0 && strings.HasSuffix(c.S.Environment.OS, fastInFloat32) {
		w.format = formatAsked(c)
	}
	if w.format == "" || w.all <= 0 {
		return nil
	}
	ops := c.B.Part(account.PartOps)
	windows, products := ops*min(w.windows/w.all, 1), 0.0
	var saves price.Range
	if w.products > 0 {
		products, saves = ops*w.products/w.typed, w.saves.Scale(c.PerStep(ops)/w.typed)
	}
	t := min(windows+products, ops)
	if c.Share(t) < finding.Floor {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Precision, Where: finding.Nowhere(), Share: c.Share(t),
		Confidence: c.Basis(len(c.B.Samples))},
		finding.Parts{account.PartOps: t})
	title := "precision.no-fast-code"
	if windows > 0 {
		f.Step = f.By(price.NoFastCode).Times(c.PerStep(windows))
		f.Evidence = append(f.Evidence, w.ofWindows(c, windows))
		f.Caveat = []wording.Text{wording.Say("precision.caveat-not-measured")}
	}
	if products > 0 {
		f.By(price.SlowProducts)
		f.Evidence = append(f.Evidence, wording.Say("precision.slow-products", wording.Time("time", c.PerStep(products)), c.Said(),
			wording.Named("format", w.format), wording.Value("rate", w.flops/w.products), wording.Named("op", w.product),
			wording.Value("low", price.SlowProducts.Low), wording.Value("high", price.SlowProducts.High)))
		if title = "precision.no-fast-products"; windows > 0 {
			title = "precision.no-fast-either"
		}
	}
	formatPlace(c, &f.Finding, windows >= products)
	f.Step = f.Step.Add(saves)
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say(title, wording.Share("share", f.Share), c.Said(), wording.Named("format", w.format))
	w.asked(c, &f)
	w.advise(c, &f)
	return []finding.Draft{f}
}

// advise says what to compute in instead.
func (w *slowWork) advise(c *facts.Facts, f *finding.Draft) {
	if w.format == "float64" {
		f.Fix.Advice = []wording.Text{wording.Say("precision.fix-not-float64")}
		return
	}
	f.Fix.Advice = []wording.Text{wording.Say("precision.fix-float32", wording.Named("format", w.format))}
	if slices.ContainsFunc(c.B.Samples, func(a account.Attributed) bool {
		return c.Passes(c.P.Samples.Stack[a.Index], "/transformers/trainer.py", "", false)
	}) {
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("precision.fix-trainers"))
	}
	f.Caveat = append(f.Caveat, wording.Say("precision.caveat-twice"))
}

// asked says where the program's own code asks for the format: what to change, where it is one line.
func (w *slowWork) asked(c *facts.Facts, f *finding.Draft) {
	lines := c.OwnLines(asking[w.format].MatchString)
	switch {
	case len(lines) == 1:
		if f.Where.File != "" {
			f.Evidence = append(f.Evidence, wording.Say("precision.computes", wording.Named("at", finding.Place(f.Where))))
		}
		f.Where = lines[0].Where()
	case len(lines) > 0:
		f.Evidence = append(f.Evidence, wording.Say("precision.asks", wording.Named("format", w.format),
			wording.Named("at", finding.Place(lines[0].Where()))))
	}
}

// formatAsked is the one format without fast code that the program's own lines ask for; "" where it is none, or several.
func formatAsked(c *facts.Facts) (format string) {
	for _, t := range slowTypes {
		if len(c.OwnLines(asking[t.name].MatchString)) == 0 {
			continue
		}
		if format != "" {
			return ""
		}
		format = t.name
	}
	return format
}

// ofWindows is what speaks for convolutions, which take so many ns of the accounted time.
func (w *slowWork) ofWindows(c *facts.Facts, t float64) wording.Text {
	id := "precision.slow-op"
	if !c.B.PerStep {
		id = "precision.slow-op-of-run"
	}
	return wording.Say(id, wording.Time("time", c.PerStep(t)), c.Said(), wording.Named("op", w.op), wording.Count("calls", w.calls),
		wording.Count("steps", w.steps))
}

// slowWorkOf looks for such operators in the traced steps.
func slowWorkOf(c *facts.Facts) (w slowWork) {
	threads := facts.TorchThreads(c)
	if own := c.OwnCores(); own > 0 {
		threads = min(threads, own)
	}
	_, crowded := facts.CrowdedOut(c)
	timed := !crowded && !c.UsesDevice() // a product's time is that of its computing
	dur, typed := 0.0, false             // of the current outermost operator
	flush := func() {
		if w.all += dur; typed {
			w.typed += dur
		}
	}
	w.steps, _ = account.EachSeenOp(c.S, c.B, func(ev *model.Events, id model.EventID, outer bool) {
		if outer {
			flush()
			dur, typed = float64(ev.Dur[id]), false
		}
		args := ev.OpArgsOf(ev.Detail[id])
		types := c.Text(args.Types)
		typed = typed || types != ""
		name := c.Text(ev.Name[id])
		if strings.Contains(name, slowConvolutions) {
			if p := ev.Parent[id]; p >= 0 && int(p) < ev.Len() && strings.Contains(c.Text(ev.Name[p]), slowConvolutions) {
				return // counted with the operator around it
			}
			w.windows += float64(ev.Dur[id])
			w.calls++
			w.op = name
			if format := slowFormat(types, len(slowTypes)); format != "" {
				w.format = format
			}
			return
		}
		if format := slowFormat(types, halfTypes); timed && format != "" {
			w.addProduct(name, format, c.Text(args.Shapes), ev.Dur[id], threads)
		}
	})
	flush()
	return w
}

// slowFormat is the first format of those in slowTypes that stands among the types of an operator's inputs.
func slowFormat(types string, most int) string {
	for _, t := range slowTypes[:most] {
		if strings.Contains(types, t.written) {
			return t.name
		}
	}
	return ""
}

// addProduct counts a product of matrices, if float32 would surely be faster on so many threads.
func (w *slowWork) addProduct(name, format, shapes string, dur model.Dur, threads float64) {
	flops := float64(largeProduct(name, shapes))
	if flops < price.SlowProduct {
		return
	}
	threads = min(threads, 1+flops/price.ProductOfThread)
	rates := price.SlowProducts.Scale(threads) // operations per ns
	took := float64(dur)
	gain := price.Range{Low: max(took-flops/rates.Low, 0), Mid: max(took-flops/rates.Mid, 0), High: max(took-flops/rates.High, 0)}
	if gain.Low == 0 {
		return
	}
	w.products, w.flops, w.saves, w.format = w.products+took, w.flops+flops, w.saves.Add(gain), format
	if dur > w.longest {
		w.longest, w.product = dur, name
	}
}

// largeProduct is the floating-point operations of a product of matrices, 0 of other operators and of such as read their inputs for few
// results: there memory sets the time, of which half formats need less.
func largeProduct(name, shapes string) int64 {
	flops := arguments.Flops(name, shapes, "")
	first, rank, ok := arguments.Factors(name)
	if !ok || flops == 0 {
		return 0
	}
	factors := arguments.Shapes(shapes)[first : first+2]
	if min(slices.Min(factors[0][rank-2:]), factors[1][rank-1]) < price.ProductNarrow {
		return 0
	}
	return flops
}

// formatPlace is the user's line that computes most: for convolutions of those below which their modules run, where samples say so.
func formatPlace(c *facts.Facts, f *finding.Finding, windows bool) {
	ops := func(_ int, a *account.Attributed) bool { return a.Part == account.PartOps }
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *account.Attributed) bool {
		return windows && ops(k, a) && c.Passes(c.P.Samples.Stack[a.Index], "/torch/nn/modules/conv.py", "", false)
	})
	if len(chains) < facts.MinSamples {
		chains = facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, ops)
	}
	if sp, ok := facts.Hottest(chains, c.Drivers); ok && sp.Samples >= facts.MinSamples {
		f.Where = c.Where(sp)
	}
}
