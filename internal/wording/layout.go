package wording

// layoutTexts are about memory layouts.
var layoutTexts = table{
	"layout.converts":    "{share} of the devices' time is spent converting tensors between memory layouts",
	"layout.conversions": "{time} in {n conversion}, most in {kernel}",
	"layout.title-last":  "{share} of {each} is convolutions that are faster in another memory layout",
	"layout.fix-one":     "Keep the model and its input in one layout: channels_last, which its convolutions prefer.",
	"layout.caveat-back": "Operators without a channels-last form convert back.",
}
