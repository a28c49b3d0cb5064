// Package usage reads what processes held and used over time, as the kernel counted it: whether memory grows with the steps.
//
// It does not look for what keeps the memory: a rule does (internal/analyse/cause/memory).
package usage
