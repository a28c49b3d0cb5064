package wording

// syncTexts are about waits for a device.
var syncTexts = table{
	"sync.waits":  "{share} of {each} is spent waiting for the device",
	"sync.calls":  "{time} per {unit} in calls that return only when the device is done",
	"sync.traced": "{share} of the devices' time is idle because the program waited for them",
	"sync.fix-keep": "Keep values on the device until they are needed (loss.detach() instead of loss.item()), and copy them only every " +
		"n-th step.",
	"sync.caveat-gap": "A wait in which the device works is not lost: only the gap after it is. The lower bound is therefore 0.",
}
