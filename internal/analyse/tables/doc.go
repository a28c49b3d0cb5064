// Package tables holds the analyses whose result is one table, which reports show as it is. A new one is a file with its
// Analysis, its test, and a line in tables.go.
//
// It does not format numbers: a column names its unit.
package tables
