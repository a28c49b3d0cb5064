// Package compare says what differs between two sets of runs of a program, and whether it is more than noise. It takes report documents
// and the program texts that were kept with them; matches rows of both sides by name, by caller and by the text of lines; makes an account
// of each kind of row that sums to the step's difference; and judges times by the spread from run to run, counters at once. Gates compare
// runs with a saved baseline by the same means.
//
// Here a step's time is the median of one run's steps, and the run is the sample: steps of one run are alike in ways that other runs are
// not. Proofs take the mean, which is what findings promise.
//
// It does not read files, print, or look at the clock.
package compare
