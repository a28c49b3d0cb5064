// Package cause finds why a program is slow: one file per cause, each a rule that reads the account of a step
// (analyse.StepBreakdown), spans, samples and traces, and answers with findings: place, evidence, saving, fix and caveat.
// Find runs all rules, sees to it that no time is claimed twice, and ranks what is left.
//
// It does not read files, measure, or format a report, and it looks for no particular program: rules hold in general.
package cause
