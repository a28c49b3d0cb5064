// Package account says where the time of a step goes: the parts of a process's steps from spans, samples and traced
// operators, and the parts of a trace's steps from its events. An account closes: its parts sum to the steps, and what
// nothing explains is a part of its own.
//
// It does not say what is wrong (analyse/cause does).
package account
