// Package overlay makes a change in a copy of a program's sources. A copy is a folder of links to everything in the original one, except
// the changed file, which is a file of its own with the folders above it: whoever runs the copy runs the changed file, and everything that
// it imports or reads beside it. A change is also written as a patch.
//
// The original files are read, never written. It does not run anything.
package overlay
