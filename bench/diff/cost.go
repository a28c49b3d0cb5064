//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

const rounds = 5

// cost is comparing two large traces beside two reports of them, in turns.
func (m *measurement) cost() error {
	trace := filepath.Join(m.traces, "segment-anything-fast", "eager_False.json.gz")
	var diffs, reports []time.Duration
	for range rounds {
		_, d, err := m.bottleneck("diff", trace, trace)
		if err != nil {
			return err
		}
		_, r, err := m.bottleneck("report", trace)
		if err != nil {
			return err
		}
		diffs, reports = append(diffs, d.cpu), append(reports, 2*r.cpu)
	}
	slices.Sort(diffs)
	slices.Sort(reports)
	ratio := float64(diffs[rounds/2]) / float64(reports[rounds/2])
	m.say(fmt.Sprintf("diff of two traces of 81 MB, %v of CPU, beside two reports, %v", diffs[rounds/2].Round(time.Millisecond),
		reports[rounds/2].Round(time.Millisecond)),
		fmt.Sprintf("%.2f ×", ratio), "≤ 1.5 ×", ratio <= 1.5)
	return nil
}

const manyRanks = 128

var rank = regexp.MustCompile(`("distributedInfo":[^}]*"rank":\s*)\d+`)

// memory is comparing two jobs of many ranks.
func (m *measurement) memory() error {
	text, err := unpacked(filepath.Join(m.traces, "hta-sampled-128ranks", "sampled_rank-1.json.gz"))
	if err != nil {
		return err
	}
	var sides [2]string
	for i := range sides {
		sides[i] = filepath.Join(m.work, fmt.Sprint("ranks-", i))
		if err := os.Mkdir(sides[i], 0o700); err != nil {
			return err
		}
		for r := range manyRanks {
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			if _, err := w.Write(rank.ReplaceAll(text, fmt.Appendf(nil, "${1}%d", r))); err != nil {
				return err
			}
			if err := w.Close(); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(sides[i], fmt.Sprintf("rank-%d.json.gz", r)), packed.Bytes(), 0o600); err != nil {
				return err
			}
		}
	}
	_, c, err := m.bottleneck("diff", sides[0], sides[1])
	if err != nil {
		return err
	}
	m.say(fmt.Sprintf("diff of two jobs of %d ranks: peak memory", manyRanks), fmt.Sprintf("%d MB", c.rss>>20),
		"≤ 512 MB", c.rss <= 512<<20)
	return nil
}

func unpacked(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
