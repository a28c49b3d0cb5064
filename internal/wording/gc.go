package wording

// gcTexts are about garbage collections.
var gcTexts = table{
	"gc.title":       "{share} of the time is spent in Python's garbage collector",
	"gc.collections": "{time} in {n collection}, the longest {longest}; {full} of them of the oldest generation",
	"gc.fix": "Call gc.freeze() once the model and the data are built, and collect by hand every few hundred steps. Or keep " +
		"fewer long-lived Python objects (arrays instead of lists of objects).",
	"gc.fix-line": "Leave collecting to Python, or ask for it every few hundred steps: this line asks for each of these collections.",
	"gc.caveat":   "Without any collection, objects in reference cycles stay alive: watch the memory.",
}
