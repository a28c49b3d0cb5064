package view

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"fmt"
	"io"
	"strings"
)

// WriteProof writes a proof for a terminal or a file.
func WriteProof(w io.Writer, d *report.Proof, opt DiffTextOptions) error {
	p := newPrinter(&report.Report{}, TextOptions{Width: opt.Width, Color: opt.Color})
	if d.Outputs == report.OutputsDiffer {
		p.wrapStyled(red, "", "  ", "The changed program writes something else: "+d.Difference+".")
	}
	p.wrapStyled(proofStyle(d), "", "  ", capital(d.Sentence))
	p.proofTable(d)
	p.wrap("  finding   ", "            ", fmt.Sprintf("%d, %s: %s", d.Finding.Number, d.Finding.Cause, d.Finding.Title))
	p.proofChange(d)
	for _, s := range []struct {
		name string
		side *report.DiffSide
	}{{"original", &d.Original}, {"changed", &d.Changed}} {
		if len(s.side.Runs) > 0 {
			p.line("  %-8s  %s", s.name, p.paint(dim, fmt.Sprintf("%s, %s: ", units.Counted(len(s.side.Runs), "run"), s.side.Basis))+
				s.side.Path)
		}
	}
	turns := units.Counted(d.InTurns.Pairs, "pair")
	if why := stoppedTexts[d.InTurns.Stopped]; why != "" {
		turns += ", " + why
	}
	p.line("  %-8s  %s", "turns", p.paint(dim, turns+"; intervals hold whenever one stops"))
	p.wrap("  outputs   ", "            ", outputsText(d))
	if d.Patch != "" {
		p.line("  %-8s  git apply %s", "patch", d.Patch)
	}
	for _, f := range d.InTurns.Failed {
		p.wrap("  ! ", "    ", "left out: "+f)
	}
	for _, n := range d.Notes {
		p.wrap("  ! ", "    ", n)
	}
	return p.writeTo(w, "proof")
}

func proofStyle(d *report.Proof) style {
	switch d.Verdict {
	case report.ProofSaves:
		return green
	case report.ProofCosts, report.ProofFails:
		return red
	}
	return yellow
}

// savedRow is what a finding promised, or a proof has shown.
type savedRow struct {
	name string
	*report.Saved
}

// proofTable has promised beside proven.
func (p *printer) proofTable(d *report.Proof) {
	if d.Promised == (report.Saved{}) && d.Proven == (report.Saved{}) {
		return
	}
	name := "proven"
	if d.Bound {
		name = "bound"
	}
	p.heading("Promised and proven", "low – middle – high")
	writeKnown(p, []column[savedRow]{
		{"", func(r *savedRow) string { return r.name }, 0},
		{"a step", func(r *savedRow) string { return savedText(r.StepMs, units.Milliseconds) }, 0},
		{"the run", func(r *savedRow) string { return savedText(r.RunS, units.Seconds) }, rest},
	}, []savedRow{{"promised", &d.Promised}, {name, &d.Proven}})
	p.line("")
}

func savedText(r *report.Range, unit func(float64) string) string {
	if r == nil {
		return unknown
	}
	return strings.Join([]string{unit(r.Low), unit(r.Mid), unit(r.High)}, " – ")
}

func (p *printer) proofChange(d *report.Proof) {
	place := ""
	if w := d.Finding.Where; w != nil {
		place = fmt.Sprintf("%s:%d: ", w.File, w.Line)
	}
	p.wrap("  change    ", "            ", place+d.Finding.Change)
	if d.Finding.Before != "" {
		p.wrap("  before    ", "            ", d.Finding.Before)
	}
	if d.Finding.Was != "" {
		p.wrap("  was       ", "            ", d.Finding.Was)
	}
}

func outputsText(d *report.Proof) string {
	switch d.Outputs {
	case report.OutputsSame:
		return "the same: standard output and exit status, but for the order of lines, rounding, and what differs from run to run of the " +
			"original"
	case report.OutputsDiffer:
		return "different: " + d.Difference
	}
	return "not compared: " + d.Difference
}
