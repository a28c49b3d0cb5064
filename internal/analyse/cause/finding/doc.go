// Package finding has what a rule answers with: a finding with its place, evidence, fix and confidence, as facts and actions without
// sentences; the draft in which it claims time; and the ledger of what others have claimed, as rules may read it.
//
// It does not know how anything is found.
package finding
