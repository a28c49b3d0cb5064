package wording

// againTexts are about what is computed again although it could have been kept.
var againTexts = table{
	"again.title-prefix":  "{share} of {each} computes the whole sequence again for each new token",
	"again.title-writing": "{share} of the run computes the whole sequence again for each new token",
	"again.writing":       "{time} in this call, within a loop that appends to what it is called with",
	"again.basis-writing": "the loop's source tells it, samples tell its time; how the calls grow was not traced",
	"again.title-frozen":  "{share} of {each} asks a network that does not learn for the same answers in each epoch",
	"again.title-twice":   "{share} of {each} asks a model a second time for its answer to the same batch",
	"again.title-same":    "{share} of {each} asks a network that does not change for its answer to the same input",
	"again.title-inputs":  "{share} of {each} computes anew what comes of inputs that stay the same",
	"again.asked-twice":   "{time} per {unit} in this call of the model, beside another one with the same tensors",
	"again.asked-same":    "{time} per {unit} in this call; its weights and the tensors that it is given are the same as before",
	"again.asked-inputs": "{time} per {unit} in lines through which no gradient goes and which draw nothing at random, in a model that is " +
		"given the same tensors each time",
	"again.asked-unchanging": "{time} per {unit} in lines through which no gradient goes, which draw nothing at random, and whose names get " +
		"their values before the loop, as the program's text tells",
	"again.asked":     "{calls call} of the model were looked at",
	"again.fix-twice": "Call the model once for a batch, and use its answer for both (out = model(x); loss and accuracy of out).",
	"again.fix-same":  "Ask once, before the loop, without gradients (with torch.no_grad()), and keep the answer.",
	"again.fix-part": "Compute this once, before the loop, and give the model the result in place of what it is computed from (as an " +
		"argument of its forward).",
	"again.fix-inputs": "Compute this once, before the loop, and give the model the result; in a layer of a library, an option that caches " +
		"it (GCNConv(cached=True)).",
	"again.title-ordered": "{share} of {each} puts the entries of a sparse matrix in order again for each product with it",
	"again.ordered": "{time} per {unit} in the products, forward and backward, before they multiply; {times} times in a traced {unit}, which " +
		"waits for the device each time",
	"again.fix-ordered":    "Order it once, where it is made: matrix = matrix.coalesce().",
	"again.caveat-ordered": "A matrix that is made anew in each step is still ordered there, once.",
	"again.fix-unchanging": "Compute this once, before the loop or where the object is made, and use the result in each step.",
	"again.title-unmade":   "{share} of {each} computes the same of a large tensor that stays as it is",
	"again.unmade": "{time} per {unit} in operators that read only a tensor of {shape} numbers, which no operator of a {unit} makes, and what " +
		"was computed of it",
	"again.caveat-unmade": "This holds where the tensor is the same in each step: who hands over another one of the same shape each time, ready " +
		"on the device, needs the operators.",
	"again.caveat-unchanging": "The text does not show who else writes into these tensors: check that nothing does between two steps.",
	"again.caveat-updated":    "Here the second answer comes after the weights were updated; in its place comes the one from before.",
	"again.caveat-dropout":    "A dropout draws numbers in one of the two: the answers differ a little.",
	"again.title-validation":  "{share} of the run goes through the validation data, {times} times an epoch",
	"again.validations":       "{rounds round} of {time} each, one after {steps training step}",
	"again.epoch":             "an epoch of the training's DataLoader has {batches} batches",
	"again.fix-validation": "Validate once an epoch, or go through a part of the validation data in between: what this run would save is the " +
		"time of the rounds that go.",
	"again.caveat-validation":       "What stops a training, or chooses a checkpoint or a learning rate by these rounds, then knows less of it.",
	"again.title-jacobian":          "{share} of {each} computes Jacobians backward, of functions that give more numbers than they take",
	"again.title-jacobian-run":      "{share} of the run computes Jacobians backward, of functions that give more numbers than they take",
	"again.title-jacobian-rows":     "{share} of {each} computes Jacobians row by row",
	"again.title-jacobian-rows-run": "{share} of the run computes Jacobians row by row",
	"again.jacobian": "{time} in {calls call} of this line; a function that takes {inputs number} gives {outputs}, and each of them is a row that " +
		"goes backward",
	"again.jacobian-calls": "calling the functions takes {time} of it",
	"again.fix-jacobian": "Compute it forward, which takes a pass for each number that goes in: torch.func.jacfwd in place of jacrev. " +
		"With a function that cannot go forward, keep jacrev.",
	"again.fix-jacobian-rows": "Compute all rows in one pass: torch.autograd.functional.jacobian(f, x, vectorize=True), or torch.func.jacrev(f)(x); " +
		"the same for hessian.",
	"again.fix-jacobian-forward": "The function takes fewer numbers than it gives: torch.func.jacfwd(f)(x) takes a pass for each of them.",
	"again.caveat-jacobian": "Going forward calls the function's operators at several times their usual cost, so that functions of many small " +
		"operators gain less, or nothing.",
	"again.caveat-jacobian-rows": "All rows at once take as many times the memory of one.",
	"again.caveat-cheaper":       "The rounds count without the {time} that other findings save in them.",
	"again.untracked":            "{time} per {unit} in a module through whose operators no gradient goes, and which draws nothing at random",
	"again.rounds":               "the program goes through its data {rounds} times",
	"again.fix-frozen": "Let this network answer once for each sample, before the first epoch, and train on what it answered " +
		"(TensorDataset(answers, targets), or a file).",
	"again.caveat-frozen": "This holds where a sample is the same in each epoch: not where it is cropped, flipped or drawn anew. In " +
		"training mode batch normalisation answers by what else is in the batch: call eval() on the network.",
	"again.title-backward": "{share} of {each} goes backward through the same graph again, from the same output",
	"again.backward": "{passes} backward passes in a traced {unit}; {again} of them from an output from which another pass of the {unit} " +
		"began",
	"again.backward-time": "{time} of a traced {unit} lie in what these passes call once more, and in passes through the graphs that they make",
	"again.fix-backward": "Ask for the gradients of one output with respect to all inputs in one call: " +
		"torch.autograd.grad(output, (x, y, t), …). Where an earlier pass gave the same gradients, use those.",
	"again.caveat-backward": "Each of these passes goes backward from ones, as far as the trace shows. With another grad_outputs each, " +
		"they cannot become one.",
	"again.title-thrown": "{share} of {each} computes gradients of one loss that are thrown away before they are used",
	"again.title-losses": "{share} of {each} goes backward through the same graph again, for another loss",
	"again.losses": "{passes} backward passes in a traced {unit}; {nodes} nodes of the graph are called in one and again in a later one, from " +
		"another loss",
	"again.thrown": "{gradients} gradients of parameters come of these nodes in a traced {unit}; they are gone when the later pass comes, and " +
		"the optimizer that steps in between has other parameters",
	"again.losses-time": "{time} of a traced {unit} lie in these nodes, in the pass that need not call them",
	"again.fix-detach": "Call detach() on what this loss is computed from but does not train, such as the generator's output in the " +
		"discriminator's loss. The pass ends there then, and needs no retain_graph=True.",
	"again.fix-add":       "Add the losses and call backward() once: the gradients are the same.",
	"again.fix-add-or":    "Where the gradients of both losses are wanted, add the losses and call backward() once: the gradients are the same.",
	"again.caveat-thrown": "This holds where nothing else reads the gradients before they are cleared: not for a hook or a log of their norms.",
	"again.caveat-added":  "This does not hold where a hook or a log needs the gradients of each loss apart.",
	"again.title-in-loop": "{share} of {each} computes the same again in each turn of a loop",
	"again.in-loop": "{op} is called {turns time} in a traced {unit} with inputs of the same shapes, in turns of the loop at line {line}, and " +
		"all that it is given has its value before the loop, as the program's text tells",
	"again.in-loop-time":        "{time} per {unit} in all turns but one, with their backward passes",
	"again.fix-in-loop":         "Compute this once, before the loop, and use the result in each turn; where a function does it, hand the result over.",
	"again.caveat-in-loop":      "The text does not show who else writes into these tensors: check that nothing does between two turns.",
	"again.title-activations":   "{share} of {each} computes activations again for the backward pass",
	"again.traced-activations":  "{share} of the devices' time is spent on activations that are computed again for the backward pass",
	"again.activations-kernels": "{kernels kernel} are launched again in backward passes, {time} of work; beside {hidden} of it a collective runs",
	"again.activations":         "{time} per {unit} in layers that a backward pass calls again; {counting} of bookkeeping beside them",
	"again.activations-device":  "{again} of the {all} that the device computes for a traced {unit} are activations computed again",
	"again.activations-room":    "the program takes {bytes} of memory at its peak, of {total}",
	"again.fix-activations": "Keep the activations where memory allows it: call these layers without checkpoint(); with Hugging Face's " +
		"trainers, gradient_checkpointing=False (TRL's switch it on by themselves). Or do it in fewer layers: in those that keep most " +
		"and compute least.",
	"again.caveat-activations": "Checkpointing saves memory: without it all activations are held until the backward pass has used them.",
	"again.rows":               "{rows row} in a step, {more} more than in the step before, {steps step} in turn: all tokens so far, not the new ones",
	"again.rows-asked": "{calls call} of the model in turn are given {more row} more each, the last one {rows}: all tokens so far, not the " +
		"new ones",
	"again.caveat-long": "The texts are long from their beginning, so that the steps' time does not show what a token adds; the saving is a " +
		"share from experience. It is none where what comes later changes what a model makes of the tokens before, as in one that " +
		"attends both ways, or where rows are a graph's or a history's that is no text.",
	"again.longer":          "a step without a profiler grows from {first} to {last} while {tokens token} are added",
	"again.one-token-calls": "calling the operators of a step takes {calls}, which one token needs as well",
	"again.fix-encoder": "What works on {name} alone, which stays the same for all tokens, as an encoder does, needs to run once: call it " +
		"before the loop, and give the model its answer.",
	"again.fix-prefix": "Keep each layer's keys and values of the tokens before (a KV cache), and give the model only the newest token. " +
		"Hugging Face's models do it with use_cache=True; in a model of your own, attention appends the new ones to those kept.",
	"again.caveat-prefix": "Once a sequence is cut to the model's longest one, places move, and what was kept fits only models whose " +
		"positions are relative.",
	"again.caveat-writing-device": "As many operators are called for one token: where launching them takes the time, little is saved.",
}
