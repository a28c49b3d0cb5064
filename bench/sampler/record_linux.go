package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bottleneck/bench/paired"
	"bottleneck/internal/record"
)

// attach measures the time from the start of the command to the first sample's own time stamp.
func (b *bench) attach() error {
	if b.torch == "" {
		fmt.Println("    no interpreter with torch (scripts/env.sh newest)")
		return nil
	}
	w, err := start(-1, b.torch, "-c", "import torch, time, re\n"+
		"print('ready', len(set(re.findall(r'/\\S+\\.so\\S*', open('/proc/self/maps').read()))), flush=True)\n"+
		"while True: time.sleep(0.01)")
	if err != nil {
		return err
	}
	defer w.stop()
	var values []float64
	for range max(5, b.rounds) {
		folder, err := os.MkdirTemp("", "bottleneck-bench-")
		if err != nil {
			return err
		}
		begin := time.Now().UnixNano()
		_, text, err := used(-1, b.ours().command(w.pid(), 100, 0.3, false, folder)...)
		if err != nil {
			return err
		}
		first := int64(0)
		err = ownBatches(folder, func(batch *record.SampleBatch) error {
			for i := range batch.Samples {
				if t := batch.Samples[i].Times; len(t) > 0 && (first == 0 || t[0] < first) {
					first = t[0]
				}
			}
			return nil
		})
		os.RemoveAll(folder)
		if err != nil || first == 0 {
			return fmt.Errorf("no sample: %v\n%s", err, text)
		}
		values = append(values, float64(first-begin)/1e6)
	}
	b.table.add(row{what: fmt.Sprintf("process start included, %s libraries mapped", w.rest), value: paired.Median(values), limit: 50,
		goal: "≤ 50 ms", format: "%.0f ms"})
	return nil
}

// hourSeconds is the length of the recording from which an hour's size is reckoned.
const hourSeconds = 40

// hour records for a while and multiplies: chunks are cut every few seconds and hold their own tables, so size is
// proportional to time.
func (b *bench) hour() error {
	w, err := start(-1, b.newest(), deepProgram, endless)
	if err != nil {
		return err
	}
	defer w.stop()
	folder, err := os.MkdirTemp("", "bottleneck-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if _, text, err := used(-1, b.ours().command(w.pid(), 1000, hourSeconds, false, folder)...); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	path, err := sampleFile(folder)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	n, err := b.ours().count(folder)
	if err != nil || n == 0 {
		return fmt.Errorf("%d samples: %v", n, err)
	}
	launcher, err := readLauncher(folder)
	if err != nil {
		return err
	}
	size := row{what: fmt.Sprintf("on disk (%d samples in %d s, × 3.6 million)", n, hourSeconds), format: "%.1f MB",
		goal: "≤ 20 MB", limit: 20, value: float64(info.Size()) / float64(n) * 3.6e6 / 1e6}
	for _, s := range b.samplers()[1:] {
		if strings.HasPrefix(s.name, "py-spy") && strings.Contains(s.name, "nonblocking") {
			size.pySpy, err = speedscopeHour(filepath.Join(b.peers, "py-spy"), w.pid())
		}
		if s.name == "austin" {
			size.au, err = austinHour(s, w.pid())
		}
		if err != nil {
			return err
		}
	}
	b.table.add(size)
	b.table.add(row{what: "peak memory while recording a while", format: "%.0f MB", goal: "≤ 100 MB", limit: 100,
		value: float64(launcher.Own.PeakRSS) / 1e6})
	return nil
}

const peerSeconds = 10

func speedscopeHour(path string, pid int) (float64, error) {
	return fileHour(path, "record", "-r", "1000", "-d", fmt.Sprint(peerSeconds), "-f", "speedscope", "--nonblocking",
		"-p", fmt.Sprint(pid), "-o")
}

func austinHour(s *sampler, pid int) (float64, error) {
	folder, err := os.MkdirTemp("", "bottleneck-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	if _, _, err := used(-1, s.command(pid, 1000, peerSeconds, false, folder)...); err != nil {
		return 0, err
	}
	return scaled(filepath.Join(folder, "out"))
}

// fileHour runs a peer whose last argument is its file.
func fileHour(args ...string) (float64, error) {
	folder, err := os.MkdirTemp("", "bottleneck-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "out")
	if _, _, err := used(-1, append(args, path)...); err != nil {
		return 0, err
	}
	return scaled(path)
}

func scaled(path string) (float64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return float64(info.Size()) / 1e6 * 3600 / peerSeconds, nil
}
