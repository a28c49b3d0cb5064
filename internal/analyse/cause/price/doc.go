// Package price is the price book: what the fix of each cause saves, as a share of the time that the rule measures in the run at hand, and
// the limits from which rules speak. Each price is one row with its origin: measured, fitted to programs, or a guess. Rules hold no number
// of their own; a test of package cause sees to it.
//
// A rule takes a row, and scales it by what it measured: price.Sync.Times(ns). Rows names all of them, for tests and for docs/prices.md.
//
// It does not read a session, and it does not know which rule uses a row.
package price
