package wording

// pythonTexts are about the interpreter: Python code, waits for the interpreter's lock, and calls that hold up an event loop.
var pythonTexts = table{
	"python.title":         "{share} is Python code between operators",
	"python.title-library": "{share} is code of {library}, called between operators",
	"python.busy":          "{time} per {unit} in the interpreter here while no operator runs",
	"python.hottest":       "{share} of it is on the hottest line",
	"python.collections":   "{time} of it is spent in garbage collections that the objects made here cause",
	"python.of-library":    "{share} of it is spent in code of {library}, its native code included",
	"python.fix": "Work on whole tensors or arrays instead of single elements, keep results where the same input " +
		"comes again, do it every n-th step, or move it out of the loop.",
	"python.fix-loss": "Work on whole tensors or arrays instead of single elements, or keep results where the same input comes " +
		"again. The loss is computed from it: each step needs it.",
	"python.inside":            "{share} of it is in {function} of {file} itself",
	"python.title-environment": "{share} is stepping environments",
	"python.fix-environment": "Use a form of the environment that steps many in one call, where there is one (Gymnasium's make_vec with " +
		"vectorization_mode=\"vector_entry_point\", EnvPool, environments on tensors), or leave out wrappers and checks that are not " +
		"needed (disable_env_checker=True). Processes of their own (AsyncVectorEnv) help only where a step takes longer than handing " +
		"it over, some 0.1 ms.",
	"python.fix-library-loss": "The loss is computed from what {library} returns here, so that each step needs it: give it less to " +
		"do (options that switch its checks off, inputs in the form that it works in, what comes again kept from the step before), or " +
		"do the same with operators on tensors.",
	"python.fetched": "what it works on is fetched from the device at {at}, and no device has work meanwhile (at {share} of " +
		"{samples sample} in traced steps)",
	"python.fix-round-trip": "Do the same with operators on tensors, where they lie: nothing is then fetched, and the device need not " +
		"wait for {library}'s answer. The loss is computed from it: each step needs it.",
	"python.fix-library": "Call {library} less often (every n-th step), for more at once, or before the loop where its " +
		"answers can be kept. Or do the same with operators on tensors.",
	"python.framework": "{share} of it is{in}, the framework's own function with most of it",
	"python.fix-framework": "It is what {library} does around each step, whatever the model: give each step more to do (a larger " +
		"batch), or run this loop without the parts of {library} that it does not need.",
	"python.fix-progress": "Leave the progress bar out (enable_progress_bar=False in Lightning's Trainer), or draw it more rarely " +
		"(TQDMProgressBar(refresh_rate=100)).",
	"python.fix-logged": "Log more rarely: log_every_n_steps in the Trainer, self.log(..., on_step=False) for what is read once an " +
		"epoch, and no self.log for what nobody reads.",
	"python.fix-checkpoints": "Save more rarely: every_n_train_steps or every_n_epochs of ModelCheckpoint, or enable_checkpointing=False.",
	"python.fix-profilers":   "Leave the trainer's profiler out (profiler=None) except while you measure.",
	"python.fix-callbacks":   "Leave out callbacks that are not needed, or let them act on every n-th step only.",
	"python.fix-metrics": "Update metrics on every n-th step or with several batches at once, compute them once an epoch, and build " +
		"them with validate_args=False.",
	"python.title-validated": "{share} is spent checking the arguments and values of distributions",
	"python.validated":       "{time} per {unit} in torch.distributions' checks, and in the operators that they call",
	"python.fix-validated": "Switch the checks off once the program works: " +
		"torch.distributions.Distribution.set_default_validate_args(False), or validate_args=False where the distribution is built.",
	"python.caveat-validated": "Without the checks, wrong arguments (a negative scale, NaN) go on into the loss. python -O leaves them " +
		"out, too.",
	"python.title-parametrized": "{share} is spent computing parametrized weights anew at each use",
	"python.parametrized":       "{time} per {unit} in torch.nn.utils.parametrize and what it calls, from within a loop; backward passes come on top",
	"python.fix-parametrized": "Compute each weight once per forward pass, within a block: with torch.nn.utils.parametrize.cached(): keeps the " +
		"weights until its end. The backward pass may come after it.",
	"python.caveat-parametrized": "The weights must not change within the block: the optimizer's step belongs after it.",
	"python.caveat":              "Native code of other libraries, such as NumPy's or pandas', counts as Python here.",
	"python.caveat-library":      "What {library} does inside is not taken apart, and its own threads are not counted.",
	"python.title-text":          "{share} is spent writing tensors or arrays as text",
	"python.text":                "{time} per {unit} in the code that makes text of them, and in the operators that it calls",
	"python.fix-text": `Write them every n-th step, or only a number that sums them up. In a call of logging leave the ` +
		`formatting to it, log.debug("%s", x) instead of an f-string: text is then made only where the level asks for the line.`,
	"python.caveat-text": "To choose a format, the elements are fetched and compared one by one, which costs far more " +
		"than the printing itself.",
	"python.title-copies": "{share} is spent making deep copies of objects",
	"python.copies":       "{time} per {unit} in copy.deepcopy or copy.copy, and in the operators that they call",
	"python.fix-copies": "Keep one copy and renew its values in place, all tensors at once (torch._foreach_copy_, " +
		"torch._foreach_lerp_, load_state_dict). Or copy only the values that are needed, when they are needed.",
	"python.caveat-copies": "A deep copy goes through each object, parameter and buffer one by one. Where the original " +
		"changes before the copy is used, some copy must stay.",
	"python.title-beside":  "{share} of {each} is spent computing values that no gradient needs",
	"python.beside":        "{time} per {unit} in operators called here, and in the interpreter around them",
	"python.beside-traced": "in the traced steps no backward pass used their results ({samples sample})",
	"python.fix-beside":    "Compute them every n-th step (if step % 100 == 0:), or only the few that are looked at.",
	"python.caveat-beside": "Counted here is what no gradient flows through and what is read back to Python. A value that " +
		"steers the next step, such as an action, must stay.",
	"python.title-validation":     "{share} is spent validating the model",
	"python.validation":           "a loss judges a network's answers here, and no gradient flows through it",
	"python.fix-validation":       "Validate every n-th step or once an epoch, or on a part of the data.",
	"python.fix-validation-rarer": "Validate more rarely than about every {nth} step, or on a part of the data.",
	"python.caveat-validation":    "Where the best weights are chosen by this value, there are fewer to choose from.",
	"python.basis-between":        "{samples sample} outside of the steps",
	"python.title-between":        "{share} of this run is Python code between the steps",
	"python.title-after":          "{share} of this run is Python code after the last step",
	"python.between":              "{time} here after the first step, outside of all steps",
	"python.fix-between": "Do it once and keep the result, do it less often, or make this code faster: work on whole " +
		"arrays instead of single elements.",
	"python.caveat-between": "The program pays for it each time it leaves its loop, not per step.",
	"python.title-anomaly":  "{share} of {each} is spent in autograd's anomaly detection",
	"python.anomaly-checks": "{time} per {unit} looking for NaN in each gradient",
	"python.anomaly-stacks": "{time} per {unit} recording the stack of each operator",
	"python.anomaly-where":  "most stacks are recorded{where}",
	"python.fix-anomaly": "Switch it off, except while you look for where a NaN comes from: detect_anomaly and " +
		"set_detect_anomaly are for finding errors.",
	"python.caveat-anomaly": "Without it, a backward pass that makes NaN goes on. Look at the loss every n-th step to notice.",
	"growth.thirds":         "it grows with the run: {first} per step in the first third of the steps, {last} in the last",
	"event-loop.runs":       "an event loop runs this code: no other coroutine runs meanwhile",
	"event-loop.fix": "Await an asynchronous client, or let a thread make the call (await asyncio.to_thread(...)): " +
		"the call holds up the event loop, and with it every other request.",
	"event-loop.caveat": "The saving assumes that there are other requests to answer meanwhile.",
}
