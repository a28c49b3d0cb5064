// Package criticalpath walks back from the end of a step through threads, launches, devices and other ranks, to say what
// the step's time was spent on in turn. The spans of a path follow one another without holes.
//
// It does not say what a change would save (replay does).
package criticalpath
