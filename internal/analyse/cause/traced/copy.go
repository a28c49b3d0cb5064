package traced

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/wording"
)

// FindCopy names copies between host and device that run while nothing computes.
func FindCopy(t *Traced, _ finding.Ledger) []finding.Draft {
	var best device.Copy
	time, pageable := 0.0, 0.0
	for i := range t.Parts {
		for _, c := range t.Parts[i].Copies {
			if c.Direction == "Memset" || c.Direction == "DtoD" {
				continue
			}
			time += float64(c.Exposed)
			if c.Pageable {
				pageable += float64(c.Exposed)
			}
			if c.Exposed > best.Exposed {
				best = c
			}
		}
	}
	f := t.finding(finding.Copy, time, best.Where, "copy.exposed")
	f.Run = f.By(price.TracedCopy).Times(time)
	f.Evidence = []wording.Text{wording.Say("copy.most", wording.Value("rate", best.GBs()), wording.Count("count", best.Count),
		wording.Named("name", best.Name), wording.Time("time", float64(best.Dur)))}
	f.Fix.Advice = []wording.Text{wording.Say("copy.fix-ahead")}
	if pageable > 0.5*time {
		f.Evidence = append(f.Evidence, wording.Say("copy.pageable", wording.Time("pageable", pageable), wording.Time("time", time)))
		f.Fix.Action = finding.SetArguments("DataLoader", finding.Argument{Name: "pin_memory", Value: "True"})
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("copy.fix-both"))
	}
	f.Caveat = []wording.Text{wording.Say("copy.caveat-before")}
	return []finding.Draft{f}
}
