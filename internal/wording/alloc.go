package wording

// allocTexts are about allocations.
var allocTexts = table{
	"alloc.driver":          "{share} of the devices' time is idle while the driver allocates or frees memory",
	"alloc.steps":           "{share} of {each} is spent while the driver allocates or frees memory",
	"alloc.time":            "{time} per {unit} in its calls while the device does not compute",
	"alloc.longest-in":      "the longest part is in {op}",
	"alloc.longest-outside": "the longest part is outside of operators",
	"alloc.fix-keep": "Do not call torch.cuda.empty_cache() in the loop, keep shapes the same from step to step, and let PyTorch's " +
		"allocator use expandable segments.",
	"alloc.caveat-growth": "The cache grows in the first steps of every program: a trace of those always shows this.",
}
