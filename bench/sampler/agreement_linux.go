package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bottleneck/internal/record"
)

const (
	sharesProgram    = "bench/sampler/shares.py"
	agreementHz      = 100
	agreementSeconds = 4.0
)

var sharesNames = []string{"loops", "recursion", "generators", "async", "threads", "calls", "sleeping", "small", "quick", "numpy", "torch"}

// cells are shares by lane and cell; lanes are threads of the program, cells functions that it times itself.
type cells map[string]map[string]float64

// seen counts a lane's samples and those with a cell on the stack.
type seen map[string]*laneSeen

type laneSeen struct {
	all  int64
	cell map[string]int64
}

// agreement samples programs that time their own functions, and compares.
func (b *bench) agreement() error {
	var inside, cellsAll, peerInside, peerAll, pairs, peerRight, oursWrong int
	for _, name := range sharesNames {
		python := b.newest()
		if name == "numpy" || name == "torch" {
			if python = b.torch; python == "" {
				fmt.Printf("    %s: no interpreter with torch (scripts/env.sh newest)\n", name)
				continue
			}
		}
		truth, ours, peer, err := b.agreeOn(python, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		in, all := ours.within(truth)
		inside, cellsAll = inside+in, cellsAll+all
		worst := ours.worst(truth)
		text := fmt.Sprintf("    %-11s %d of %d shares in the 95 %% interval; largest difference %s", name, in, all, worst)
		if peer != nil {
			pin, pall := peer.within(truth)
			peerInside, peerAll = peerInside+pin, peerAll+pall
			p, right, wrong := compareRanks(truth, ours, peer)
			pairs, peerRight, oursWrong = pairs+p, peerRight+right, oursWrong+wrong
			text += fmt.Sprintf("   py-spy --nonblocking: %d of %d; largest %s", pin, pall, peer.worst(truth))
		}
		fmt.Println(text)
	}
	r := row{what: fmt.Sprintf("%d shares outside of their 95 %% interval", cellsAll), format: "%.1f %%", goal: "≤ 5 %", limit: 5,
		value: 100 * float64(cellsAll-inside) / float64(max(cellsAll, 1))}
	if peerAll > 0 {
		r.pySpy = max(100*float64(peerAll-peerInside)/float64(peerAll), 1e-9)
	}
	b.table.add(r)
	if pairs > 0 {
		b.table.add(row{what: fmt.Sprintf("pairs ranked wrongly of %d that py-spy ranks rightly (of %d)", peerRight, pairs), format: "%.0f",
			goal: "0", limit: 1e-9, value: float64(oursWrong)})
	}
	return nil
}

// agreeOn runs one program under both samplers at once and returns its own shares of our sampling time.
func (b *bench) agreeOn(python, name string) (truth cells, ours, peer seen, err error) {
	w, stdin, err := startAsking(python, sharesProgram, name, fmt.Sprint(agreementSeconds+1.5))
	if err != nil {
		return nil, nil, nil, err
	}
	defer w.stop()
	folder, err := os.MkdirTemp("", "bottleneck-bench-")
	if err != nil {
		return nil, nil, nil, err
	}
	defer os.RemoveAll(folder)
	peerDone := func() {}
	spy := filepath.Join(b.peers, "py-spy")
	if b.peers != "" && executable(spy) {
		cmd, _ := command(-1, append(pySpy(spy, true).command(w.pid(), agreementHz, agreementSeconds, false, folder), "--idle")...)
		if err := cmd.Start(); err != nil {
			return nil, nil, nil, err
		}
		peerDone = func() { _ = cmd.Wait() }
	}
	_, text, err := used(-1, b.ours().command(w.pid(), agreementHz, agreementSeconds, false, folder)...)
	peerDone()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w\n%s", err, text)
	}
	from, to, err := sampledWindow(folder)
	if err != nil {
		return nil, nil, nil, err
	}
	if truth, err = ask(w, stdin, from, to); err != nil {
		return nil, nil, nil, err
	}
	if ours, err = countCells(b.ours(), folder, truth); err != nil {
		return nil, nil, nil, err
	}
	if b.peers != "" && executable(spy) {
		peer, err = countCells(pySpy(spy, true), folder, truth)
	}
	return truth, ours, peer, err
}

// startAsking starts a program that answers lines of its standard input in the end.
func startAsking(python string, args ...string) (*watched, io.Writer, error) {
	r, stdin, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	w, err := startWith(r, -1, python, args...)
	return w, stdin, err
}

func ask(w *watched, stdin io.Writer, from, to int64) (cells, error) {
	if _, err := fmt.Fprintf(stdin, "%d %d\n", from, to); err != nil {
		return nil, err
	}
	text, err := w.line("shares")
	if err != nil {
		return nil, err
	}
	truth := cells{}
	return truth, json.Unmarshal([]byte(text), &truth)
}

// sampledWindow is the time from half a period before the first to half a period behind the last sample, Unix ns.
func sampledWindow(folder string) (from, to int64, err error) {
	const half = int64(time.Second / agreementHz / 2)
	err = ownBatches(folder, func(batch *record.SampleBatch) error {
		for i := range batch.Samples {
			batch.Samples[i].EachTime(func(at int64) {
				if from == 0 || at-half < from {
					from = at - half
				}
				to = max(to, at+half)
			})
		}
		return nil
	})
	if err == nil && from == 0 {
		err = fmt.Errorf("no sample")
	}
	return from, to, err
}

// countCells sorts stacks by the lane and the cells on them.
func countCells(s *sampler, folder string, truth cells) (seen, error) {
	out := seen{}
	for lane, list := range truth {
		out[lane] = &laneSeen{cell: map[string]int64{}}
		for c := range list {
			out[lane].cell[c] = 0
		}
	}
	err := s.stacks(folder, func(names []string, n int64) {
		for i, name := range names { // of a qualified name the last part
			names[i] = name[strings.LastIndexByte(name, '.')+1:]
		}
		for lane, l := range out {
			if !slices.Contains(names, lane) {
				continue
			}
			l.all += n
			for c := range l.cell {
				if slices.Contains(names, c) {
					l.cell[c] += n
				}
			}
		}
	})
	return out, err
}

// each visits every cell of every lane in order.
func (t cells) each(visit func(lane, cell string, share float64)) {
	var keys [][2]string
	for lane, list := range t {
		for c := range list {
			keys = append(keys, [2]string{lane, c})
		}
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) })
	for _, k := range keys {
		visit(k[0], k[1], t[k[0]][k[1]])
	}
}

// within counts the cells whose true share lies in the 95 % interval of the sampled one.
func (s seen) within(truth cells) (in, all int) {
	truth.each(func(lane, cell string, share float64) {
		l := s[lane]
		low, high := wilson(l.cell[cell], l.all)
		if all++; share >= low && share <= high {
			in++
		}
	})
	return in, all
}

// worst names the cell that is furthest from the truth.
func (s seen) worst(truth cells) string {
	text, most := "none", -1.0
	truth.each(func(lane, cell string, share float64) {
		got := float64(s[lane].cell[cell]) / float64(max(s[lane].all, 1))
		if d := math.Abs(got - share); d > most {
			most, text = d, fmt.Sprintf("%.1f points (%s %.1f %%, truth %.1f %%)", 100*d, cell, 100*got, 100*share)
		}
	})
	return text
}

// wilson is the 95 % score interval of a share.
func wilson(k, n int64) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.96
	p, m := float64(k)/float64(n), float64(n)
	mid := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m)) / (1 + z*z/m)
	return mid - half, mid + half
}

// compareRanks takes pairs of cells of a lane whose true shares differ by more than sampling can blur, and counts those
// that the peer orders rightly, and of these the ones that we order wrongly.
func compareRanks(truth cells, ours, peer seen) (pairs, right, wrong int) {
	for lane, list := range truth {
		names := make([]string, 0, len(list))
		for c := range list {
			names = append(names, c)
		}
		for i, a := range names {
			for _, b := range names[:i] {
				n := float64(max(min(ours[lane].all, peer[lane].all), 1))
				if math.Abs(list[a]-list[b]) <= 1.96*math.Sqrt((list[a]+list[b])/n) {
					continue
				}
				pairs++
				order := list[a] > list[b]
				if (peer[lane].cell[a] > peer[lane].cell[b]) != order {
					continue
				}
				right++
				if ours[lane].cell[a] != ours[lane].cell[b] && (ours[lane].cell[a] > ours[lane].cell[b]) != order {
					wrong++
				}
			}
		}
	}
	return pairs, right, wrong
}
