package wording

// commTexts are about communication.
var commTexts = table{
	"comm.title":       "{share} of {each} waits for collectives that do not overlap with computing",
	"comm.title-small": "{share} of {each} waits for many small collectives that do not overlap with computing",
	"comm.title-late": "{share} of {each} is communication that does not overlap with computing, and {late} waits for ranks " +
		"that are late in turns",
	"comm.waits":       "every rank waits at least {t} per {unit} in collectives",
	"comm.sent":        "{t} of it with all ranks in the call, the rest for ranks that are late in turns",
	"comm.around":      "{t} more in and around the calls, which only sending needs",
	"comm.calls":       "{calls collective} per step",
	"comm.calls-sized": "{calls collective} per step of {size} on average",

	"comm.fix-seldom":  "Send less often: accumulate gradients over several steps, in DistributedDataParallel under no_sync.",
	"comm.fix-overlap": "Or send less (lower precision), or overlap it with the backward pass (DistributedDataParallel's buckets).",
	"comm.fix-together": "Send the tensors together: copy them into one flat tensor (torch.cat of them flattened), call the collective " +
		"once, and copy the parts back. DistributedDataParallel does so in buckets, beside the backward pass.",
	"comm.caveat-seldom":  "The best guess is for sending in every {nth} step, which makes the batch between two updates larger.",
	"comm.caveat-overlap": "How much can overlap instead depends on the network and on what there is to compute meanwhile.",
	"comm.caveat-together": "This is for calls that each wait for all ranks. How long one takes depends on the network and on " +
		"how busy the machines are.",
}
