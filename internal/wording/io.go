package wording

// ioTexts are about files and networks inside the loop.
var ioTexts = table{
	"io.title-checkpoint": "{share} of the time inside the loop goes into writing checkpoints",
	"io.title-logging":    "{share} of the time inside the loop goes into writing logs or other output",
	"io.title-read":       "{share} of the time inside the loop goes into reading files",
	"io.title-network":    "{share} of the time inside the loop goes into the network",
	"io.title-views":      "{share} of the run goes into files that hold whole tensors of which only parts were saved",
	"io.calls":            "{time} in {n call} of {name}, the longest {longest}",
	"io.accesses":         "{time} in {n file access|file accesses}, the longest {longest}",
	"io.sampled":          "{time} per {unit} go into reading or writing here, in the step's own thread",
	"io.fix-checkpoint":   "Save less often, save only what is needed to go on, or copy the tensors and write them in another process.",
	"io.fix-logging":      "Collect it and write every n-th step, leave flushing to the file object, or hand the text to another thread.",
	"io.fix-flush":        "Leave it out, or do it every few hundred steps: files flush themselves, and the system writes to the disk in the background.",
	"io.caveat-flush":     "Without it, the last lines are lost where the machine fails or the process ends badly.",
	"io.fix-read":         "Read once before the loop, keep it in memory, or read ahead in another process.",
	"io.fix-network":      "Send or fetch in the background, or batch the calls.",
	"io.views": "{time} in {n call} of torch.save, which wrote {stored} for tensors of {used}: a part of a tensor is written with " +
		"all of it",
	"io.views-loaded":   "{time} in {n call} of torch.load, which read all of it again",
	"io.fix-views":      "Save a copy of what is a part of a larger tensor: part.clone() in place of part.",
	"io.fix-views-here": "Save copies of the parts: {code}.",
	"io.caveat-views":   "Tensors that share memory within one file do so no longer once they are copies.",
	"io.caveat-disk":    "How long a read or write takes depends on the state of the page cache and on who else uses the disk.",
	"io.caveat-network": "How long a call takes depends on the network and on who answers.",
}
