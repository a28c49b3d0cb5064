// Package cause finds why a program is slow. Rules read facts and answer with drafts: place, evidence, saving, fix and caveat. They live in
// rooms, one for each family of causes; facts of a run of ours are package facts', those of a trace from elsewhere are what its devices did
// (traced.Traced).
//
// The registry lists the rules, and one engine asks them in their order. A rule is pure: it changes no facts, and says in its draft what it
// claims. The engine books that in the ledger, which later rules read; a trial of rules, such as the one that tells why a rank is late,
// books in a clone. Find then shares out the time of the account, so that none of it is claimed twice, settles prices beside each other,
// and ranks what is left. Numbers of prices stand in package price, sentences in package wording.
//
// It does not read files, measure, or format a report, and it looks for no particular program: rules hold in general.
package cause
