package wording

// nodemandTexts are about a server of which nothing is asked.
var nodemandTexts = table{
	"nodemand.title":         "{share} of {each} waits for requests: nothing is asked of the program",
	"nodemand.title-asleep":  "{share} of {each} waits for requests in this thread, while {other}",
	"nodemand.accepts":       "{t} per {unit} in a call that accepts work from outside, while no other process of the run works",
	"nodemand.meanwhile":     "meanwhile {other} ({samples sample})",
	"nodemand.thread":        "another thread of the same process sleeps or reads{in}",
	"nodemand.threads":       "other threads of the same process sleep or read{in}",
	"nodemand.fix":           "Look at the requests that are answered, or measure under load: waiting for requests is no defect.",
	"nodemand.fix-asleep":    "See what is waited for there: a request that hangs is not answered.",
	"nodemand.fix-dump":      "Run `bottleneck dump PID --locals`: it shows each thread with its variables.",
	"nodemand.caveat":        "A client that waits for its last answer before it asks again looks the same from here.",
	"nodemand.caveat-asleep": "A background thread that sleeps between its turns looks the same, and is no defect.",
}
