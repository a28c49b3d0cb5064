package view

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"cmp"
	"fmt"
)

// snapshots are the memory snapshots among the inputs.
func (p *printer) snapshots() {
	for i := range p.r.Snapshots {
		row := &p.r.Snapshots[i]
		if !p.rankShown(row.Rank) {
			continue
		}
		p.heading("Memory snapshot", fmt.Sprintf("%sdevice %d of %s", rankPrefix(row.Rank), row.Device, report.Base(row.File)))
		p.wrap("  ", "    ", snapshotText(row))
		p.segmentTable(row)
		if rec := row.Recorded; rec != nil {
			p.recordedMemory(rec)
		} else {
			p.wrap("  ", "    ", "no events were recorded (torch.cuda.memory._record_memory_history): there is no peak and no history.")
		}
		p.owners("alive at the snapshot, allocated by", row.Live, row.ActiveBytes)
		for _, w := range row.Warnings {
			p.wrap("  ! ", "    ", w)
		}
	}
}

func snapshotText(row *report.SnapshotRow) string {
	size := func(n int64) string { return units.Bytes(float64(n)) }
	text := fmt.Sprintf("%s reserved: %s in use, %s free within segments that hold others (fragmentation), %s in segments that are wholly "+
		"free (empty_cache() returns them)",
		size(row.ReservedBytes), size(row.ActiveBytes), size(row.FragmentedBytes), size(row.CachedBytes))
	if row.PendingBytes > 0 {
		text += fmt.Sprintf(", %s freed but perhaps in use by another stream", size(row.PendingBytes))
	}
	text += fmt.Sprintf("; largest free block %s", size(row.LargestGapBytes))
	if row.RoundingBytes > 0 {
		text += fmt.Sprintf("; rounding up took %s", size(row.RoundingBytes))
	}
	if row.PrivateBytes > 0 {
		text += fmt.Sprintf("; %s in pools of their own (CUDA graphs)", size(row.PrivateBytes))
	}
	if row.DeviceBytes != nil {
		text += fmt.Sprintf("; the device has %s", size(*row.DeviceBytes))
	}
	if row.Config != "" {
		text += "; PYTORCH_CUDA_ALLOC_CONF=" + row.Config
	}
	return text
}

func (p *printer) segmentTable(row *report.SnapshotRow) {
	writeTable(p, segmentColumns, row.Segments)
}

var segmentColumns = []column[report.SegmentRow]{
	{"segments", func(s *report.SegmentRow) string { return s.Kind }, rest},
	{"count", func(s *report.SegmentRow) string { return units.Count(s.Segments) }, number},
	{"reserved", func(s *report.SegmentRow) string { return units.Bytes(float64(s.ReservedBytes)) }, number},
	{"in use", func(s *report.SegmentRow) string { return units.Bytes(float64(s.ActiveBytes)) }, number},
	{"fragmented", func(s *report.SegmentRow) string { return units.Bytes(float64(s.FragmentedBytes)) }, number},
	{"wholly free", func(s *report.SegmentRow) string { return units.Bytes(float64(s.CachedBytes)) }, number},
}

func (p *printer) recordedMemory(rec *report.SnapshotEvents) {
	text := fmt.Sprintf("recorded: %s events, %s allocations", units.Count(rec.Events), units.Count(rec.Allocations))
	if rec.LengthUs > 0 {
		text += " in " + units.Milliseconds(rec.LengthUs/1e3)
	}
	text += fmt.Sprintf("; %s in use at its beginning, peak %s", units.Bytes(float64(rec.BeforeBytes)), units.Bytes(float64(rec.PeakBytes)))
	if rec.LengthUs > 0 {
		text += " after " + units.Milliseconds(rec.PeakAtUs/1e3)
	}
	text += fmt.Sprintf(", at most %s reserved", units.Bytes(float64(rec.PeakReserved)))
	p.wrap("  ", "    ", text)
	for i := range rec.OOMs {
		oom := &rec.OOMs[i]
		text := fmt.Sprintf("out of memory after %s: %s were asked for%s, %s were in use and %s reserved", units.Milliseconds(oom.AtUs/1e3),
			units.Bytes(float64(oom.AskedBytes)), report.AtOwner(oom.Where), units.Bytes(float64(oom.ActiveBytes)),
			units.Bytes(float64(oom.ReservedBytes)))
		if oom.FreeOnDevice > 0 {
			text += fmt.Sprintf(", the device had %s free", units.Bytes(float64(oom.FreeOnDevice)))
		}
		p.wrap("  ! ", "    ", text)
		p.owners("alive at that moment, allocated by", oom.Holders, oom.ActiveBytes)
	}
	if more := rec.OOMCount - int64(len(rec.OOMs)); more > 0 {
		p.wrap("  ! ", "    ", fmt.Sprintf("out of memory %s more times", units.Count(more)))
	}
	p.owners("alive at the peak, allocated by", rec.AtPeak, rec.PeakBytes)
}

// owners is a table of who allocated so many bytes.
func (p *printer) owners(title string, list []report.OwnerRow, of int64) {
	if len(list) == 0 {
		return
	}
	writeKnown(p, []column[report.OwnerRow]{
		{title, ownerPlace, rest | tail},
		{"operator", func(o *report.OwnerRow) string { return units.Clip(o.Where.Op, 28) }, 0},
		{"bytes", func(o *report.OwnerRow) string { return units.Bytes(float64(o.Bytes)) }, number},
		{"share", func(o *report.OwnerRow) string { return units.Percent(float64(o.Bytes) / max(float64(of), 1)) }, number},
		{"blocks", func(o *report.OwnerRow) string { return units.Count(o.Blocks) }, number},
	}, list[:p.rows(len(list), 8)])
}

func ownerPlace(o *report.OwnerRow) string {
	if o.Before {
		return "before the recording"
	}
	return cmp.Or(report.AtPlace(o.Where), o.Where.Op, "no stack recorded")
}
