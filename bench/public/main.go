package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// bench is what the flags and the machine give.
type bench struct {
	root, binary, python, maker string
	machine                     string // on which pairs are timed
	library                     library
	work                        string // working copies
	results                     string // the file of what was measured of a binary
	timed                       string // the file of what the clock says of changes
	half                        string
	patterns                    []string
	pairs, scouts               int
	limit                       time.Duration
	lock                        string // a file that is locked while a program runs, "" for none
	mode                        string // what is done: "measure", or one of the flags' names
	resume, again, all, anew    bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := public(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench/public:", err)
		os.Exit(1)
	}
}

// read takes the flags.
func (b *bench) read() error {
	cache, err := cacheFolder()
	if err != nil {
		return err
	}
	folder := cmp.Or(os.Getenv("BOTTLENECK_PUBLIC"), filepath.Join(cache, "public"))
	var pin, get, list, check, table bool
	var only string
	flag.StringVar(&b.half, "half", "", "build or held: only this half; both without it")
	flag.StringVar(&only, "only", "", "names of programs, with * and ?, between blanks")
	flag.IntVar(&b.pairs, "pairs", 6, "how often each side runs at most: a program whose judgement is settled gets no more; 0: only the reports are made")
	flag.DurationVar(&b.limit, "limit", 5*time.Minute, "how long one run may take")
	flag.StringVar(&b.lock, "lock", "", "a file that is locked while a program runs: other work on this machine waits by flock FILE COMMAND")
	flag.StringVar(&b.library.dir, "checkouts", filepath.Join(folder, "checkouts"), "the folder of the repositories' files")
	flag.StringVar(&b.library.mirrors, "mirrors", os.Getenv("BOTTLENECK_PUBLIC_MIRRORS"),
		"a folder of repositories as OWNER+NAME; without it git asks the host")
	flag.StringVar(&b.library.host, "host", "https://github.com", "where git finds a repository that no mirror has")
	flag.StringVar(&b.work, "work", filepath.Join(folder, "work"), "the folder of working copies")
	flag.StringVar(&b.results, "results", filepath.Join(folder, "results.json"), "the file of what was measured of this binary")
	flag.StringVar(&b.timed, "clock", filepath.Join("bench", "public", "clock.json"),
		"the file of what the clock said of each change, whatever binary proposed it")
	flag.BoolVar(&b.anew, "anew", false, "forget what the clock said of the chosen programs, of all machines")
	flag.BoolVar(&b.resume, "resume", false, "go on where an interrupted bench ended")
	flag.BoolVar(&b.again, "again", false, "time the original a second time in each turn, which shows the machine's noise")
	flag.IntVar(&b.scouts, "scouts", mostScouts,
		"in how many rounds other recorded changes run beside what the first finding proposes, to see whether a larger saving was missed")
	flag.BoolVar(&b.all, "all", false, "time every recorded change, not only those that the first finding proposes")
	flag.BoolVar(&pin, "pin", false, "only write files.txt anew")
	flag.BoolVar(&get, "get", false, "only bring the files, check them and make the working copies")
	flag.BoolVar(&list, "list", false, "only say what each program is, and how it is run by hand")
	flag.BoolVar(&check, "check", false, "only run each original once")
	flag.BoolVar(&table, "table", false, "only print the table of what was measured")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	b.patterns, b.mode = strings.Fields(only), "measure"
	for name, on := range map[string]bool{"pin": pin, "get": get, "list": list, "check": check, "table": table} {
		if on && b.mode != "measure" {
			return errors.New("-pin, -get, -list, -check and -table exclude each other")
		}
		if on {
			b.mode = name
		}
	}
	if b.half != "" && b.half != "build" && b.half != "held" {
		return fmt.Errorf("-half: want build or held, have %q", b.half)
	}
	if b.root, err = filepath.Abs("."); err != nil {
		return err
	}
	b.maker = filepath.Join(b.root, "bench", "public", "data", "make.py")
	b.binary = cmp.Or(os.Getenv("BOTTLENECK"), filepath.Join(b.root, "bottleneck"))
	return nil
}

// cacheFolder is where what a developer downloads lies, as scripts/env.sh has it.
func cacheFolder() (string, error) {
	if dir := os.Getenv("BOTTLENECK_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "bottleneck-dev"), err
}

// public does what the flags say.
func public(ctx context.Context) error {
	var b bench
	if err := b.read(); err != nil {
		return err
	}
	programs, err := readPrograms(b.half, b.patterns)
	if err != nil {
		return err
	}
	pins, err := readPins(filesText)
	if err != nil {
		return err
	}
	if b.mode == "table" {
		return b.table(programs)
	}
	if b.python, err = environment(ctx); err != nil {
		return err
	}
	switch b.mode {
	case "pin":
		return b.pin(ctx, programs, pins)
	case "list":
		return b.list(programs)
	case "get", "check":
		return b.each(ctx, programs, pins)
	}
	if b.machine, err = machine(ctx, b.python); err != nil {
		return err
	}
	return b.measureAll(ctx, programs, pins)
}

// environment is the interpreter that has what the programs import.
func environment(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join("scripts", "env.sh"), "public")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("scripts/env.sh public: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

func (b *bench) copiesOf(p *program) *copies {
	return &copies{bench: b, p: p, dir: filepath.Join(b.work, p.ID)}
}

// pin writes the file of pins for all programs.
func (b *bench) pin(ctx context.Context, programs []program, pins []pin) error {
	if b.half != "" || len(b.patterns) > 0 {
		return errors.New("-pin is for all programs")
	}
	text, err := b.library.pinAll(ctx, b.python, programs, pins)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.root, "bench", "public", "files.txt"), []byte(text), 0o644)
}

// list says how to run every program by hand, once its copy is made.
func (b *bench) list(programs []program) error {
	for i := range programs {
		p := &programs[i]
		c := b.copiesOf(p)
		command := assignments(c, p) + strings.Join(quoted(c.command(nil)), " ")
		fmt.Printf("%s (%s, %s)\n  cd %s && %s\n", p.ID, p.Repository, p.half(), c.folder(original), command)
	}
	return nil
}

// assignments are the variables of a program's own, as a shell takes them.
func assignments(c *copies, p *program) string {
	text := ""
	for _, k := range sortedKeys(p.Environment) {
		text += k + "=" + strings.ReplaceAll(p.Environment[k], "{tree}", filepath.Join(c.dir, original)) + " "
	}
	for _, v := range shared {
		text += v + " "
	}
	return text
}

func quoted(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a
		if strings.ContainsAny(a, " ()'\"$&;<>|*?") {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return out
}
