// Package testkit holds what tests of several packages share: a builder of small traces, and a second reader of traces
// that is slow and obvious (encoding/json, maps, searches instead of indexes) to hold the fast one against.
//
// It does not run in the program: only tests import it.
package testkit
