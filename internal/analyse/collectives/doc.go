// Package collectives puts ranks beside each other: the collectives that all of them called, by how much their clocks
// differ, who came late, and what was sent in which time.
//
// It does not know what else a rank did, beyond what it computed meanwhile.
package collectives
