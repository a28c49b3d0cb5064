package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"bottleneck/internal/analyse/allocations"
	"bottleneck/internal/model"
	"bottleneck/internal/units"
)

// maxOwners bounds the owners of memory in the document.
const maxOwners = 200

// snapshots are the rows of memory snapshots, one by device.
func (b *Builder) snapshots() {
	for _, m := range b.S.Snapshots {
		in := &b.S.Inputs[m.Input]
		for _, u := range allocations.Snapshots(m, b.S.Strings) {
			row := snapshotRow(&u, b.points)
			row.File, row.Rank, row.Config = in.Path, RankPtr(in.Rank), m.Config
			b.deviceSize(&row, &u)
			b.R.Snapshots = append(b.R.Snapshots, row)
		}
	}
}

func snapshotRow(u *allocations.SnapshotUse, points int) SnapshotRow {
	row := SnapshotRow{Device: u.Device, ReservedBytes: u.Reserved, ActiveBytes: u.Active, PendingBytes: u.Pending,
		FragmentedBytes: u.Fragmented, CachedBytes: u.Cached, RoundingBytes: u.Rounding, LargestGapBytes: u.LargestGap,
		PrivateBytes: u.Private, Segments: []SegmentRow{}, Live: owners(u.Live), Warnings: []string{}}
	for _, k := range u.Kinds {
		row.Segments = append(row.Segments, SegmentRow{k.Kind, k.Segments, k.Reserved, k.Active, k.Fragmented, k.Free})
	}
	if u.Fragmented < 0 {
		row.Warnings = append(row.Warnings, "blocks of some segments add up to more than the segment: the file is not consistent")
	}
	if u.Events == 0 {
		return row
	}
	rec := &SnapshotEvents{Events: u.Events, Allocations: u.Allocations, LengthUs: us(u.To.Sub(u.From)),
		BeforeBytes: u.Before, PeakBytes: u.Peak, PeakAtUs: us(u.PeakAt.Sub(u.From)), PeakReserved: u.PeakReserved,
		AtPeak: owners(u.AtPeak), Timeline: []MemoryPoint{}, OOMs: []OOMRow{}, OOMCount: u.OOMCount}
	each := max((len(u.Timeline)+points-1)/points, 1)
	for chunk := range slices.Chunk(u.Timeline, each) {
		p := slices.MaxFunc(chunk, func(x, y allocations.Point) int { return cmp.Compare(x.Bytes, y.Bytes) })
		rec.Timeline = append(rec.Timeline, MemoryPoint{AtUs: us(p.Time.Sub(u.From)), Bytes: p.Bytes, Reserved: ptr(p.Reserved)})
	}
	for _, oom := range u.OOMs {
		rec.OOMs = append(rec.OOMs, OOMRow{us(oom.Time.Sub(u.From)), oom.Asked, oom.DeviceFree, oom.Active, oom.Reserved,
			ownerWhere(&oom.Where), owners(oom.Holders)})
	}
	row.Recorded = rec
	if u.Unexplained != 0 {
		row.Warnings = append(row.Warnings,
			fmt.Sprintf("the recorded events add up to %s other than the snapshot holds: some of them are missing",
				units.Bytes(math.Abs(float64(u.Unexplained)))))
	}
	return row
}

func ownerWhere(h *allocations.SnapshotHolder) Where {
	w := traceWhere(h.Where)
	w.Op = h.Native
	return w
}

func owners(of []allocations.SnapshotHolder) []OwnerRow {
	out := []OwnerRow{}
	for i := range of[:min(len(of), maxOwners)] {
		h := &of[i]
		out = append(out, OwnerRow{Where: ownerWhere(h), Before: h.Before, Bytes: h.Bytes, Blocks: h.Blocks})
	}
	return out
}

// deviceSize compares with the device's memory, which only other files of the run tell.
func (b *Builder) deviceSize(row *SnapshotRow, u *allocations.SnapshotUse) {
	i := slices.IndexFunc(b.S.Environment.GPUs, func(g model.GPU) bool { return g.Index == u.Device && g.MemoryBytes > 0 })
	if i < 0 {
		return
	}
	g := &b.S.Environment.GPUs[i]
	row.DeviceBytes = ptr(g.MemoryBytes)
	if most := max(u.Reserved, u.PeakReserved); most > g.MemoryBytes {
		row.Warnings = append(row.Warnings, fmt.Sprintf("%s were reserved, and %s has %s: the driver lent memory of the host, which is "+
			"many times slower, or the files are of different runs",
			units.Bytes(float64(most)), cmp.Or(g.Name, "the device"), units.Bytes(float64(g.MemoryBytes))))
	}
}

// onlySnapshots is the verdict where there is nothing but memory snapshots.
func (b *Builder) onlySnapshots() {
	if len(b.R.Snapshots) == 0 || len(b.S.Traces)+len(b.S.Processes)+len(b.S.Calls) > 0 {
		return
	}
	row := &b.R.Snapshots[0]
	for i := range b.R.Snapshots {
		if r := &b.R.Snapshots[i]; r.ReservedBytes > row.ReservedBytes {
			row = r
		}
	}
	text := fmt.Sprintf("device %d: %s of %s reserved were in use at the snapshot", row.Device, units.Bytes(float64(row.ActiveBytes)),
		units.Bytes(float64(row.ReservedBytes)))
	list, of := row.Live, row.ActiveBytes
	if rec := row.Recorded; rec != nil {
		list, of = rec.AtPeak, rec.PeakBytes
		text = fmt.Sprintf("device %d: the peak was %s", row.Device, units.Bytes(float64(rec.PeakBytes)))
		if len(rec.OOMs) > 0 {
			oom := &rec.OOMs[0]
			list, of = oom.Holders, oom.ActiveBytes
			text = fmt.Sprintf("device %d ran out of memory: %s were asked for%s while %s were in use and %s reserved", row.Device,
				units.Bytes(float64(oom.AskedBytes)), AtOwner(oom.Where), units.Bytes(float64(oom.ActiveBytes)),
				units.Bytes(float64(oom.ReservedBytes)))
		}
	}
	if len(list) > 0 && of > 0 {
		text += fmt.Sprintf("; %s of it %s", units.Percent(float64(list[0].Bytes)/float64(of)), ownerText(&list[0]))
	}
	b.R.Verdict = Verdict{Bound: "unknown", Sentence: text + ". A memory snapshot holds no times of work, and prices no fix.",
		Confidence: Confidence{Level: "high", Why: "the allocator's own account"}}
}

func AtOwner(w Where) string {
	if place := AtPlace(w); place != "" {
		return " at " + place
	}
	return ""
}

// ownerText says who allocated memory.
func ownerText(o *OwnerRow) string {
	switch {
	case o.Before:
		return "was there before the recording"
	case o.Where.File == "" && o.Where.Op == "":
		return "was allocated without a recorded stack"
	case o.Where.File == "":
		return "was allocated by " + o.Where.Op
	}
	return "was allocated at " + AtPlace(o.Where)
}
