package cli

import (
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
	"bottleneck/internal/page"
	"bottleneck/internal/report"
	"bottleneck/internal/web"
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// viewPort is tried first where the user names none: the same address every time, as far as it is free.
const viewPort = 8484

// viewOptions are the flags of view.
type viewOptions struct {
	host   string
	port   int
	hosts  []string
	noOpen bool
	before string
}

func newViewCommand(a *app) *cobra.Command {
	o := &viewOptions{}
	cmd := &cobra.Command{
		Use:   "view [flags] PATH…",
		Short: "Show sessions and traces in the browser",
		Long: "Reads what `report` reads and serves one page of it on this machine until Ctrl-C: the verdict, tables, flame graphs, the " +
			"timeline.\nThe printed address holds a token; without it nobody sees the page. `export --to html` writes the same page as " +
			"one file.",
		Example: "  bottleneck view bottleneck-out/train-20260131-120000\n" +
			"  bottleneck view trace.json.gz --port 9000\n" +
			"  bottleneck view traces/ --host 0.0.0.0\n" +
			"  bottleneck view --before old-run new-run       # with what differs\n" +
			"  bottleneck view trace.json.gz --allow-host hub.example.org   # behind a proxy: …/proxy/8484/TOKEN/",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("view: PATH is missing: a session directory or a trace; sessions are in bottleneck-out/")
			}
			if o.port < 0 || o.port > 65535 {
				return usage("--port: %d is no port; use 0 (any free one) to 65535", o.port)
			}
			return a.viewPaths(cmd.Context(), o, args, cmd.Flags().Changed("port"))
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.host, "host", "127.0.0.1", "listen on this `ADDRESS`; 0.0.0.0 is every network of this machine")
	f.IntVar(&o.port, "port", viewPort, "listen on this `PORT`; the next free one where none is given")
	f.StringArrayVar(&o.hosts, "allow-host", nil, "also answer to this `NAME`, of a proxy or of this machine")
	f.StringVar(&o.before, "before", "", "also show what differs from this earlier `PATH`, as diff says it")
	f.BoolVar(&o.noOpen, "no-open", false, "open no browser, on a desktop either")
	return cmd
}

// viewPaths listens first, so that a port in use is said before minutes of reading, and then reads and serves.
func (a *app) viewPaths(ctx context.Context, o *viewOptions, args []string, portGiven bool) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	l, err := o.listen(portGiven)
	if err != nil {
		return err
	}
	defer l.Close()
	paths, cleanup, err := a.unpackAll(ctx, args)
	defer cleanup()
	if err != nil {
		return err
	}
	source, err := a.source(ctx, o, args, paths)
	if err != nil {
		return err
	}
	token := web.NewToken()
	address := o.announce(a, l.Addr().(*net.TCPAddr).Port, token)
	if !o.noOpen && isDesktop() && isTerminal(a.stdout) {
		openBrowser(address)
	}
	return web.Serve(ctx, l, web.Handler(source, web.Options{Token: token, Hosts: append(ownNames(), o.hosts...)}))
}

// loadPage reads paths and makes their page; growing says that the program still runs. shown is how the user names the first of them.
func (a *app) loadPage(ctx context.Context, paths []string, shown string) (p *page.Page, growing bool, err error) {
	opt := ingest.Options{Rank: nil}
	if opt.Survey, err = survey(paths); err != nil {
		return nil, false, err
	}
	build := report.Options{Version: Version(), Path: shown, MaxRows: page.MaxRows}
	if len(paths) == 1 {
		build.Measured = savedMeasured(a, paths[0])
	}
	if manyRanks(opt.Survey) {
		merge := report.NewMerge(build)
		s, err := ingestEach(ctx, a, paths, opt, merge)
		if err != nil {
			return nil, false, err
		}
		return page.New(s, merge.Report(s)), s.Growing, nil
	}
	s, err := a.load(ctx, paths, opt)
	if err != nil {
		return nil, false, err
	}
	return page.New(s, report.Build(s, build)), s.Growing, nil
}

// compareWith adds to a page what differs from an earlier run.
func (a *app) compareWith(ctx context.Context, p *page.Page, before string, after []string) error {
	d, err := a.compared(ctx, []string{before}, after)
	if err != nil {
		return fmt.Errorf("view --before: %w", err)
	}
	s, cleanup, err := a.loadFirst(ctx, before)
	defer cleanup()
	if err != nil {
		return err
	}
	p.Compare(d, s)
	return nil
}

// listen takes the port; where it is in use and was not asked for, the next free one.
func (o *viewOptions) listen(given bool) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(o.host, strconv.Itoa(o.port)))
	if err == nil {
		return l, nil
	}
	next, free := o.nextFree()
	if free == nil {
		return nil, unusable(fmt.Errorf("view: %w", err))
	}
	if !given {
		return free, nil
	}
	free.Close()
	return nil, unusable(fmt.Errorf("view: port %d cannot be used%s: %w; --port %d is free", o.port, portUser(o.port), cause(err), next))
}

// nextFree listens on the first free port after the one that is not.
func (o *viewOptions) nextFree() (int, net.Listener) {
	const tries = 50
	for port := o.port + 1; port <= min(o.port+tries, 65535); port++ {
		if l, err := net.Listen("tcp", net.JoinHostPort(o.host, strconv.Itoa(port))); err == nil {
			return port, l
		}
	}
	return 0, nil
}

const endsByInterrupt = "Ctrl-C ends it."

// announce prints the address, and how to come there from another machine.
func (o *viewOptions) announce(a *app, port int, token string) string {
	host := o.host
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if names := ownNames(); len(names) > 0 && !isDesktop() {
			host = names[0]
		}
	}
	address := fmt.Sprintf("http://%s/%s/", net.JoinHostPort(host, strconv.Itoa(port)), token)
	fmt.Fprintf(a.stdout, "%s\n", address)
	if hint := tunnelHint(port, token, os.Getenv); hint != "" {
		fmt.Fprintf(a.stdout, "From the machine that you sit at:\n%s\n", hint)
	}
	fmt.Fprintln(a.stdout, endsByInterrupt)
	return address
}

// tunnelHint is how the page is reached over the ssh connection that this runs in; "" where there is none.
func tunnelHint(port int, token string, env func(string) string) string {
	connection := strings.Fields(env("SSH_CONNECTION")) // client address, client port, server address, server port
	if len(connection) != 4 {
		return ""
	}
	command := fmt.Sprintf("ssh -N -L %d:localhost:%d ", port, port)
	if connection[3] != "22" {
		command += "-p " + connection[3] + " "
	}
	if user := env("USER"); user != "" {
		command += user + "@"
	}
	return fmt.Sprintf("  %s%s\n  then open http://localhost:%d/%s/", command, connection[2], port, token)
}

// ownNames are the names of this machine.
func ownNames() []string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return nil
	}
	short, _, dotted := strings.Cut(name, ".")
	if dotted {
		return []string{name, short}
	}
	return []string{name}
}

func ingestEach(ctx context.Context, a *app, paths []string, opt ingest.Options, merge *report.Merge) (*model.Session, error) {
	return a.reading(opt, func(opt ingest.Options) (*model.Session, error) {
		return ingest.Each(ctx, paths, opt, func(number int, s *model.Session, t *model.Trace) (func(), error) {
			return merge.Add(number, s, t), nil
		})
	})
}
