// Package times holds stretches of a session's time: windows that are in order and apart, what they cover together, and
// the events of many threads in one order.
//
// It does not know what happens in a stretch.
package times
