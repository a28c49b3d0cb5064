package wording

// gradientsTexts are about gradients that no optimizer uses.
var gradientsTexts = table{
	"gradients.title":  "{share} of {each} computes gradients that no optimizer uses",
	"gradients.counts": "a backward pass computes the gradients of {all parameter}; the program's optimizers change {used parameter}",
	"gradients.thrown": "{passes} backward passes for each update make the gradients of {used parameter} anew, and those of an input; the optimizer " +
		"uses the last ones",
	"gradients.fix-thrown": "Where only the input's gradient is wanted, ask for that alone: grad, = torch.autograd.grad(loss, x) in place of " +
		"loss.backward() and x.grad. Then no parameter's gradient is computed, and none has to be cleared.",
	"gradients.caveat-thrown": "Parameters' gradients that the program reads itself between two passes are needed.",
	"gradients.time":          "{time} per {unit} in the backward pass",
	"gradients.title-graph":   "{share} of {each} keeps a graph for a backward pass that never comes",
	"gradients.title-after":   "{share} of the run, after the last step, keeps a graph for a backward pass that never comes",
	"gradients.after": "{time} in functions that call the model then, of which the kernel takes {system} to give new memory: it grows from " +
		"{least} to {most}, for a graph holds on to what is computed",
	"gradients.after-lines": "no line around these calls stands within torch.no_grad or torch.inference_mode, and nothing goes backward then",
	"gradients.caveat-after": "The lines were read, not the program's state: where gradients are switched off in another way, this is untrue. " +
		"Traces hold steps alone.",
	"gradients.nodes": "{nodes node} of autograd's graph per {unit}, and no backward pass",
	"gradients.fix-graph": "Run this under torch.inference_mode(), or under torch.no_grad() where what comes out is changed in place or " +
		"trained on later.",
	"gradients.caveat-graph": "Memory that the graph holds is given back later, too: where results are large, more may be saved than making " +
		"its nodes takes.",
	"gradients.fix": "Switch gradients off for what is not trained, before the first step: model.requires_grad_(False), then " +
		"requires_grad_(True) for what the optimizer gets. Layers below that need no backward pass then, and keep no graph.",
	"gradients.model": "{weights weight} of {class} get gradients in each backward pass, and no optimizer has them",
	"gradients.fix-model": "Switch gradients off for what is not trained, before the first step: requires_grad_(False) on the {class}. " +
		"Gradients for its input still go through it; what it computes of inputs that need none keeps no graph then. eval() does not do " +
		"that.",
	"gradients.caveat-model": "Gradients that the program reads itself are needed: an update by hand or a penalty. Weights of which the " +
		"optimizer has none may have been left out by mistake.",
	"gradients.caveat": "Gradients that the program reads itself are needed: an update by hand, a penalty, an attack on the input. Layers of " +
		"which the optimizer has none may have been left out by mistake.",
}
