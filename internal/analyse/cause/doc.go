// Package cause finds why a program is slow: one file per cause, each with rules that read facts and answer with drafts: place, evidence,
// saving, fix and caveat. Facts of a run of ours are the account of a step (analyse.StepBreakdown), spans, samples and traces; those of a trace
// from elsewhere are what its devices did (Traced).
//
// One engine asks the rules in their order. A rule is pure: it changes no facts, and says in its draft what it claims. The engine books that in
// the ledger, which later rules read; a trial of rules, such as the one that tells why a rank is late, books in a clone. Find then shares out
// the time of the account, so that none of it is claimed twice, settles prices beside each other, and ranks what is left. Numbers of prices
// stand in package price.
//
// It does not read files, measure, or format a report, and it looks for no particular program: rules hold in general.
package cause
