// Package model holds one session in columns: strings, processes with their steps, spans and samples, and traces with
// their operators, kernels, copies, launches and memory events. Readers in package ingest build it, package analyse
// reads it. Check states its invariants; readers' and exporters' tests call it.
//
// It does not read files, compute results or format anything.
package model
