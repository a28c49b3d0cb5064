// Package keyaverages computes what torch.profiler prints: its list of function events and its key averages, equal to
// PyTorch's own.
//
// It does not lay out torch's tables (view does).
package keyaverages
