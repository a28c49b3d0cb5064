// Package timed has the rules on what the agent timed exactly: compilation, files and networks, and first steps.
//
// It does not price what samples alone show.
package timed
