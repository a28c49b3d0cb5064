package wording

// compileTexts are about compiling again while the loop runs.
var compileTexts = table{
	"compile.title":  "{share} of the time goes into compiling again while the loop runs",
	"compile.took":   "{time} in {n compilation} after the warm-up",
	"compile.reason": "reason: {reason}",
	"compile.gave-up": "{n compilation} of one place: PyTorch gives up after {limit} (recompile_limit), and what the place calls " +
		"runs uncompiled from then on",
	"compile.fix-inputs": "Give the compiled code inputs that do not change in shape, type or Python value (pad, bucket), or compile " +
		"it once for all sizes.",
	"compile.caveat-dynamic": "Dynamic shapes can make the compiled code a little slower.",
}
