package wording

// gilTexts are about the interpreter's lock.
var gilTexts = table{
	"gil.title":  "{share} of {each} waits for another Python thread to release the interpreter's lock",
	"gil.wait":   "for {t} per {unit} the step's thread is ready to run but waits for the lock",
	"gil.before": "{t} more of the same before the steps are steady",
	"gil.fix": "Let the other thread work less often (wait between its rounds), move its work into a process of its own, " +
		"or make it call code that releases the lock.",
	"gil.caveat": "Short waits are part of any program with Python threads. PyTorch's own threads hold the lock rarely.",
}
