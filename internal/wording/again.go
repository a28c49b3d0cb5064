package wording

// againTexts are about what is computed again although it could have been kept.
var againTexts = table{
	"again.title-prefix": "{share} of {each} computes the whole sequence again for each new token",
	"again.rows":         "{rows row} in a step, {more} more than in the step before, {steps step} in turn: all tokens so far, not the new ones",
	"again.longer":       "a step without a profiler grows from {first} to {last} while {tokens token} are added",
	"again.fix-prefix": "Keep each layer's keys and values of the tokens before (a KV cache), and give the model only the newest token. " +
		"Hugging Face's models do it with use_cache=True; in a model of one's own, attention appends the new keys and values to those kept.",
	"again.caveat-prefix": "Once a sequence is cut to the model's longest one, places move, and what was kept fits only models whose " +
		"positions are relative.",
}
