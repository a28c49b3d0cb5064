// Package cli is the command line: subcommands, flags, exit codes, progress, and advice when something fails. It is the
// only place that wires the other packages together: a command collects or reads a session, has it analysed, and hands the
// result to view or export.
//
// Exit codes: 0 fine, 1 the answer is "no", 2 usage, 3 the input cannot be used at all; run ends as its program ended.
//
// It does not measure, analyse or lay out anything itself.
package cli
