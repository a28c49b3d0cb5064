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
	"python.fix-library": "Call {library} less often (every n-th step), for more at once, or before the loop where its " +
		"answers can be kept. Or do the same with operators on tensors.",
	"python.caveat":         "Native code of other libraries, such as NumPy's or pandas', counts as Python here.",
	"python.caveat-library": "What {library} does inside is not taken apart, and its own threads are not counted.",
	"python.title-text":     "{share} is spent writing tensors or arrays as text",
	"python.text":           "{time} per {unit} in the code that makes text of them, and in the operators that it calls",
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
	"python.basis-between":        "{samples sample} between steps",
	"python.title-between":        "{share} of this run is Python code between the steps",
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
