package price

// Waits for data.
var (
	// MadeFast is what of a slow line in a fetch ends.
	MadeFast = Row{ID: "input/made-fast", Range: exactly(0.96), Unit: share,
		Of: "the slow line's time in a fetch",
		Origin: Origin{Kind: Fitted,
			On:     "cured twins of the zoo, which work on whole arrays: a few per cent are left",
			Repeat: `make zoo CASES="input-transform plant-*"`,
		}}
	// FetchUnknown is what of a fetch ends that no sample places.
	FetchUnknown = Row{ID: "input/unknown-line", Range: exactly(0.8), Unit: share,
		Of: "the fetch",
		Origin: Origin{Kind: Guess,
			On: "nothing is known of what takes the time",
		}}
	// Prepared is what of a fetch by libraries ends when its samples were prepared before the loop.
	Prepared = Row{ID: "input/prepared", Range: Range{0.5, 0.92, 0.99}, Unit: share,
		Of: "the fetch",
		Origin: Origin{Kind: Measured, Points: 4,
			On: "MNIST's pictures as tensors in batches of 32, 64 and 1,000, random pictures in batches of 16: 0.93 to 0.99; the lower " +
				"bound is a guess at what changes in each epoch",
			Repeat: `make public ONLY="examples-mnist-rnn" ARGS=-all`,
		}}
	// PreparedAtOnce is what of a fetch by libraries ends when a batch is prepared in one call.
	PreparedAtOnce = Row{ID: "input/prepared-at-once", Range: Range{0, 0.74, 0.97}, Unit: share,
		Of: "the fetch",
		Origin: Origin{Kind: Measured, Points: 108,
			On: "pictures by way of Pillow and torchvision, rows of pandas and tensors, 16 to 256 in a batch, of what loops waited: " +
				"0.19 to 1.09, nine of ten 0.39 and more, half of them 0.74, one of ten 0.97; the lower bound is of files, which are " +
				"decoded one by one",
			Span:   "PyTorch 2.15, two threads, perceptrons of two widths",
			Repeat: "python bench/prices/batches.py",
		}}
	// FetchAlone is of fetches that stand in the step themselves.
	FetchAlone = Row{ID: "input/no-workers", Range: Range{0.8, 1, 1}, Unit: share,
		Of: "what the faster fetch saves; the upper bound is of the wait",
		Origin: Origin{Kind: Guess,
			On: "the middle is arithmetic: the fetch is part of the step",
		}}
	// FetchByWorkers is of a wait as far as the workers' throughput explains it.
	FetchByWorkers = Row{ID: "input/workers-faster", Range: Range{0.85, 1, 1}, Unit: share,
		Of: "the wait that throughput explains, ns per step",
		Origin: Origin{Kind: Guess,
			On: "the middle is arithmetic: the step lasts as long as its slowest stage",
		}}
	// FetchByChance is what of the rest of such a wait ends with faster fetches.
	FetchByChance = Row{ID: "input/wait-by-chance", Range: exactly(0.25), Unit: share,
		Of: "the wait that throughput does not explain",
		Origin: Origin{Kind: Guess,
			On: "some of it are batches that come late by turns",
		}}
	// Restart is of workers that are started anew in each epoch.
	Restart = Row{ID: "input/restart", Range: Range{0.5, 0.9, 1}, Unit: share,
		Of: "waits for first batches and for workers that start, ns per step; the upper bound is of all waits",
		Origin: Origin{Kind: Guess,
			On:     "workers that are kept start once",
			Repeat: "make zoo CASES=input-restart",
		}}
	// Crowding is of a step whose cores the workers take.
	Crowding = Row{ID: "input/crowding", Range: Range{0.3, 1, 1}, Unit: share,
		Of: "what the step gains by the replay's rule of sharing cores, ns per step",
		Origin: Origin{Kind: Guess,
			On: "the middle is the rule's; that threads compete is not measured",
		}}
	// MoreWorkers is of as many workers as keep up.
	MoreWorkers = Row{ID: "input/workers", Range: Range{0.6, 1, 1}, Unit: share,
		Of: "step without the wait that more workers leave, ns per step",
		Origin: Origin{Kind: Guess,
			On:     "the middle is arithmetic: throughput of workers, cores and the step",
			Repeat: "make zoo CASES=input-workers",
		}}
	// MoreWorkersThanCores is its lower bound where the step competes with its workers.
	MoreWorkersThanCores = Row{ID: "input/workers-crowded", Range: exactly(0.3), Unit: share,
		Of: "the same",
		Origin: Origin{Kind: Guess,
			On: "whatever else wants a core takes it from a worker or the step",
		}}
	// FullCores is the speed of a core when all are busy.
	FullCores = Row{ID: "input/full-cores", Range: exactly(0.78), Unit: "share of the speed among idle cores",
		Of: "computing of a step and its workers, ns of cores",
		Origin: Origin{Kind: Fitted,
			On:   "what second workers really saved on two cores of one virtual machine: 0.5 to 0.7 of what whole cores would",
			Span: "2 cores", Repeat: "make zoo CASES=input-workers",
		}}
	// StartWorker is what starting and ending a forked worker costs.
	StartWorker = Row{ID: "input/start-worker", Range: exactly(60e6), Unit: ns,
		Of: "each worker that is forked",
		Origin: Origin{Kind: Measured,
			On:   "CPU time of all processes, with workers and without",
			Span: "2 cores, PyTorch 2.15",
		}}
	// Crossing is what a batch costs that comes from another process.
	Crossing = Row{ID: "input/crossing", Range: exactly(0.1), Unit: share,
		Of: "the computing of a fetch, ns per step",
		Origin: Origin{Kind: Measured,
			On:   "CPU time of all processes, with workers and without",
			Span: "2 cores, PyTorch 2.15",
		}}
	// Handover is what remains of a hand-over of a few large tensors.
	Handover = Row{ID: "input/handover-cost", Range: exactly(1e6), Unit: ns,
		Of: "each batch",
		Origin: Origin{Kind: Guess,
			On: "a message through a queue and the mapping of its memory, seen on two cores",
		}}
	// FetchedAlone is what a fetch costs a program that does it itself, of what it costs a worker beside busy cores. Cores that are
	// the halves of one run at half speed then; whole ones do not lose.
	FetchedAlone = Row{ID: "input/fetched-alone", Range: Range{0.45, 0.55, 1}, Unit: share,
		Of: "CPU time of fetching in workers while all cores are busy, ns per step",
		Origin: Origin{Kind: Measured,
			On:   "three public programs with and without their workers: 25 of 47 ms, 0.28 of 0.67 ms",
			Span: "2 cores of one virtual machine, PyTorch 2.15", Repeat: "make public ONLY=\"examples-dcgan makemore-*\"",
		}}
	// Displaced is what a step loses to a worker that takes one of its cores, where the step's work is not one that all threads share.
	Displaced = Row{ID: "input/displaced", Range: exactly(0.5), Unit: share,
		Of: "CPU time of workers beside work that is not shared between threads, ns per step",
		Origin: Origin{Kind: Guess,
			On: "the system may move the work to another core",
		}}
	// LighterHandover is of a hand-over of many objects.
	LighterHandover = Row{ID: "input/handover", Range: Range{0.6, 1, 1}, Unit: share,
		Of: "wait and release of batches without Handover and what the fetch makes the step wait, ns per step",
		Origin: Origin{Kind: Guess,
			On:     "the middle is arithmetic",
			Repeat: "make zoo CASES=input-handover",
		}}
	// CopiedAround is of what a line that copies each sample to a device does around the copies.
	CopiedAround = Row{ID: "input/copies", Range: Range{0, 0.6, 1}, Unit: share,
		Of: "the rest of the line's time in a fetch, at most as long as the copies, ns per step",
		Origin: Origin{Kind: Fitted,
			On:     "testdata/gpu/copy-items: 12.4 ms in its line, 8.1 of them copies; making the tensors on the CPU takes 1.5",
			Span:   "one program on one H200, PyTorch 2.11",
			Repeat: "sh bench/gpu/all.sh",
		}}
	// Cached is what of a fetch's sleep ends when the data are in memory.
	Cached = Row{ID: "input/storage", Range: exactly(0.97), Unit: share,
		Of: "the part of a fetch that sleeps or waits for an answer",
		Origin: Origin{Kind: Guess,
			On:     "a copy from memory is left",
			Repeat: "make zoo CASES=input-storage",
		}}
	// CachedDisk is the same of a fast disk, whose reads are seldom seen asleep.
	CachedDisk = Row{ID: "input/disk", Range: exactly(0.9), Unit: share,
		Of: "the reading line's part of a fetch",
		Origin: Origin{Kind: Guess,
			On:     "the copy is a tenth or so",
			Repeat: "make zoo CASES=input-cold",
		}}
	// Replayed is of what a replay with the fix saves.
	Replayed = Row{ID: "input/replayed", Range: Range{0.85, 1, 1}, Unit: share,
		Of: "the replayed steps' difference, ns per step",
		Origin: Origin{Kind: Guess,
			On: "the middle is the replay's",
		}}
	// Sleep is of a sleep for a set time.
	Sleep = Row{ID: "input/sleep", Range: Range{0.5, 1, 1}, Unit: share,
		Of: "the sleep in which no other thread or process of the run works, ns per step; the upper bound is of all of it",
		Origin: Origin{Kind: Guess,
			On: "a sleep that is left out takes nothing; what it was there to wait for is not known",
		}}
	// Unpacked is of a fetch that reads arrays from a NumPy archive by name.
	Unpacked = Row{ID: "input/unpacked", Range: Range{0.6, 0.97, 1}, Unit: share,
		Of: "the wait for data while the archive is read and unpacked, ns per step",
		Origin: Origin{Kind: Guess,
			On: "an array that was asked for once is looked up in memory from then on; what other code reads of the archive is not known",
		}}
	// MadeAnew is of a fetch that makes the same for each sample, by a line whose text tells so.
	MadeAnew = Row{ID: "input/anew", Range: Range{0.85, 1, 1.15}, Unit: share,
		Of: "the wait for data in that line and in what it calls, ns per step",
		Origin: Origin{Kind: Guess,
			On: "what is made once takes nothing from then on, and is not let go each time; samples tell the line's part of the fetch",
		}}
	// SmallPicture is what decoding takes of a picture in a file that is about as small as its sample.
	SmallPicture = Row{ID: "input/pictures", Range: Range{0.8e6, 1.9e6, 3e6}, Unit: ns,
		Of: "each sample; what decoding and making it smaller take beyond that is saved",
		Origin: Origin{Kind: Measured,
			On:     "copies whose shorter side is 256 left 0.8 ms where they are only cut, 1.8 to 2.1 where parts are made smaller",
			Span:   "JPEG files of 320 x 240 to 4,032 x 3,024, which take 2 to 180 ms a sample, Pillow 13, one thread",
			Repeat: "python bench/prices/pictures.py",
		}}
	// QueueFull is a sleep during which the program's own processes or threads work on all cores: it ends as far as their code gets faster.
	QueueFull = Row{ID: "input/queue-full", Range: Range{0.1, 0.5, 0.95}, Unit: share,
		Of: "the sleep, ns per step; the lower bound also by the cores that other programs left",
		Origin: Origin{Kind: Guess,
			On: "how much faster code can be made is not known before; what could take more cores has taken them",
		}}
	// Queue is of a wait for another thread or process.
	Queue = Row{ID: "input/queue", Range: Range{0.5, 1, 1}, Unit: share,
		Of: "the sleep, ns per step; the lower bound also by the cores that other programs left",
		Origin: Origin{Kind: Guess,
			On:     "what is waited for may itself have waited for a core",
			Repeat: "make zoo CASES=input-queue",
		}}
)
