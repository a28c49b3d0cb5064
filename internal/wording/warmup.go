package wording

// warmupTexts are about what happens once, before steps are steady.
var warmupTexts = table{
	"warmup.title-prepare":    "{share} of this run prepares the first step",
	"warmup.title-compile":    "{share} of this run compiles code for its steps",
	"warmup.title-algorithms": "{share} of this run tries cuDNN's algorithms for its convolutions",
	"warmup.algorithms":       "{t} of the first steps are spent in convolutions and the backward pass",
	"warmup.algorithms-later": "later steps take {median}",
	"warmup.fix-algorithms": "Leave torch.backends.cudnn.benchmark off in a run as short as this one. Where many steps follow, keep it, and " +
		"give all batches one shape (drop_last=True): each new shape is tried anew.",
	"warmup.caveat-algorithms": "This counts once per run. The algorithms that win can make each step faster: over many steps trying them pays.",
	"warmup.prepare":           "{t} before the first step are spent{in}",
	"warmup.first-steps":       "the first steps take {t} longer than later ones",
	"warmup.later":             "{t} for what is compiled once later (a validation, another shape)",
	"warmup.imports":           "{t} for modules that calling torch.compile imports",
	"warmup.imports-shared": "{t} for modules that calling torch.compile imports; an optimizer of torch.optim imports {shared} of " +
		"them as well",
	"warmup.start":       "{t} from the start of the process to the first step, {imports} for importing modules",
	"warmup.fix-prepare": "Prepare once and keep the result on disk, prepare lazily, or make this code faster.",
	"warmup.fix-longer":  "Or run longer: it then matters less.",
	"warmup.fix-compile": "Keep compiled code between runs (torch.compile's caches), compile fewer regions, or run longer.",
	"warmup.fix-compile-cached": "Compile fewer or smaller regions, or run longer. No code is made here, which comes from " +
		"torch.compile's caches or is not needed: what is left is tracing the program and importing the compiler.",
	"warmup.caveat": "This counts once per run, not per step.",
}
