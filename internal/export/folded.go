package export

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// foldedCharacters replaces what separates frames and lines.
var foldedCharacters = strings.NewReplacer(";", ":", "\n", " ", "\r", " ")

// writeFolded writes one line per distinct stack: frames from the outside in with their lines, a blank and the number of
// samples. Where there are several processes or threads their names are the outermost frames. Threads that wait for work
// are left out.
func writeFolded(ctx context.Context, s *model.Session, w io.Writer, opt Options) error {
	processes := sampledProcesses(s, opt)
	if len(processes) == 0 {
		return &UnavailableError{"folded", needSamples}
	}
	return buffered(w, func(out *bufio.Writer) error {
		for _, p := range processes {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := foldProcess(out, s, p, len(processes) > 1); err != nil {
				return err
			}
		}
		return nil
	})
}

// foldKey is a stack of a thread.
type foldKey struct {
	thread int32
	stack  model.StackID
}

func foldProcess(out *bufio.Writer, s *model.Session, p *model.Process, named bool) error {
	counts := map[foldKey]int64{}
	for i, st := range p.Samples.WithNative() {
		if p.Samples.State[i] != model.StateIdle {
			counts[foldKey{p.Samples.Thread[i], st}]++
		}
	}
	threads := threadsOf(p)
	lines := make([]string, 0, len(counts))
	var frames []model.FrameID
	for key, n := range counts {
		var parts []string
		if named {
			parts = append(parts, processName(p))
		}
		if len(threads) > 1 {
			parts = append(parts, threadName(s, p, key.thread))
		}
		frames = framesOf(&p.Samples.Stacks, key.stack, frames)
		for i := len(frames) - 1; i >= 0; i-- {
			f := &p.Samples.Stacks.Frames[frames[i]]
			parts = append(parts, frameText(s, f))
		}
		if len(parts) == 0 {
			continue
		}
		for i := range parts {
			parts[i] = foldedCharacters.Replace(parts[i])
		}
		lines = append(lines, fmt.Sprintf("%s %d\n", strings.Join(parts, ";"), n))
	}
	slices.Sort(lines)
	for _, l := range lines {
		if _, err := out.WriteString(l); err != nil {
			return err
		}
	}
	return nil
}
