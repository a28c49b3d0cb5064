// Command public judges the first finding on programs that people wrote for other ends: does the proposed change save what was promised?
//
// The programs are of public repositories, pinned by revision and by the hash of each file; they are fetched into a folder outside of the
// checkout and run unchanged, with data that data/make.py makes. programs.json says how. A program's changes are recorded there as edits by
// line, so that nothing of the program's own text is kept here. The original and the changed copy are timed in turns, with the run under
// the tool between them; what is had is kept in a file, from which an interrupted bench goes on and the table can be printed again.
//
// One half of the programs, by a hash of the name, is for building; the other one is looked at only when scoring.
package main
