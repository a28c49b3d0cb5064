package wording

// launchTexts are about calls of tiny operators.
var launchTexts = table{
	"launch.title-between": "{share} of this run is spent calling tiny operators between the steps",
	"launch.title-after":   "{share} of this run is spent calling tiny operators after the last step",
	"launch.between":       "{time} here, outside of the steps, {python} of it in the interpreter",
	"launch.fix-between": "Work on all elements at once: call the model for whole batches, replace the loop by operators on one large tensor " +
		"(one matrix product, topk for all rows), and take numbers out of it once (tolist()), not one by one (item()).",
	"launch.untraced": "{time} per {unit} in this loop, {python} of it in the interpreter; no trace holds such a step, so that its operators " +
		"are not counted",
	"launch.untraced-run": "{time} in this loop, {python} of it in the interpreter; most of what computes is in no trace, so that operators are " +
		"not counted",
	"launch.fix-counts": "Count all pairs at once: torch.bincount(first * n + second, minlength=m * n).view(m, n) for a table of m rows and n " +
		"columns, with tensors of all indices.",
	"launch.caveat-turns": "Turns that each need the one before cannot be joined.",
	"launch.caveat-between": "Traces hold steps alone: what is called here is known from samples. Turns that each need the one before cannot " +
		"be joined.",
	"launch.share-run":     "{share} of the run (tracing left out)",
	"launch.title":         "{share} is spent calling tiny operators",
	"launch.title-spread":  "{share} is spent calling tiny operators, spread over many lines",
	"launch.title-device":  "{share} is spent launching work for the device, which computes for {computes} of it",
	"launch.title-on-host": "{share} of {each} computes on the CPU, though the program has a device",
	"launch.on-host":       "{time} per {unit} in operators that hand the device nothing and are no mere calls",
	"launch.fix-on-host": "Compute this on the device: make tensors there (torch.randn(shape, device=device)), once where they stay the same. " +
		"Or prepare it in the DataLoader's workers.",
	"launch.caveat-on-host": "A device's random numbers are others than the CPU's.",
	"launch.title-plans":    "{share} of {each} is spent planning attention for shapes that are new to cuDNN",
	"launch.plans": "{time} per {unit} in attention before anything is launched; cuDNN makes {plans plan} in a traced {unit}, one for each " +
		"new shape, forward and backward",
	"launch.fix-plans": "Let another implementation compute it (torch.backends.cuda.enable_cudnn_sdp(False)): FlashAttention's kernels " +
		"need no plan. Or use few lengths: pad sequences to the next multiple of 64 or 128.",
	"launch.caveat-plans":    "Plans are kept: once every length has been seen, no more time goes into them.",
	"launch.title-optimizer": "{share} is spent in the optimizer, which calls tiny operators for one parameter at a time",
	"launch.title-lists":     "{share} is spent in the optimizer, which calls tiny operators on lists of parameters",
	"launch.title-acting":    "{share} of {each} calls a network between two steps of an environment",
	"launch.acting":          "{time} per {unit} in the network's calls; no trace holds such a step, so that their operators are not counted",
	"launch.title-batch":     "{share} of {each} is spent computing for {items item} at a time",
	"launch.title-recurrent": "{share} of {each} is spent calling a recurrent layer for one element of a sequence at a time",
	"launch.title-heads":     "{share} of {each} computes the heads of attention one by one",
	"launch.heads":           "{time} per {unit} in the heads' layers and products, forward and backward; {heads} heads in turn",
	"launch.fix-heads": "Compute all heads at once: one layer for the queries, keys and values of all (nn.Linear(width, 3 * width)), " +
		"view(batch, places, 3, heads, size).permute(2, 0, 3, 1, 4), and scaled_dot_product_attention(q, k, v, is_causal=True).",
	"launch.caveat-heads":  "Weights that were saved must be joined to fit the one layer: torch.cat of the heads' weights.",
	"launch.title-columns": "{share} of {each} looks up each column of a batch in a table of its own",
	"launch.columns":       "{time} per {unit} in these lookups, in the interpreter around them, and in the gradients of {tables table}",
	"launch.fix-columns": "Join tables of one width into one: nn.Embedding(sum(sizes), width), called with x + first, where first holds each " +
		"column's first row, and flatten(1). It is one lookup, one gradient, and one parameter for the optimizer.",
	"launch.caveat-columns": "Weights that were saved must be joined to fit the one table: torch.cat of the tables' weights.",
	"launch.title-rows":     "{share} of {each} goes into products of {rows row} with all weights, where more rows would hardly take longer",
	"launch.rows":           "{time} per {unit} in these products, which read all weights; no traced step had more rows",
	"launch.fix-rows": "Let several requests or sequences share a call: take all that wait (up to a few milliseconds more), stack them, call the " +
		"model once, and hand out its rows.",
	"launch.caveat-rows": "This holds where more is there to be worked on at the same time: clients that do not wait for one another, texts " +
		"that can be written side by side. Each waits for the slowest of its batch.",
	"launch.title-cells":      "{share} of {each} goes into cells of a recurrent layer, called for one element of a sequence at a time",
	"launch.cells":            "{time} per {unit} in the cells' operators and in the interpreter around them, in {calls call}",
	"launch.title-parameters": "{share} of {each} goes through a model's parameters one by one",
	"launch.parameters": "{time} per {unit} in tiny operators of this loop, in the interpreter around them, and in what gives it the " +
		"parameters",
	"launch.title-at-once": "{share} of {each} goes through a loop whose turns could be done at once",
	"launch.at-once": "{time} per {unit} in operators called here, in the interpreter around them, and in the backward pass through them; " +
		"{turns turn} of the loop in line {line}, each of {ops operator} on tensors of the same shapes, and none needs what another gives",
	"launch.at-once-updates": "{time} per {unit} of it in the optimizer, which updates each turn's layers by themselves",
	"launch.title-penalty":   "{share} of {each} computes a penalty on a model's parameters, one after another",
	"launch.penalty": "{time} per {unit} in operators of this loop, in the interpreter around them, and in the backward pass through " +
		"them ({back} of it)",
	"launch.parameters-number": "the program's optimizers change {parameters parameter}",
	"launch.count":             "{ops operator} per {unit}, {small} of them shorter than 30 µs; operators inside operators are not counted",
	"launch.count-run": "{ops operator} in {traced} of tracing, {share} of them shorter than 30 µs; operators inside " +
		"operators are not counted",
	"launch.time":         "{time} per {unit}: {ops} in tiny operators, {python} in the interpreter around them",
	"launch.count-device": "{ops operator} per {unit} on the thread that drives it; operators inside operators are not counted",
	"launch.time-device": "{time} per {unit} until this is launched: {ops} in operators, {python} in the interpreter around them; the device " +
		"computes for {computes}",
	"launch.fix-device": "Give one call more to do (a larger batch, several requests together), or launch the same operators faster: " +
		"torch.compile with mode=\"reduce-overhead\", or CUDA graphs (torch.cuda.make_graphed_callables).",
	"launch.caveat-graphs": "Graphs need inputs of the same shapes at each step, and no answers of the device in between (.item(), masks as " +
		"indices). torch.compile takes time at the start.",
	"launch.backward":  "the backward pass through what is called here is included",
	"launch.larger":    "all calling in the {unit}, what other findings name included, takes {time}: larger batches make all of it rarer",
	"launch.lines":     "lines that share it: {lines}",
	"launch.line":      "{at} ({share})",
	"launch.line-next": "{lines}, {at} ({share})",
	"launch.recording": "{cost} is taken out: the known cost of recording the operators",
	"launch.recurrent": "{time} per {unit} in the layer's operators, forward and backward, in {calls call}",
	"launch.fix-loop": "Replace the loop over small tensors with operators on one large tensor (stack, batch, einsum), " +
		"or let torch.compile fuse it.",
	"launch.fix-loop-at-once": "Replace the loop over small tensors with operators on one large tensor (stack, batch, einsum).",
	"launch.fix-loop-compiled": "Replace the loop over small tensors with operators on one large tensor (stack, batch, einsum). The " +
		"program compiles, but not these operators: TORCH_LOGS=graph_breaks says what keeps them out.",
	"launch.fix-sequence": "Take out of this loop what does not need the element before (embeddings, projections of the input, the output " +
		"layer), and call it once for all elements. Where what remains is a recurrence that PyTorch has, hand the whole sequence to " +
		"nn.RNN, nn.GRU or nn.LSTM; else work on more sequences at once.",
	"launch.fix-cells": "Hand whole sequences to nn.LSTM, nn.GRU or nn.RNN in one call instead of calling a cell for " +
		"each element. The layer takes the cell's weights and goes over the elements itself.",
	"launch.batch": "{own} an item; the {kind} steps of this run take {other} an item in batches of {others}, whatever they do " +
		"beside the forward pass included",
	"launch.fix-batch": "Hand over more at once: a larger batch_size for this loader, or slices of many items in this loop. What follows " +
		"(metrics, .item()) then runs once per batch, too.",
	"launch.caveat-batch": "Inputs of different sizes must be padded or sorted by size to share a batch, and larger batches take more " +
		"memory. A metric that is an average over batches must weigh them.",
	"launch.fix-recurrent": "Hand the whole sequence to the layer in one call (out, state = lstm(x)): it goes over the " +
		"elements itself. What follows it can take all of its outputs at once, too.",
	"launch.fix-call": "Give one call more to do (a larger batch, several requests together), or let torch.compile " +
		"fuse the model's operators.",
	"launch.fix-call-more": "Give one call more to do: a larger batch, several requests together. With twice as much in each, half of the " +
		"calling is left. torch.compile hardly helps: of such operators on a CPU it saves a quarter at most, and often it costs time.",
	"launch.fix-each-gradient": "No optimizer runs here: where each sample's own gradient is wanted, torch.func.vmap(torch.func.grad(loss), " +
		"in_dims=(None, 0, 0)) gives those of many samples in one call.",
	"launch.fix-call-compiled": "Give one call more to do (a larger batch, several requests together). The program compiles, but not " +
		"these operators: TORCH_LOGS=graph_breaks says what keeps them out.",
	"launch.fix-spread-more": "Work on more at once: larger batches, several sequences or environments side by side. With twice as much " +
		"at once, half of the calling is left. torch.compile hardly helps: of such operators on a CPU it saves a quarter at most, and " +
		"often it costs time.",
	"launch.fix-rollout": "Step several environments side by side and compute for all of them in one call. Turns of this loop cannot " +
		"share a call: each needs the environment's answer to the one before.",
	"launch.fix-rollout-loss": "Act without gradients (torch.no_grad), and compute what a loss needs of many turns in one call afterwards. Or " +
		"step several environments side by side. Turns of this loop cannot share a call: each needs the environment's answer to the " +
		"one before.",
	"launch.fix-spread-compiled": "Work on more at once: larger batches, several sequences or environments side by side. The program " +
		"compiles, but not these operators: TORCH_LOGS=graph_breaks says what keeps them out.",
	"launch.fix-spread": "Let torch.compile fuse the operators on these lines, or work on more at once: larger batches, " +
		"several sequences or environments side by side.",
	"launch.fix-optimizer": "Let the optimizer update all parameters at once: build it with fused=True.",
	"launch.fix-unfused": "Update fewer and larger tensors, or let torch.compile fuse the optimizer's step: this optimizer has no fused " +
		"form here. With many parameters of a few thousand numbers each, foreach=True helps a little.",
	"launch.fix-own-optimizer": "Update all parameters at once: use an optimizer of torch.optim with fused=True, or torch._foreach_ " +
		"operators on lists of small tensors here.",
	"launch.fix-parameters": "Do it in one call for all of them: torch._foreach_mul_, torch._foreach_add_ and the like take lists of tensors. " +
		"Make the lists once.",
	"launch.fix-parameters-average": "Let one call change all of them: torch._foreach_lerp_(averaged, parameters, 1 - decay) on two lists of " +
		"tensors that are made once. AveragedModel of torch.optim.swa_utils does it with multi_avg_fn=get_ema_multi_avg_fn(decay).",
	"launch.fix-parameters-norm": "Ask for all norms in one call: torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients))), and " +
		"read it back with item() only where it is printed.",
	"launch.fix-at-once": "Do all turns in one call. Parts of a tensor: make them a dimension of it (view, unfold, permute, flatten), and call " +
		"once. Layers of the same shape, each for a part: one Conv1d or Conv2d with groups, or torch.baddbmm with their weights stacked. " +
		"Layers on the same input: one layer with all outputs. Losses: one call for all, with reduction=\"sum\" or the mean as before. " +
		"Whole networks: torch.func.stack_module_state and torch.vmap.",
	"launch.fix-penalty": "Add the penalty's gradient, not the penalty. A sum of squares is what the optimizer's weight_decay=2 * factor " +
		"adds in SGD and Adam. For others, and for AdamW, add it to all gradients in one call after backward(), under torch.no_grad(): " +
		"torch._foreach_add_(gradients, parameters, alpha=2 * factor), and of absolute values torch._foreach_sign(parameters) in " +
		"place of the parameters.",
	"launch.caveat-at-once": "All turns at once need the memory of all of them. How much time remains depends on how the batched code is " +
		"written.",
	"launch.caveat-penalty": "The loss is then without the penalty. Parameters whose penalty is left out need lists, or groups, of their own.",
	"launch.caveat-parameters": "On a CPU large parameters gain less: their numbers are read and written all the same. Lists of tensors keep " +
		"what they hold alive, and a module that replaces a parameter is no longer followed.",
	"launch.fix-lists":           "Let the optimizer update all parameters in one call: build it with fused=True in place of foreach.",
	"launch.caveat-traced":       "The saving is estimated from traced steps, with the cost of tracing taken out.",
	"launch.caveat-no-steps":     "The run has no steps, so traced and untraced ones cannot be compared.",
	"launch.caveat-form":         "How much time remains depends on how the batched code is written.",
	"launch.caveat-graph-breaks": "How much time remains after fusing depends on where the compiled code has to stop.",
	"launch.caveat-compile": "torch.compile costs time at the start: 13 to 25 s were measured, a fifth of that once its cache is filled. " +
		"On a CPU that is taken off what this run would save.",
	"launch.caveat-larger-batches": "Larger batches change how a model learns.",
	"launch.caveat-environments":   "More environments change what an agent has seen between two updates.",
	"launch.caveat-optimizers":     "What one call leaves depends on the parameters' sizes: from nothing to three quarters was measured.",
	"launch.caveat-foreach":        "On a CPU foreach=True makes parameters of ten thousand numbers and more slower, not faster.",
	"launch.caveat-generating": "While generating, the loop must stay where the next element depends on the answer to the one " +
		"before, as in a decoder that reads its own words. While learning from known words it need not.",
}
