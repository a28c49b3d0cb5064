// Command zoo scores the verdicts on the programs of testdata/zoo: is the cause named, is its place right, is the promised
// saving the real one, is the cured twin left alone, and is nothing claimed on healthy programs. Each case is copied with
// names and sizes drawn from a seed, so that no rule can look for a case; `make zoo` runs it. What KEEP=DIR leaves, REPRICE=DIR prices
// again with another binary.
//
// A case is a folder with expect.json and either slow.py and fixed.py, or common files and the folders slow and fixed whose
// files are laid over them. docs/add-a-cause.md describes the fields of expect.json.
//
// It does not change the programs' behaviour beyond the drawn sizes, and it does not repeat a run until its result pleases: every
// profile and every pair counts.
package main
