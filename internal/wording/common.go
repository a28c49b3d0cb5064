package wording

// common are texts that several causes share.
var common = table{
	"basis.samples":         "{samples sample} in {steps step}",
	"basis.samples-of-run":  "{samples sample} of the run",
	"basis.few-samples":     "200 samples and 10 steps would be enough",
	"basis.intervals":       "{intervals measured interval} in {steps step}",
	"basis.intervals-run":   "{intervals measured interval} in the run",
	"basis.few-steps":       "10 steps would be enough",
	"price.repeated":        "its operators were run again under the fix",
	"price.fitted":          "the share that a fix saves is fitted to other programs",
	"price.wide":            "its bounds are far apart",
	"price.guess":           "the share that a fix saves is a guess",
	"measured.less":         "measured: {ops recorded operator} run again with {fix} take {share} less",
	"measured.no-gain":      "measured: no gain: {ops recorded operator} run again with {fix} take {take}",
	"measured.as-long":      "as long",
	"measured.longer":       "{share} longer",
	"measured.hardly":       "only {share} less",
	"measured.title":        "{title} (measured: no gain)",
	"measured.fix-none":     "None: another number of threads or cores makes the operators no faster.",
	"measured.caveat":       "Measured on each operator alone: what runs beside it in the program can take some of the gain.",
	"measured.caveat-after": "Measured on each operator alone, after the program's end.",
	"measured.caveat-rest":  "What was run again gains nothing; the saving is a range from experience for the other operators.",
	"measured.basis":        "measured after the program's end on {ops operator}, {of} of {all} per step",
	"measured.crowded":      "on a machine of which other programs took {cores} cores",
	"growth.fix":            "Its time grows with each step: let it work on what is new, and keep sums or counts of what was before.",
	"copy.fix-both":         "A copy from pinned memory waits for nothing where the call says so: x.to(device, non_blocking=True).",
	"io.also":               "{what} ({at})",
	"counted-elsewhere":     "part of this time is counted under another finding",

	// What a share is of, and who is waited for.
	"share-of.each":  "{share} of {each}",
	"share-of.loop":  "{share} of the loop's time (about every {nth} step)",
	"side.thread":    "another thread of the same process",
	"side.threads":   "other threads of the same process",
	"side.process":   "process {pid}",
	"side.processes": "{n process|processes}",
}
