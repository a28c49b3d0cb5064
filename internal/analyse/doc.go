// Package analyse cuts a session to the window that a report is asked for. Beneath it lie the analyses, each a pure
// function of the session's model; every breakdown has an explicit unknown or idle part and its parts sum to the whole:
// what names mean (naming), recorded arguments (arguments), stretches of time (times), the program's code (code); the
// account of a step (account), devices (device), what torch prints (keyaverages), one table each (tables), memory
// (allocations), counts of each step (counts), ranks (collectives), the critical path (criticalpath); on top of them replay
// and cause.
//
// Data flows through them one way: traces in columns come in, small slices of plain structs go out, sorted, never nil.
//
// It does not read files or the clock, format numbers for people, or decide what is a defect (analyse/cause does).
package analyse
