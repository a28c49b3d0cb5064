package wording

// growthTexts are about memory that grows with the steps.
var growthTexts = table{
	"growth.title": "memory grows by {size} at each step and is not given back",
	"growth.seen":  "{bytes} more after {steps step} without a profiler, growing to the last; {held} held at the end",
	"growth.holes": "of it, {given} at each step are given out; the rest is free, in holes between what is kept that were not filled again",
	"growth.end":   "at this rate {limit} of memory end after {steps more step}, {time}",
	"growth.other": "{target} grows too, at {at}",
	"growth.fix-graph": "Keep the number, not the loss: {target} holds every loss with all that backward needs of it. Add loss.detach(), " +
		"or loss.item() where the number is wanted.",
	"growth.fix-objects": "Keep in {target} only what is needed later: the last ones (collections.deque with maxlen), numbers in place " +
		"of tensors, or a file. Empty it once it has been used.",
	"growth.fix-hook":    "Register the hook once, before the loop, or call remove() on what {target} returns.",
	"growth.fix-cache":   "Give the cache of {target}() a bound, such as lru_cache(maxsize=128), and keep tensors out of its arguments.",
	"growth.fix-numbers": "Keep the last numbers of {target} only, or write them to a file.",
	"growth.caveat":      "A cache that is still being filled looks the same until it is full.",
	"growth.workers":     "{workers worker} of a DataLoader copied {bytes} of what the program holds",
	"growth.workers-seen": "{bytes} became the workers' own in {time}, pages that they had shared with the program: they hold no more " +
		"than before in all",
	"growth.workers-bound": "it goes on until each worker has read all of it; the program itself holds {held}, of {limit} of memory",
	"growth.workers-other": "{target} is made of Python objects too, at {at}",
	"growth.fix-workers": "Hold {target} as arrays or tensors: numbers in one array, texts as bytes with an array of offsets. A Python " +
		"object is written to whenever it is looked at, since its references are counted in it, and the worker copies its page.",
	"growth.workers-basis": "the kernel's count of private and shared pages of each worker",
	"growth.basis": "the kernel's count of the process's memory, and the only statement of its kind that keeps something at each " +
		"step",
	"growth.basis-inside": "what the allocators of C and Python have given out, asked from inside at the ends of steps: it fills what was " +
		"free within them; and the only statement of its kind that keeps something at each step",
	"growth.basis-inside-several": "what the allocators of C and Python have given out, asked from inside at the ends of steps: it fills " +
		"what was free within them; {n statement} keep something at each step, and which of them holds most is not known",
	"growth.basis-several": "the kernel's count of the process's memory; {n statement} keep something at each step, and which of them " +
		"holds most is not known",
}
