package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
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
	view     string
	native   string
	mode     collect.NativeMode
}

func newTopCommand(a *app) *cobra.Command {
	o := &topOptions{}
	cmd := &cobra.Command{
		Use:   "top PID",
		Short: "Watch live which functions and lines of a running program take time",
		Long: "Samples a running program and its children, without stopping them, and shows functions, lines, threads or processes by\n" +
			"time. Keys: q quit, p pause, s sort by own or total time, c only time on a processor, f functions, l lines, t threads,\n" +
			"P processes, / search. Without a terminal it prints --count tables.",
		Example: "  bottleneck top 4242\n" +
			"  bottleneck top --count 1 --interval 5s --view lines 4242",
		Args: func(_ *cobra.Command, args []string) error { return onePID("top", args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			pids, err := parsePIDs("top", args)
			if err != nil {
				return err
			}
			if o.rate <= 0 || o.rate > 10000 || o.interval < 10*time.Millisecond {
				return usage("top: --rate must be above 0 and at most 10000, --interval at least 10ms")
			}
			if err := oneOf("--view", o.view, topViews...); err != nil {
				return err
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
	cmd.Flags().StringVar(&o.view, "view", topViews[topFunctions], "begin with this `VIEW`: "+strings.Join(topViews, ", "))
	addNative(cmd.Flags(), &o.native)
	return cmd
}

// topViews are the names of the views, by mode.
var topViews = []string{topFunctions: "functions", topLines: "lines", topThreads: "threads", topProcesses: "processes"}

// screen is where top draws.
type screen struct {
	w           io.Writer
	interactive bool
	size        func() (width, height int)
}

func (a *app) top(ctx context.Context, o *topOptions, pid int) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	if why := collect.AwaitPython(ctx, pid); why != "" {
		return unusable(fmt.Errorf("top: process %d: %s", pid, why))
	}
	keys := make(chan byte, 16)
	s, restore, err := a.screen(keys)
	if err != nil {
		return unusable(fmt.Errorf("top: set the terminal up: %w", err))
	}
	if !s.interactive && o.count == 0 {
		o.count = 1
	}
	ended, err := runTop(ctx, o, pid, s, keys)
	restore()
	if ended {
		a.warn("process %d has ended", pid)
	}
	return err
}

// screen makes the terminal ready to be drawn on, where there is one; restore gives it back as it was.
func (a *app) screen(keys chan<- byte) (s *screen, restore func(), err error) {
	s = &screen{w: a.stdout, size: func() (int, int) { return width(a.stdout), 1 << 20 }}
	out, toTerminal := a.stdout.(*os.File)
	in, fromTerminal := a.stdin.(*os.File)
	if !toTerminal || !fromTerminal || !isTerminal(out) || !term.IsTerminal(int(in.Fd())) {
		return s, func() {}, nil
	}
	old, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, nil, err
	}
	go readKeys(in, keys)
	s.interactive = true
	s.size = func() (int, int) {
		w, h, err := term.GetSize(int(out.Fd()))
		if err != nil || w <= 0 || h <= 0 {
			return 80, 24
		}
		return w, h
	}
	// Another screen, without a cursor, and without a second line for what is too wide, as wide characters may be.
	fmt.Fprint(s.w, "\x1b[?1049h\x1b[?25l\x1b[?7l")
	return s, func() {
		fmt.Fprint(s.w, "\x1b[?7h\x1b[?25h\x1b[?1049l")
		_ = term.Restore(int(in.Fd()), old)
	}, nil
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
func runTop(ctx context.Context, o *topOptions, pid int, s *screen, keys <-chan byte) (ended bool, err error) {
	var mu sync.Mutex
	state := &topState{pid: pid, mode: topMode(slices.Index(topViews, o.view)), now: newTopWindow(), shown: newTopWindow()}
	sampler, err := collect.StartSampler(ctx, collect.SamplerOptions{PID: pid, Hz: o.rate, Native: o.mode,
		Live: func(l collect.LiveSample) {
			mu.Lock()
			state.now.add(&l)
			mu.Unlock()
		}})
	if err != nil {
		return false, unusable(fmt.Errorf("top: %w", err))
	}
	defer sampler.Stop()
	if s.interactive {
		s.draw(&mu, state)
	}
	tick := time.NewTicker(o.interval)
	defer tick.Stop()
	looks := int64(0)
	for shown := 0; !ended && (o.count == 0 || shown < o.count); {
		select {
		case <-ctx.Done():
			return false, nil
		case <-sampler.Done():
			ended = ctx.Err() == nil
		case k := <-keys:
			mu.Lock()
			quit := state.key(k)
			mu.Unlock()
			if quit {
				return false, nil
			}
			s.draw(&mu, state)
			continue
		case <-tick.C:
		}
		mu.Lock()
		now := sampler.Wakes()
		state.turn(now - looks)
		looks = now
		mu.Unlock()
		s.draw(&mu, state)
		shown++
	}
	return ended, nil
}

// draw puts the picture on the screen in one write.
func (s *screen) draw(mu *sync.Mutex, state *topState) {
	w, h := s.size()
	mu.Lock()
	if !s.interactive {
		h = min(h, len(state.rows())+2, 40)
	}
	lines := state.render(w, h)
	mu.Unlock()
	if !s.interactive {
		fmt.Fprintln(s.w, strings.TrimRight(strings.Join(lines[:len(lines)-1], "\n"), "\n"))
		return
	}
	// Each line is cleared before it is written: behind one that fills the screen the cursor stands on its last column.
	fmt.Fprint(s.w, "\x1b[H\x1b[K"+strings.Join(lines, "\r\n\x1b[K"))
}
