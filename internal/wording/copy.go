package wording

// copyTexts are about copies.
var copyTexts = table{
	"copy.exposed": "{share} of the devices' time is spent on copies between host and device while nothing computes",
	"copy.most":    "{count} × {name}: {time}, {rate} GB/s",
	"copy.pageable": "{pageable} of the {time} that nothing hides is from or to pageable memory, which the device cannot reach by " +
		"itself",
	"copy.fix-ahead":     "Copy a batch ahead while the device computes (pinned host memory and non_blocking=True), or copy less.",
	"copy.caveat-before": "What a copy waits for before it starts is not counted here.",
}
