package compare

import (
	"bottleneck/internal/stats"
	"bottleneck/internal/view"
)

// Bench are runs for benchstat: the time, and every counter that is a sum.
func Bench(s Side) (*view.Bench, error) {
	c, _, err := alone(s)
	if err != nil {
		return nil, err
	}
	r := s.Runs[0].Report
	b := &view.Bench{Name: program(r), Per: c.per}
	for _, m := range []map[string]string{machine(r), software(r)} {
		for key, value := range stats.InOrder(m) {
			b.Config = append(b.Config, [2]string{key, value})
		}
	}
	for i := range c.after {
		run := view.BenchRun{Count: c.after[i].Count, Ms: c.after[i].Ms}
		for _, row := range countRows(&c.after[i]) {
			if row.Name == "" {
				run.Units = append(run.Units, view.BenchUnit{Unit: row.Kind + "/" + row.Per, Value: row.Value,
					Exact: row.Exact && row.Low == row.High})
			}
		}
		b.Runs = append(b.Runs, run)
	}
	return b, nil
}
