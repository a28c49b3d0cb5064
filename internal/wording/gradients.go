package wording

// gradientsTexts are about gradients that no optimizer uses.
var gradientsTexts = table{
	"gradients.title":  "{share} of {each} computes gradients that no optimizer uses",
	"gradients.counts": "a backward pass computes the gradients of {all parameter}; the program's optimizers change {used parameter}",
	"gradients.time":   "{time} per {unit} in the backward pass",
	"gradients.fix": "Switch gradients off for what is not trained, before the first step: model.requires_grad_(False), then " +
		"requires_grad_(True) for what the optimizer gets. Layers below that need no backward pass then, and keep no graph.",
	"gradients.caveat": "Gradients that the program reads itself are needed: an update by hand, a penalty, an attack on the input. Layers of " +
		"which the optimizer has none may have been left out by mistake.",
}
