// Package wording has the sentences of findings: a table of texts per cause, each with places for facts. A rule says which text and
// gives the facts; how a number is written is decided here, so that it is written one way everywhere.
//
// A template's {id} stands for a fact; {id worker} for a count with its noun, {id batch|batches} where the plural has a form of its own;
// {each} for "each step" or "the run", by the fact "unit".
//
// It does not decide which text is said, and of what: rules do (internal/analyse/cause).
package wording
