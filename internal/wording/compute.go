package wording

// computeTexts are about computing.
var computeTexts = table{
	"compute.computing": "{share} of {each} is computing",
	"compute.operators": "{share} of {each} in {kind} operators",
	"compute.fix-less": "Compute less (a smaller model, lower precision), try torch.compile, or use a faster machine: " +
		"this is no defect.",
	"compute.fix-less-compiled": "Compute less (a smaller model, lower precision), or use a faster machine: this is no defect.",
	"compute.traced":            "{share} of the devices' time is computing",
	"compute.traced-beside":     "{share} of the devices' time is computing that no other finding is about",
	"compute.of-peak":           "{title}, at {mfu} of {device}'s peak",
	"compute.kernels":           "{share} of the kernels' time in {kind} kernels",
	"compute.fix-less-traced":   "Compute less (a smaller model, lower precision), or use a faster device: this is no defect.",
}
