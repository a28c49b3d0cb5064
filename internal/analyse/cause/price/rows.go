package price

// Rows are all prices, in the order of the book.
func Rows() []Row {
	return []Row{
		MadeFast, FetchUnknown, Prepared, PreparedAtOnce, FetchAlone, FetchByWorkers, FetchByChance, Restart, Crowding, MoreWorkers,
		MoreWorkersThanCores, FullCores, StartWorker, Crossing, Handover, FetchedAlone, Displaced,
		LighterHandover, CopiedAround, Cached, CachedDisk, Replayed, Queue, QueueFull, Unpacked, MadeAnew, SmallPicture, Sleep, PythonCode,
		PythonChore, Parametrized,
		PythonBetween, Environments, OneToken, OneTokenLine, OneTokenCalls, OnceForAll, AskedOnce, AskedGraph, AskedInputs, Unmade, Ordered,
		BackwardAgain, BackwardLosses, InLoop,
		Writing, Validated, JacobianForward, JacobianAtOnce,
		Activations, ActivationsTraced, UnusedGradients, UnusedWeights,
		UnusedGraph, GraphAfter, UnusedGraphMost, Padding,
		Beside, BesideRarely, Anomaly, GIL, GC, CallsOptimizer, CallsFused, CallsByLists, ForwardAlone, CallsSpread, CallsLarger,
		CallsOnDevice, OnHost, Plans,
		Compiling, CallsRollout, CallsSequence, CallsPerParameter, CallsNorms,
		Penalty, AtOnce, AtOnceLong, CallsListsDevice, CallsBetween, CallsApart,
		CallsInTurns, CallsBatched, Recurrent,
		LSTMCells, OtherCells, FewRows, Heads, Columns, RecordingCost,
		Recompile, Checkpoint, Files, SavedParts, Preparation, FirstSteps, Trials, UntriedSlower, Late, LateAlone, LateShared, SentSeldom,
		SentTogether,
		LateTogether, FusedInPlace, FusedAnew, FusedNew, FusedChain, AttentionTrains, AttentionDrops,
		AttentionInfers, OneHot, Pairs, AllProducts, Contraction, CopiedRows, Sorted, ComputedRows, Diagonals, RepeatedHeads, ProductOrder,
		Zeros, FourierLength, FourierDevice, Separable, LongFilter, Unfolded, Regrown, Suppression,
		Unread, SparseTable, SparseRow, SparseCall,
		NoFastCode, SlowProducts, Denormals, DenormalProducts, Float64, Quota, Allocator, Heap, HugePages,
		DenseThreads, OtherThreads, MoreThreads, DenseUnknown, SmallUnknown, SharedGPU, ChannelsLast, Oversubscribed, RanksSpin, Warmer,
		WarmerMost, MoreThanSeen, TracedIdle, TracedInput, TracedAlloc, FirstUse, OnCPU, Stalled, TracedComm, TracedCopy, Layout,
		Elementwise, AttentionTraced, MatrixUnits, UnitsReached, GivenBack, Asks, Sync, TracedHost,
	}
}
