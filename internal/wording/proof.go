package wording

// proofTexts are about what prove does in place of a change.
var proofTexts = table{
	"proof.input":  "the same few batches again, from memory",
	"proof.gc":     "what lives after the first steps is left out by the garbage collector (gc.freeze)",
	"proof.writes": "what {place} and the lines around it write to files goes nowhere",
	"proof.start":  "a second start: the code that torch.compile made for the first one is there (the original starts with empty caches)",
	"proof.bound":  "this is a bound: no fix can save more, and a real one may save less",
	"proof.bound-start": "this is a bound: keeping what torch.compile makes from one start to the next saves no more; compiling less may " +
		"save more",
}
