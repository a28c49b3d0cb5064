package wording

// machineTexts are about what the machine withholds.
var machineTexts = table{
	"machine.title-quota": "the container's CPU quota of {quota core} stopped the program",
	"machine.throttled":   "the kernel held the container's threads back for {throttled} of a run of {run}",
	"machine.fix-quota":   "Ask for more CPU: all threads stop when the quota is used up.",
	"machine.fix-quota-threads": "Ask for more CPU, or use no more threads than the quota grants (now {threads}): all threads stop " +
		"when it is used up.",
	"machine.caveat-quota": "The counter is the cgroup's: other processes in the container count too.",
	"machine.basis-quota":  "the cgroup's throttling counter before and after the run",

	"machine.title-omp":        "the launcher gives each rank one thread",
	"machine.title-affinity":   "the program is bound to {have} of the machine's {cores core}",
	"machine.operators":        "{t} per {unit} in CPU operators on {have} of {could core}",
	"machine.fix-cores":        "Let the operators use the cores that are free.",
	"machine.fix-affinity":     "Ask the scheduler or the launcher for more cores (taskset, --cpus-per-task, the container's cpuset).",
	"machine.fix-affinity-omp": "Raise OMP_NUM_THREADS (now {n}) as well: more cores help only with more threads.",
	"machine.caveat-cores":     "Small operators gain little from threads, and two cores of a virtual machine can be halves of one.",
	"machine.caveat-measure":   "The saving is a range, not measured: bottleneck run --measure-fixes measures it.",
	"machine.basis-cores":      "priced by the number of cores and the kinds of operators, not measured",
	"machine.threads-measured": "what fewer threads save was measured, and is not counted again here",

	"machine.title-allocator": "the C library gives memory back to the kernel and takes it anew at each step",
	"machine.faults": "{faults page fault} in each {unit} ({bytes} of new pages) take {system} of system time on the thread that drives it; " +
		"seen over {steps step} without a trace",
	"machine.faults-traced": "traced steps take {traced page fault}, those without a trace {plain}: tracing changes what stays on top of " +
		"the heap; the price is of steps without it",
	"machine.faults-uneven": "from {least page fault} per step in one part of the run to {most} in another, by what lies on top of the heap",
	"machine.title-heap":    "the C library gives memory back to the kernel now and then, and takes it anew at each step",
	"machine.heap-seen":     "in one stretch of the run each {unit} took {faults page} again ({bytes}) that the process had given back",
	"machine.heap-free":     "{free} are free inside of the C library at the ends of steps",
	"machine.heap-luck": "which steps do so hangs on what small block lies at the heap's end: it differs from run to run and after any " +
		"change of the program, and traced windows begin or end it",
	"machine.caveat-heap": "The saving is of runs without traced windows, on average: one can lose all of it and the next one nothing.",
	"machine.basis-heap":  "what the kernel gave at the ends of the first hundred steps, and what the C library said was free",
	"machine.fix-allocator": "Let malloc keep what it has: set the variable before Python starts. Set both or none: one alone ends " +
		"the threshold that adapts itself.",
	"machine.fix-allocator-else": "Or write into tensors that are made once (out=, in-place operators).",
	"machine.fix-huge":           "Ask the kernel for huge pages, which it clears in fewer faults: set the variable before Python starts.",
	"machine.fix-allocator-jemalloc": "Where jemalloc can be installed, it keeps what it has and ends nearly all of it: " +
		"LD_PRELOAD=libjemalloc.so.2 with MALLOC_CONF=oversize_threshold:0,dirty_decay_ms:-1,muzzy_decay_ms:-1.",
	"machine.caveat-allocator": "It is for glibc's malloc: jemalloc, tcmalloc, mimalloc and musl do not read it.",
	"machine.caveat-allocator-kept": "The program then holds all the time what it needs at its peak, and can need more by what fits " +
		"nowhere else.",
	"machine.basis-allocator": "the kernel's counts of page faults and system time, in {looks look} at the process between traces",

	"machine.title-gpu-shared":  "other programs used {gpu} for {share} of the time before the run",
	"machine.device":            "the device works for {t} per {unit}, by its own events",
	"machine.fix-gpu-shared":    "Run on a device of your own, or when the others are done (nvidia-smi lists them).",
	"machine.caveat-gpu-shared": "They were there before the run and after it: how much they computed was seen before it, not meanwhile.",
	"machine.basis-gpu-shared":  "the driver's numbers, not a run on another device",

	"machine.title-shm":       "{room} is too small for {what}",
	"machine.title-shm-bus":   "a worker died of a bus error, most likely because {title}",
	"machine.title-shm-lost":  "{title}: one is lost, and the program waits for it forever",
	"machine.title-shm-ended": "{title}, which ended the program",
	"machine.shm":             "/dev/shm ({size})",
	"machine.shm-unsized":     "the shared memory",
	"machine.shm-batches":     "the batches that DataLoader workers hand over",
	"machine.shm-objects":     "what processes hand to one another",
	"machine.shm-error":       "{error}",
	"machine.shm-in-flight": "{workers worker} × prefetch_factor {prefetch}: {batches batch|batches} can be in it at once, " +
		"beside those that the program still holds",
	"machine.shm-larger": "docker run --shm-size=8g (or --ipc=host), in Kubernetes an emptyDir with medium: Memory at /dev/shm, " +
		"elsewhere mount -o remount,size=8g /dev/shm",
	"machine.fix-shm": "Make /dev/shm larger: {how}.",
	"machine.fix-shm-less": "Or keep less in it at once: small types (bytes that become floats in the training process), smaller " +
		"batches, prefetch_factor=1, fewer workers or none (num_workers=0).",
	"machine.caveat-shm": "Files of other programs, and those that killed programs have left, take room in /dev/shm too: ls -l /dev/shm.",
	"machine.caveat-room": "/dev/shm holds only {size} here: more batches of workers may not fit, and the program would end. " +
		"Make it larger first: {how}.",
	"machine.basis-shm":           "the error that the program got",
	"machine.basis-shm-bus":       "what PyTorch says of a worker that a bus error ends",
	"machine.basis-shm-bus-other": "any other mapped file without room on its disk does the same",
}
