// Package units writes numbers and short texts: one spelling of each unit, and one way to cut and clean a name, for reports, pages and
// messages.
//
// It does not round what documents hold.
package units
