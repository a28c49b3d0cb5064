package wording

// copyTexts are about copies.
var copyTexts = table{
	"copy.exposed": "{share} of the devices' time is spent on copies between host and device while nothing computes",
	"copy.most":    "{count} × {name}: {time}, {rate} GB/s",
	"copy.pageable": "{pageable} of the {time} that nothing hides is from or to pageable memory, which the device cannot reach by " +
		"itself",
	"copy.waits":          "{share} of {each} waits for copies between host and device while nothing computes",
	"copy.waited":         "{time} per {unit} in calls that copy",
	"copy.pageable-share": "{share} of that is from or to pageable memory, which the device cannot reach by itself",
	"copy.given-back": "{time} per {unit} more on this line in no operator: the batch that the name held is given back to the system, as a " +
		"rule",
	"copy.fix-once": "What stays the same from step to step is copied once, before the loop.",
	"copy.fix-down": "Leave on the device what is computed from its results (metrics of torchmetrics take its tensors; averages by " +
		"torch._foreach_lerp_), and copy numbers to the host once for many steps.",
	"copy.caveat-down": "What is computed on the host from these copies is not counted here.",
	"copy.caveat-pinned": "How much can be hidden depends on what there is to compute. Pinning takes a thread of the loader's, and memory " +
		"that cannot be swapped.",
	"copy.fix-ahead":     "Copy a batch ahead while the device computes (pinned host memory and non_blocking=True), or copy less.",
	"copy.caveat-before": "What a copy waits for before it starts is not counted here.",
}
