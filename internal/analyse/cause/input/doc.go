// Package input has the rules on waits for data: who fetches it, what slows that, and what workers would bring; and on waits of the step
// in queues of other threads and processes.
//
// It does not settle its prices beside other findings'.
package input
