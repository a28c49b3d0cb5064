// Package again has the rules on what a program computes again although it could have kept it.
//
// It does not look at what is prepared again for each batch: that is package input's.
package again
