// Package turns runs two sides of a comparison in turns, in a balanced order, until the question is decided, the budget is used up,
// somebody
// asks it to stop, or a side keeps failing. What a run is and what decides is its caller's: pairs come out in the order in which they were
// made, each with one run of both sides, and failed runs by their names.
//
// A run waits for a machine that other programs leave alone, for a while.
//
// It does not print, and it does not know what is compared.
package turns
