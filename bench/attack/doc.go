// Command attack uses the tool as somebody who means harm would, and says what did not hold. Each family makes its cases from a seed and a
// number, so that a bad one can be had again; nothing is stored. (Sessions are recorded anew each time: what begins with one of their files
// can differ, and is had again from KEEP.) All cases drive the real binary. `make attack` runs it: MINUTES (2) bounds it,
// SEED, FAMILIES and CASE choose, KEEP=DIR keeps the files of bad cases, BOTTLENECK names another binary.
//
// A case is bad where the binary panics, hangs (30 s of its own time, or asleep for so long), takes more than 1 GB for an input of at most
// 100 MB without a word about it, ends with a status that it does not promise, writes a file that nobody asked for, follows a link out of a
// session, lets a planted secret into a redacted archive, steers a terminal, or changes what the program under study prints, ends with or
// costs. What was found once is in the family regressions, which runs first.
//
// It does not judge whether a report is right, only that making it harms nobody.
package main
