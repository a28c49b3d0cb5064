package wording

// precisionTexts are about number formats.
var precisionTexts = table{
	"precision.plain":     "{share} of the devices' time is spent on matrix products and convolutions in fp32 without matrix units",
	"precision.operators": "{time} in fp32 operators on {device}; most in {op} of {shapes}",
	"precision.kernels":   "{time} in kernels on {device} that are fp32 by their names; most in {kernel}",
	"precision.rate":      "{op} reaches {rate} TFLOP/s of {peak} possible in fp32",
	"precision.no-shapes": "{n such kernel}; the trace does not show their shapes",
	"precision.fix-tf32":  "Allow TF32 for products (fp32 range, 10 bits of mantissa), or run the forward pass in bfloat16 under autocast.",
	"precision.fix-float16": "Run the forward pass in float16 under autocast, in training with a GradScaler: this device's matrix units " +
		"take neither bfloat16 nor 32-bit inputs.",
	"precision.fix-half": "Run the forward pass in bfloat16 or float16 under autocast: this device has no faster rate for 32-bit " +
		"inputs.",
	"precision.caveat-digits":    "Results change in the last digits: check the loss.",
	"precision.no-fast-code":     "{share} of {each} is spent on convolutions in {format}, for which this CPU has no fast code",
	"precision.no-fast-products": "{share} of {each} is spent on products of matrices in {format}, for which this CPU has no fast code",
	"precision.no-fast-either": "{share} of {each} is spent on convolutions and products of matrices in {format}, for which this CPU " +
		"has no fast code",
	"precision.slow-products": "{time} per {unit} in products of matrices in {format}, which reach {rate} GFLOP/s, most in {op}; in float32 " +
		"a core reaches {low} to {high}",
	"precision.asks":     "the program asks for {format} at {at}",
	"precision.computes": "most of it is computed at {at}",
	"precision.slow-op": "{time} per {unit} in {op}, which PyTorch uses where its fast library does not know the format ({calls call} " +
		"in {steps traced step})",
	"precision.slow-op-of-run": "{time} per {unit} in {op}, which PyTorch uses where its fast library does not know the format ({calls " +
		"call} in {steps traced stretch|traced stretches})",
	"precision.fix-float32":  "Keep model and inputs in float32 on the CPU: {format} saves memory there, not time.",
	"precision.fix-trainers": "Hugging Face's trainers: bf16=False and fp16=False (TRL's switch bf16 on by themselves).",
	"precision.fix-not-float64": "Use float32 for model and inputs where it is precise enough: NumPy's arrays are float64 unless you say " +
		"otherwise.",
	"precision.caveat-not-measured": "How much faster float32 is was not measured: the range is what convolutions of usual sizes gain.",
	"precision.caveat-twice":        "Weights take twice the memory in float32.",
	"precision.denormal":            "{share} of {each} is operators that read denormal numbers, which are too small to be kept whole",
	"precision.denormal-numbers":    "{found} of {read} numbers that a {module} was given are denormal (the model is called at {at})",
	"precision.denormal-met":        "the processor had met such numbers at {met} of {looks look}",
	"precision.denormal-products": "{slow} of {calls product} of matrices take more than twice as long as the fastest quarter of their " +
		"shapes, one {times} times as long",
	"precision.denormal-beyond": "{time} per {unit} beyond what these take: numbers that vanish on their way back through the model, as " +
		"through attention that is all but certain, are denormal",
	"precision.denormal-time": "{time} per {unit} in operators that read these",
	"precision.fix-denormal": "Have the processor take them for zero, at the beginning of the program: torch.set_flush_denormal(True). Or set " +
		"to zero what has decayed, before it gets so small (below 1.2e-38 in float32).",
	"precision.caveat-denormal": "Some processors handle them at full speed; a run with the change tells. " +
		"In float64 they begin at 2.2e-308.",
	"precision.double":           "{share} of {each} is computing in float64",
	"precision.double-operators": "{time} per {unit} in operators on float64 ({calls traced call}, the longest in {op})",
	"precision.means-double":     "the program asks for float64 at {at}: it may need the digits",
	"precision.fix-double": "Use float32 where it is precise enough: .float() on the model, and dtype=torch.float32 or " +
		".astype(numpy.float32) where the data become tensors. NumPy's arrays are float64 unless you say otherwise.",
	"precision.caveat-double": "This is no fault where the computation needs the digits. Half of the time is what matrix products gain, " +
		"and recurrent layers gain more. The range was not measured on this program.",
}
