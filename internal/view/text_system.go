package view

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"fmt"
)

// heldAt are the parts of a process's life at which the text says what it held.
const heldAt = 4

// heldMemory is what processes held over time, seen from outside.
func (p *printer) heldMemory() {
	rows := p.systemRows()
	if len(rows) == 0 || !p.opt.All && !p.asked() {
		return
	}
	p.heading("Memory of processes", "resident: private, files' and shared pages; at parts of the time that it was looked at")
	columns := []column[report.SystemRow]{{"process", func(r *report.SystemRow) string { return r.Process }, rest}}
	for part := range heldAt + 1 {
		name := fmt.Sprintf("%d %%", 100*part/heldAt)
		columns = append(columns, column[report.SystemRow]{name, func(r *report.SystemRow) string { return residentAt(r, part) }, number})
	}
	last := func(of func(*report.HeldPoint) int64) func(*report.SystemRow) string {
		return func(r *report.SystemRow) string {
			n := of(&r.Held[len(r.Held)-1])
			if n <= 0 {
				return unknown
			}
			return units.Bytes(float64(n))
		}
	}
	writeKnown(p, append(columns, []column[report.SystemRow]{
		{"peak", func(r *report.SystemRow) string { return units.Bytes(float64(r.PeakBytes)) }, number},
		{"private", last(func(h *report.HeldPoint) int64 { return h.Private }), number},
		{"shared", last(func(h *report.HeldPoint) int64 { return h.Shared }), number},
		{"swapped", last(func(h *report.HeldPoint) int64 { return h.Swapped }), number},
		{"PSS", func(r *report.SystemRow) string { return known(r.ProportionalBytes, units.Bytes) }, number},
	}...), rows[:p.rows(len(rows), 12)])
	p.wrap("  ", "  ", "private and what follows are of the end; shared memory is counted in each process that has it. PSS, known of "+
		"forks, divides a page among the processes that have it.")
}

// residentAt is what a process held after so many parts of its life.
func residentAt(r *report.SystemRow, part int) string {
	h := &r.Held[part*(len(r.Held)-1)/heldAt]
	return units.Bytes(float64(h.Private - h.Swapped + h.File + h.Shared))
}

// systemRows are those of the ranks that are shown, with something to show.
func (p *printer) systemRows() (out []report.SystemRow) {
	for i := range p.r.System {
		if r := &p.r.System[i]; p.rankShown(r.Rank) && len(r.Held) > 0 {
			out = append(out, *r)
		}
	}
	return out
}

// system is what processes used of the kernel in each step.
func (p *printer) system() {
	var rows []report.SystemRow
	for _, r := range p.systemRows() {
		if r.Use != nil {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return
	}
	p.heading("System", "per step without a trace, as the kernel counts; switches are of each process's first thread")
	writeKnown(p, systemColumns, rows[:p.rows(len(rows), 12)])
}

var systemColumns = []column[report.SystemRow]{
	{"process", func(r *report.SystemRow) string { return r.Process }, rest},
	{"steps", func(r *report.SystemRow) string { return units.Count(int64(r.Use.Steps)) }, number},
	{"user", func(r *report.SystemRow) string { return units.Milliseconds(r.Use.UserMs) }, number},
	{"system", func(r *report.SystemRow) string { return units.Milliseconds(r.Use.SystemMs) }, number},
	{"faults", func(r *report.SystemRow) string { return perStepCount(r.Use.MinorFaults) }, number},
	{"major", func(r *report.SystemRow) string { return perStepCount(r.Use.MajorFaults) }, number},
	{"waits", func(r *report.SystemRow) string { return known(r.Use.Waits, perStepCount) }, number},
	{"pushed off", func(r *report.SystemRow) string { return known(r.Use.Pushed, perStepCount) }, number},
	{"read", func(r *report.SystemRow) string { return known(r.Use.ReadBytes, units.Bytes) }, number},
	{"written", func(r *report.SystemRow) string { return known(r.Use.WrittenBytes, units.Bytes) }, number},
	{"malloc", func(r *report.SystemRow) string {
		if r.Allocator == "" {
			return unknown
		}
		return r.Allocator
	}, 0},
}

// perStepCount writes how often something happens in a step: rare things with their digits, others as whole numbers.
func perStepCount(v float64) string {
	if v > 0 && v < 100 {
		return units.Digits(v)
	}
	return units.Count(int64(v + 0.5))
}
