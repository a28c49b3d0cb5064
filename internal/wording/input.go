package wording

// inputTexts are about waits for data.
var inputTexts = table{
	"input.title-elsewhere": "{share} of {each} waits for data that other processes fetch",
	"input.title-slow":      "{share} of {each} waits for data that is prepared too slowly",
	"input.title-alike":     "{share} of {each} waits for data: each sample makes anew what is the same for all",
	"input.title-pictures":  "{share} of {each} waits for data: large pictures are decoded and made small, sample by sample",
	"input.title-lock":      "{share} of {each} waits for data: the workers wait for a lock that they share",
	"input.disks":           "{bytes} per {unit} come from disks, as the kernel counts",
	"input.title-storage":   "{share} of {each} waits for storage",
	"input.title-command":   "{share} of {each} waits for a command that the data set runs for each sample",
	"input.title-ask":       "{share} of {each} waits for data that another process or machine hands over",
	"input.title-maker":     "{share} of {each} waits for data from {side}",
	"input.title-copies":    "{share} of {each} waits for data: each sample is copied to the device by itself",
	"input.title-few":       "{share} of {each} waits for data: too few workers fetch it",
	"input.title-uneven":    "{share} of {each} waits for data: the workers keep up on average, but not with each batch",
	"input.title-anew":      "{share} of {each} waits for data: workers are started anew in each epoch",
	"input.title-rebuilt":   "{share} of {each} waits for data: a DataLoader is built, and its workers started, again and again",
	"input.title-singly":    "{share} of {each} waits for data: an iterator is made anew for each batch",
	"input.title-handover":  "{share} of {each} waits although batches are ready: handing them over is slow",
	"input.title-crowding":  "{share} of {each} is lost because the workers take the cores that it needs",
	"input.title-sleeps":    "{share} sleeps in a call that waits for something else",
	"input.title-sleep":     "{share} sleeps for a set time",
	"input.title-lock-held": "{share} waits for a lock that another thread holds",

	"input.pictures":      "{decode} to decode the picture of a sample, {shrink} to make it smaller; of files of small ones both take 1 to 2 ms",
	"input.wait":          "{wait} of {mean} per {unit}, on average, are spent waiting for the next batch",
	"input.fetch-alone":   "{fetch} to fetch a batch, done by the program itself (no workers)",
	"input.fetch-workers": "{fetch} to fetch a batch, done by {workers worker}",
	"input.hot":           "{share} of {of} is spent{in} ({samples sample})",
	"input.hot-line":      "{share} of {of} is spent in {function}, {line} at {at} ({samples sample})",
	"input.collated":      "{share} of a fetch puts its samples together to a batch, which samples that are prepared do not end",
	"input.library":       "no line of the program stands out in it: libraries prepare the samples one by one, {share} of it in {function} of {file}",
	"input.rounds":        "this run went {rounds time} through the data: preparing all of it once takes {once}, which the saving has taken off",
	"input.of-fetch":      "the fetching time",
	"input.of-wait":       "the wait",
	"input.release":       "{release} more per {unit} go into freeing the batch before",
	"input.ready":         "{ready batch|batches} ready on average when the next one was asked for",
	"input.slow-worker": "{slowest} per batch in one worker (process {pid}), {others} in the others: batches come in turn, and all " +
		"wait for the slow one's",
	"input.restart": "{restart} of this run, between steps, go into starting and ending workers; {first} of the waits in steps are " +
		"for an epoch's first batch",
	"input.copies": "{copies copy|copies} to the device in a fetch, by the traced steps: {share} of it goes into starting each and waiting " +
		"for it",
	"input.first":      "{first} of the waits in steps are for an epoch's first batch",
	"input.bytes":      "{bytes} of the wait goes into copying and unpickling what comes through a pipe",
	"input.full-cores": "{cores core} for the step's own {threads computing thread}: none is left for workers",
	"input.cores":      "{cores core} for {threads computing thread} and {workers busy worker}",
	"input.taken":      "the workers compute {work} per {unit} on {cores core}, of which the program itself keeps {busy} busy",
	"input.replayed":   "{saved} less per step in a replay with the fix: {after} instead of {before}",
	"input.replayed-costs": "{saved} less per step in a replay with the fix: {after} instead of {before}; starting workers, handing " +
		"over and busy cores take {back} back",
	"input.off":           "{off} per {unit} are spent off the CPU{in}",
	"input.asleep":        "{off} per {unit} pass in a sleep for a set time{in}: nobody ends it sooner",
	"input.meanwhile":     "meanwhile {side} works{in} ({samples sample}); whether that is waited for is not known",
	"input.read-ahead":    "the thread waits{in} for another thread of the process, which reads ahead",
	"input.side-works":    "{samples sample} taken during the wait show {side} at work{in}",
	"input.side-sleeps":   "{samples sample} taken during the wait show {side} asleep or reading{in}",
	"input.basis-no-line": "no samples say which line",

	"input.fix-elsewhere": "Let bottleneck's agent time the fetches: it left nothing in the processes that fetch. Possible reasons: " +
		"an interpreter with -I, -E or -S, an environment that is not passed on, lost files.",
	"input.fix-archive": "A NumPy archive (.npz) reads and unpacks a whole array each time that it is asked for it by name: ask once, before the " +
		"loop (signals = archive[\"signals\"]), and take samples of what it gave.",
	"input.fix-pictures": "Make the pictures small once, in files beside the old ones: their shorter side as long as the transformation makes it, " +
		"somewhat longer where it cuts out parts. Or have JPEG files decoded at a fraction of their size, which leaves more: " +
		"image.draft(\"RGB\", (256, 256)) right after Image.open().",
	"input.fix-alike": "Make it once, where the data set is built (in its __init__), and keep it: nothing that it is made of changes from sample " +
		"to sample. What holds a file open is made once in each worker.",
	"input.fix-slow": "Make this code faster: work on whole arrays or tensors instead of single elements, do once what does not " +
		"change between epochs, or use a library that does it in native code.",
	"input.fix-own": "Make this code faster, or run it before the epoch. The training process runs it for each batch that it asks " +
		"the workers for or gets from them, so more workers do not help.",
	"input.fix-light": "Fetch whole batches: index the tensors themselves, or give the data set __getitems__. Workers would not " +
		"help: handing a batch over takes longer than fetching it.",
	"input.fix-hide": "Add workers, too: alone they hide about {saved} per {unit} of it.",
	"input.fix-line-too": "Nearly all of a fetch is {at}: where that line can do with less (an index in place of a search, whole arrays, once " +
		"in place of each time), more workers may not be needed.",
	"input.fix-workers-alone": "More workers alone save about {saved} per {unit}.",
	"input.fix-once": "Prepare once, before the loop, what does not change and fits in memory: one tensor of all samples, from which a " +
		"batch is taken in one call (samples[indices]).",
	"input.fix-collate": "Most of a fetch puts samples together to a batch. Where the training allows it, put batches together once, before " +
		"the loop, and shuffle whole batches.",
	"input.fix-no-workers": "The same call does it in the data set's __getitems__. Workers would not help: each takes a core from the step.",
	"input.fix-batches": "Prepare a whole batch in one call, in the data set's __getitems__: tensors of a batch, not samples one by one. " +
		"In a run that goes through the data several times, prepare once, before the loop, what does not change and fits in memory.",
	"input.fix-workers-full": "Workers would not help: each takes a core from the step.",
	"input.fix-prepare": "Prepare once, before the loop, what does not change and fits in memory, or make the samples cheaper to prepare: " +
		"smaller files, a faster decoder, a whole batch in one call (the data set's __getitems__).",
	"input.fix-leave": "Do it together with torch.set_num_threads({left}) in place of {threads}: alone it can make the program slower, as an " +
		"operator waits for each of its threads, also for one whose core a worker has.",
	"input.fix-lock": "Let each worker open its own file, copy or connection, or hold the lock only around what must not run twice " +
		"at once. More workers would wait as well.",
	"input.fix-storage": "Read less or earlier: read larger files in sequence, keep a local copy or cache, or use more workers (they " +
		"sleep while they wait and take no core).",
	"input.fix-command": "Let a library do it within the program, or run the command once for all samples before the training, and keep " +
		"what it gives.",
	"input.fix-ask": "Ask for more at once or earlier, keep a copy, or let more workers ask (they sleep while they wait and take no " +
		"core). Each needs a connection of its own, opened in the worker.",
	"input.fix-maker":         "Make this code faster, let several processes run it, or start it earlier: the data set waits for it.",
	"input.fix-makers":        "Make this code faster, or start it earlier: the data set waits for it, and {n} run it already.",
	"input.fix-maker-workers": "More DataLoader workers alone do not help: all of them would ask the same one.",
	"input.fix-maker-own":     "Threads of this process do not run in workers.",
	"input.fix-workers":       "Let more workers fetch while the step runs: there are cores to spare.",
	"input.fix-workers-cores-unknown": "Let more workers fetch while the step runs, if there are cores to spare: how many the " +
		"machine has was not recorded.",
	"input.fix-keep": "Keep the workers between epochs.",
	"input.fix-rebuilt": "Build the DataLoader once, before the loop, with persistent_workers=True: its workers live only as long as " +
		"it does.",
	"input.fix-singly": "Make the iterator once, before the loop, and ask it for one batch after another. Each iter() of a " +
		"DataLoader starts its workers, or starts them over; they fetch several batches, of which one is taken.",
	"input.fix-uneven": "Keep more batches ready for those that take long, or make these shorter. More workers would be idle most of " +
		"the time.",
	"input.fix-handover": "Hand over less: fewer and larger tensors per batch, no Python objects. Each tensor costs a file " +
		"descriptor and a connection to its worker. Return NumPy arrays from collate_fn and make tensors of them in the training " +
		"process (they are copied through a pipe, which is slower for megabytes), or call " +
		"torch.multiprocessing.set_sharing_strategy('file_system') (a program that is killed then leaves files in /dev/shm).",
	"input.fix-copies": "Return CPU tensors: no device=, .to() or .cuda() in the data set. They are stacked to one batch, which the loop " +
		"copies at once: batch.to(device, non_blocking=True), with DataLoader(..., pin_memory=True).",
	"input.fix-no-fork": "Only then can workers fetch, too: one that is forked cannot use the device (\"Cannot re-initialize CUDA in " +
		"forked subprocess\").",
	"input.fix-device": "The fetch uses the device, which a worker that is forked cannot (\"Cannot re-initialize CUDA in forked " +
		"subprocess\"): let it return CPU tensors, and copy the batch in the loop. Then workers can fetch while the step runs.",
	"input.fix-alone": "Fetch without workers: a batch takes less time to fetch than to hand over.",
	"input.fix-needless": "Fetch without workers: they take cores on which the step itself would run, and a fetch takes them longer than " +
		"it would take the program.",
	"input.fix-less": "Hand over less: only what the step uses, in small types (bytes that become floats in the training process), in " +
		"larger batches. How many tensors a batch has is not what takes the time.",
	"input.fix-bytes": "Hand over less, and tensors: arrays, lists and other objects are pickled and copied through a pipe, tensors " +
		"lie in shared memory. Let collate_fn return few, large tensors (torch.from_numpy, torch.tensor) with only what the step uses.",
	"input.fix-share-out": "Or share the data out evenly: no worker should have more to do than the others.",
	"input.fix-iterable": "Give each worker a part of the data of its own: the data set is iterated, and without that each worker " +
		"goes through all of it, and the program learns from copies. Let its __iter__ ask torch.utils.data.get_worker_info() which " +
		"part. Sets of files in shards, as those of datasets and webdataset, do that by themselves for as many workers as shards.",
	"input.fix-script": "Put the script's own work under if __name__ == \"__main__\": from Python 3.14 on workers are not forked, " +
		"but import the script anew and get the data set by pickle.",
	"input.fix-trainer":    "The Trainer builds the DataLoader: these are its options.",
	"input.fix-hand-on":    "Hand this on to the DataLoader: the line names none, what it calls builds one.",
	"input.fix-wait-less":  "Start what is waited for earlier, let it run beside the step, or wait for less.",
	"input.fix-time-limit": "The call has a time limit. Where that mostly ends the wait, set it lower, or go on with what there is.",
	"input.fix-pool":       "Start the processes or threads once, before the loop, and keep them: here they are started anew and ended in {each}.",
	"input.fix-sleep": "Wait for what the sleep is there to bridge (Event.wait, Thread.join, queue.get, a future's result), sleep for " +
		"less, or leave it out.",
	"input.fix-other-side": "Make this code faster, let several processes run it, or start it earlier: the step waits for it.",
	"input.fix-other-sides": "Make this code faster, or start it earlier: the step waits for it, and {n} processes or threads run it " +
		"already.",
	"input.fix-hold": "Hold the lock for less work, or give each thread an object of its own.",

	"input.caveat-limit":      "The saving assumes that nothing else becomes the limit.",
	"input.caveat-workers":    "Workers cost memory and change the order of random numbers.",
	"input.caveat-open":       "Files and connections that are open when workers start are shared by them: let each worker open its own.",
	"input.caveat-crowding":   "Estimated from the number of threads that compete for the cores, not measured.",
	"input.caveat-needless":   "Estimated from what each process computed, not measured. On a machine with idle cores workers pay.",
	"input.caveat-other-side": "What the other side does meanwhile is known only of Python processes of this run.",
	"input.caveat-sleep": "Where something must be waited for all the same (a thread, a device, a limit of requests), as much " +
		"time stays.",
	"input.caveat-faster": "The saving assumes that what is waited for becomes faster than the step.",
}
