// Package pysource reads lines of Python as far as rules must: which calls they hold, and what their statements set and use.
//
// It does not know causes, and runs nothing.
package pysource
