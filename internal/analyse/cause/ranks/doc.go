// Package ranks has the rules on jobs of several ranks: communication that nothing hides, and the rank that the others wait for.
//
// It does not find why a rank is late by itself: the rules on one process are handed in as a trial.
package ranks
