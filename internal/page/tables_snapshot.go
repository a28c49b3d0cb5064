package page

import (
	"bottleneck/internal/report"
	"strconv"
)

// snapshotTables are of memory snapshots: what each device's memory is used for, who holds it, and requests that could not be met.
func snapshotTables(r *report.Report) []Table {
	type owner struct {
		of *report.SnapshotRow
		report.OwnerRow
	}
	type request struct {
		of *report.SnapshotRow
		report.OOMRow
	}
	var owners []owner
	var requests []request
	for i := range r.Snapshots {
		s := &r.Snapshots[i]
		for _, o := range s.Live {
			owners = append(owners, owner{s, o})
		}
		if s.Recorded != nil {
			for _, o := range s.Recorded.OOMs {
				requests = append(requests, request{s, o})
			}
		}
	}
	size := func(head string, get func(*report.SnapshotRow) int64) column[report.SnapshotRow] {
		return number(head, unitBytes, func(s *report.SnapshotRow) float64 { return float64(get(s)) })
	}
	return []Table{
		tableOf("snapshots", "Snapshots", groupDevice,
			"of the caching allocator; active, pending, fragmented and cached bytes are all that is reserved", r.Snapshots,
			rank(func(s *report.SnapshotRow) *int { return s.Rank }),
			text("device", func(s *report.SnapshotRow) string { return strconv.Itoa(s.Device) }),
			bar(size("reserved", func(s *report.SnapshotRow) int64 { return s.ReservedBytes })),
			size("active", func(s *report.SnapshotRow) int64 { return s.ActiveBytes }),
			size("pending", func(s *report.SnapshotRow) int64 { return s.PendingBytes }),
			size("fragmented", func(s *report.SnapshotRow) int64 { return s.FragmentedBytes }),
			size("cached", func(s *report.SnapshotRow) int64 { return s.CachedBytes }),
			size("rounded up", func(s *report.SnapshotRow) int64 { return s.RoundingBytes }),
			size("largest gap", func(s *report.SnapshotRow) int64 { return s.LargestGapBytes }),
			text("allocator's settings", func(s *report.SnapshotRow) string { return s.Config }),
			text("file", func(s *report.SnapshotRow) string { return s.File })),
		tableOf("snapshot-live", "Live memory", groupDevice, "who allocated what is active", owners,
			rank(func(o *owner) *int { return o.of.Rank }),
			text("device", func(o *owner) string { return strconv.Itoa(o.of.Device) }),
			sum(bar(number("bytes", unitBytes, func(o *owner) float64 { return float64(o.Bytes) }))),
			sum(perhaps("share of the active", unitShare, func(o *owner) *float64 {
				return ratio(float64(o.Bytes), float64(o.of.ActiveBytes))
			})),
			sum(count("blocks", func(o *owner) int64 { return o.Blocks })),
			text("operator", func(o *owner) string { return o.Where.Op }),
			text("function", func(o *owner) string { return ownerText(&o.OwnerRow) }),
			place("at", func(o *owner) (string, int) { return o.Where.File, o.Where.Line })),
		tableOf("snapshot-oom", "Out of memory", groupDevice, "requests that could not be met", requests,
			rank(func(o *request) *int { return o.of.Rank }),
			number("after", unitTime, func(o *request) float64 { return o.AtUs }),
			bar(number("asked for", unitBytes, func(o *request) float64 { return float64(o.AskedBytes) })),
			number("free on the device", unitBytes, func(o *request) float64 { return float64(o.FreeOnDevice) }),
			number("active", unitBytes, func(o *request) float64 { return float64(o.ActiveBytes) }),
			number("reserved", unitBytes, func(o *request) float64 { return float64(o.ReservedBytes) }),
			place("at", func(o *request) (string, int) { return o.Where.File, o.Where.Line })),
	}
}

func ownerText(o *report.OwnerRow) string {
	if o.Before {
		return "before the recording"
	}
	return o.Where.Function
}
