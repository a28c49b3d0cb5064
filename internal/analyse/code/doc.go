// Package code says where in the program something happened: whose code a file is, what the frames of a stack do, which
// line of the user's an event of a trace came from.
//
// It does not weigh what happened there.
package code
