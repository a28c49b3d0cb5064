package wording

// layoutTexts are about memory layouts.
var layoutTexts = table{
	"layout.converts":    "{share} of the devices' time is spent converting tensors between memory layouts",
	"layout.conversions": "{time} in {n conversion}, most in {kernel}",
	"layout.fix-one":     "Keep the model and its input in one layout: channels_last, which the convolutions of the device prefer.",
	"layout.caveat-back": "Operators without a channels-last form convert back.",
}
