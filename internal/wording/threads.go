package wording

// threadsTexts are about more threads than cores.
var threadsTexts = table{
	"threads.title":     "more threads compute than there are cores",
	"threads.title-few": "operators compute with {threads thread} where {n} are faster",
	"threads.fix-count": "Let operators compute with as many threads: by the environment, or torch.set_num_threads.",
	"threads.alone":     "{factor} threads per core: {threads thread} in one process on {cores core}",
	"threads.ranks":     "{factor} threads per core: {threads thread} in each of {ranks process|processes} on {cores core}",
	"threads.fix":       "Give each process its share of the cores.",
	"threads.fix-call":  "Look for the call in the program: it sets the number itself, whatever OMP_NUM_THREADS is.",
	"threads.caveat": "The saving is a range from experience, not measured on this program: try it, or let bottleneck run " +
		"--measure-fixes measure it.",
	"threads.caveat-turns": "Threads that wait for one another spin on cores that the others need. Such programs were slower alone than " +
		"while stacks were taken, by a quarter to a half and with much noise: the saving can be larger than it is here.",
	"threads.basis":         "the number of threads against that of cores, not measured",
	"threads.quota-counted": "what the quota held back is counted under machine/cpu-quota, and not again here",
	"threads.fewer-first":   "the same operators have too many threads: this is what is left to save once those are fewer",
}
