package wording

// syncTexts are about waits for a device.
var syncTexts = table{
	"sync.waits":  "{share} of {each} is spent waiting for the device",
	"sync.calls":  "{time} per {unit} in calls that return only when the device is done",
	"sync.traced": "{share} of the devices' time is idle because the program waited for them",
	"sync.fix-keep": "Keep values on the device until they are needed (loss.detach() instead of loss.item()), and copy them only every " +
		"n-th step.",
	"sync.asks":       "{share} of {each} is spent in operators that ask the device for an answer",
	"sync.asks-count": "{asks} times per {unit} the program waits until the device has nothing left to do",
	"sync.asks-time":  "{time} per {unit} in these operators; the device computes for {computes} of the {unit}",
	"sync.fix-asks": "Leave shapes that depend on values out of the step: torch.where, or a product with the mask, in place of x[mask], " +
		"nonzero() and unique(). Read numbers (.item(), .tolist()) once for many steps, all in one tensor.",
	"sync.fix-asks-in-turn": "Where a loop asks for one item after the other, work on all of them at once: one question in place of many.",
	"sync.caveat-asks":      "The backward pass through these operators is included. What stands in their place takes time, too.",
	"sync.caveat-gap":       "A wait in which the device works is not lost: only the gap after it is. The lower bound is therefore 0.",
}
