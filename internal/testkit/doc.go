// Package testkit holds what tests of several packages share: a builder of small traces, and a second reader of traces
// that is slow and obvious (encoding/json, maps, searches instead of indexes) to hold the fast one against, and a builder
// of sessions with known answers: a program is a list of what its thread does in each step, sampled once per millisecond.
//
// It does not run in the program: only tests import it.
package testkit
