// Package record owns the session directory of docs/session.md: names of its files, the manifest, what a launcher
// notes of its machine and program, program texts kept beside the measurements, and the single file that pack makes of
// it. Writers put whole files in place atomically and readable by their owner only; readers bound what they take in.
//
// It does not interpret measurements or launch programs.
package record
