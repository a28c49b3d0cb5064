package ingest

import (
	"math/rand/v2"
	"testing"

	"bottleneck/internal/model"
)

// TestFindLaunch compares the search for a row by its id with a walk over all of them, also where many rows share an id.
func TestFindLaunch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var c launches
		for id := range r.IntN(30) {
			c.list = append(c.list, launch{int64(1 + r.IntN(4)), model.Time(r.IntN(10)), model.EventID(id)})
		}
		c.sort()
		for correlation := int64(0); correlation < 6; correlation++ {
			for start := model.Time(-1); start < 11; start++ {
				want := model.NoEvent
				for _, l := range c.list {
					if l.correlation == correlation && (want == model.NoEvent || l.start <= start) {
						want = l.id
					}
				}
				if got := c.find(correlation, start); got != want {
					t.Fatalf("id %d at %d: row %d, want %d of %v", correlation, start, got, want, c.list)
				}
			}
		}
	}
}
