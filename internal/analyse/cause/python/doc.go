// Package python has the rules on the interpreter: code between operators, chores of libraries, work beside the training, garbage
// collections, the interpreter's lock, anomaly detection.
//
// It does not look into native code.
package python
