// Package units writes numbers: one spelling of each unit for reports, pages and messages. It does not round what documents hold.
package units
