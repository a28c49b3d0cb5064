package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"bottleneck/internal/collect"
)

// topOptions are the flags of top.
type topOptions struct {
	rate     float64
	interval time.Duration
	count    int
	native   string
	mode     collect.NativeMode
}

func newTopCommand(a *app) *cobra.Command {
	o := &topOptions{}
	cmd := &cobra.Command{
		Use:   "top PID",
		Short: "Watch live which functions and lines of a running program take time",
		Long: "Samples a running program and its children, without stopping them, and shows functions, lines or threads by time.\n" +
			"Keys: q quit, p pause, s sort by own or total time, f functions, l lines, t threads, / search. Without a terminal\n" +
			"it prints --count tables.",
		Example: "  bottleneck top 4242\n" +
			"  bottleneck top --count 1 --interval 5s 4242",
		Args: func(_ *cobra.Command, args []string) error { return onePID("top", args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			pids, err := parsePIDs("top", args)
			if err != nil {
				return err
			}
			if o.rate <= 0 || o.rate > 10000 || o.interval < 10*time.Millisecond {
				return usage("top: --rate must be above 0 and at most 10000, --interval at least 10ms")
			}
			if o.mode, err = nativeMode("top", o.native); err != nil {
				return err
			}
			return a.top(cmd.Context(), o, pids[0])
		},
	}
	cmd.Flags().Float64Var(&o.rate, "rate", collect.DefaultHz, "samples per second and thread")
	cmd.Flags().DurationVar(&o.interval, "interval", time.Second, "time between two pictures")
	cmd.Flags().IntVar(&o.count, "count", 0, "end after `N` pictures (0 = when the program ends; 1 where there is no terminal)")
	addNative(cmd.Flags(), &o.native)
	return cmd
}

// screen is where top draws.
type screen struct {
	w           io.Writer
	interactive bool
	size        func() (width, height int)
}

func (a *app) top(ctx context.Context, o *topOptions, pid int) error {
	if why := collect.WhyNotPython(pid); why != "" {
		if list, err := collect.Dump(pid, collect.DumpOptions{}); err != nil || !readable(list) { // a launcher whose children run Python is fine
			return unusable(fmt.Errorf("top: process %d: %s", pid, why))
		}
	}
	ctx, stop := untilSignal(ctx)
	defer stop()
	s := &screen{w: a.stdout, size: func() (int, int) { return width(a.stdout), 1 << 20 }}
	keys := make(chan byte, 16)
	if out, ok := a.stdout.(*os.File); ok && isTerminal(out) {
		in, ok := a.stdin.(*os.File)
		if ok && term.IsTerminal(int(in.Fd())) {
			old, err := term.MakeRaw(int(in.Fd()))
			if err != nil {
				return unusable(fmt.Errorf("top: set the terminal up: %w", err))
			}
			defer func() { _ = term.Restore(int(in.Fd()), old) }()
			go readKeys(in, keys)
			s.interactive = true
			s.size = func() (int, int) {
				w, h, err := term.GetSize(int(out.Fd()))
				if err != nil || w <= 0 || h <= 0 {
					return 80, 24
				}
				return w, h
			}
			fmt.Fprint(s.w, "\x1b[?1049h\x1b[?25l") // another screen, no cursor
			defer fmt.Fprint(s.w, "\x1b[?25h\x1b[?1049l")
		}
	}
	if !s.interactive && o.count == 0 {
		o.count = 1
	}
	return runTop(ctx, o, pid, s, keys)
}

func readKeys(in io.Reader, keys chan<- byte) {
	r := bufio.NewReader(in)
	for {
		k, err := r.ReadByte()
		if err != nil {
			return
		}
		keys <- k
	}
}

// runTop samples and draws until the program ends, the user quits, or enough pictures were shown.
func runTop(ctx context.Context, o *topOptions, pid int, s *screen, keys <-chan byte) error {
	var mu sync.Mutex
	state := &topState{pid: pid, hz: o.rate, now: newTopWindow(), shown: newTopWindow()}
	sampler, err := collect.StartSampler(ctx, collect.SamplerOptions{PID: pid, Hz: o.rate, Native: o.mode, Live: func(l collect.LiveSample) {
		mu.Lock()
		state.now.add(&l)
		mu.Unlock()
	}})
	if err != nil {
		return unusable(fmt.Errorf("top: %w", err))
	}
	defer sampler.Stop()
	tick := time.NewTicker(o.interval)
	defer tick.Stop()
	for shown, last := 0, time.Now(); o.count == 0 || shown < o.count; {
		ended := false
		select {
		case <-ctx.Done():
			return nil
		case <-sampler.Done():
			ended = true
		case k := <-keys:
			mu.Lock()
			quit := state.key(k)
			mu.Unlock()
			if quit {
				return nil
			}
			s.draw(&mu, state)
			continue
		case <-tick.C:
		}
		mu.Lock()
		now := time.Now()
		state.turn(now.Sub(last).Seconds())
		last = now
		mu.Unlock()
		s.draw(&mu, state)
		shown++
		if ended {
			return nil
		}
	}
	return nil
}

// draw puts the picture on the screen in one write.
func (s *screen) draw(mu *sync.Mutex, state *topState) {
	w, h := s.size()
	mu.Lock()
	if !s.interactive {
		h = min(h, len(state.shown.places)+len(state.shown.threads)+4, 40)
	}
	lines := state.render(w, h)
	mu.Unlock()
	if !s.interactive {
		fmt.Fprintln(s.w, strings.TrimRight(strings.Join(lines[:len(lines)-1], "\n"), "\n"))
		return
	}
	fmt.Fprint(s.w, "\x1b[H"+strings.Join(lines, "\x1b[K\r\n")+"\x1b[K\x1b[J")
}
