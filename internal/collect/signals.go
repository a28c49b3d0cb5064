package collect

// reaction is what the waiting loop must do after a signal, beyond what handle did.
type reaction uint8

const (
	nothingMore      reaction = iota
	askedToEnd                // SIGTERM or SIGHUP: the scheduler will kill us before long
	interruptedAgain          // a second Ctrl-C
)
