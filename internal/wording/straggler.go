package wording

// stragglerTexts are about a rank for which the others wait.
var stragglerTexts = table{
	"straggler.title": "{share} of {each} waits for rank {rank}",
	"straggler.lead": "rank {rank} takes {longer} longer per {unit}: {own} before it reaches the others, which take " +
		"{others} on average",
	"straggler.waits":       "rank {rank} waits {t} per {unit} in collectives",
	"straggler.at":          "the difference arises{in}",
	"straggler.fix-because": "Only rank {rank} does this, and all of them wait for it.",
	"straggler.fix-alone":   "Do it less often, beside the steps (in another thread or process), or let the ranks take turns.",
	"straggler.fix-even": "Give every rank the same work per step (equal batches and sequence lengths, the same side jobs), " +
		"or take this work off the late rank's step.",
	"straggler.caveat": "This holds as far as the rank is late because of its work, not because of its machine.",
}
