package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"bottleneck/internal/agent"
	"bottleneck/internal/collect"
	"bottleneck/internal/record"
)

// session is the session directory of a run while the launcher writes it. A nil session is one that could not be made:
// its methods do nothing.
type session struct {
	dir      string               // absolute
	shown    string               // as the user would type it
	folder   string               // the launcher's own
	agent    *collect.AgentFolder // nil where its code has no place: the program is watched from outside
	launcher *record.Launcher
	tidier   *collect.Tidier
	watcher  *watcher
	ready    *readyRunner
	gpus     chan []record.GPU
}

// openSession makes or joins the session directory and writes what is known before the program starts. cwd is the program's working
// directory; "" this process's.
func openSession(a *app, o *runOptions, target collect.Target, command collect.Command, cwd string) (*session, error) {
	job := collect.FindJob(os.Getenv, os.Getppid(), collect.ProcessStart)
	host, _ := os.Hostname()
	now := time.Now()
	manifest := record.Manifest{Job: job.ID, CreatedUnixNS: now.UnixNano(), Command: record.RedactArguments(command.Argv),
		Host: host, Version: Version()}
	dir, err := makeDirectory(a, o.out, defaultName(target, job, now), manifest)
	if err != nil {
		return nil, err
	}
	s := &session{shown: dir}
	if s.dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("session directory: %w", err)
	}
	s.folder = filepath.Join(s.dir, record.LauncherPrefix+record.FolderName(host, os.Getpid(), now))
	if err := os.MkdirAll(s.folder, record.DirMode); err != nil {
		return nil, fmt.Errorf("session directory: %w", err)
	}
	if cwd == "" {
		cwd, _ = os.Getwd()
	}
	s.launcher = &record.Launcher{Host: host, PID: os.Getpid(), Version: Version(), Job: job.ID, Rank: job.Rank,
		Command: record.RedactArguments(command.Argv), Target: string(target.Kind), Interpreter: command.Interpreter, CWD: cwd,
		Flags: o.given, StartUnixNS: now.UnixNano(), Before: collect.ReadMachine()}
	s.placeAgent(command)
	if err := s.launcher.Write(s.folder); err != nil {
		s.agent.Remove()
		return nil, err
	}
	s.keepRoom()
	return s, nil
}

// placeAgent puts the agent's code where the program will find it, or says why not.
func (s *session) placeAgent(command collect.Command) {
	const absent, lost = "agent-absent", "the agent was not loaded, so steps, waits and operators are missing: "
	if printsImports(command.Argv, os.Environ()) {
		s.launcher.AddNote(absent, lost+"Python prints every import (-X importtime), and would print the agent's")
		return
	}
	var err error
	if s.agent, err = collect.MakeAgentFolder(s.dir, s.launcher.Host); err != nil {
		s.launcher.AddNote(absent, lost+err.Error())
	}
}

// room is what is kept of the disk for launcher.json as it is at the end.
const room = 128 << 10

// keepRoom makes a file that takes room on the disk until the session ends: the program may fill the disk meanwhile.
func (s *session) keepRoom() {
	if f, err := os.OpenFile(filepath.Join(s.folder, record.RoomName), os.O_CREATE|os.O_WRONLY, record.FileMode); err == nil {
		record.KeepRoom(f, 0, room)
		_ = f.Close()
	}
}

// noteFullDisk gives that room back, and says so where there is no other: what could not be written is missing from the report.
func (s *session) noteFullDisk() {
	// The sampler may have ended with the program, and given back what it kept.
	if left, ok := record.Room(s.folder); ok && left < room+record.SampleReserve {
		s.launcher.AddNote("disk-full", "the disk of the session is full: what the program's processes would have written since it is "+
			"(steps, waits, traces, their ends) is missing; choose a disk with more room by --out, or a bound by --max-size")
	}
	_ = os.Remove(filepath.Join(s.folder, record.RoomName))
}

// defaultName is <name>-<time>, or <name>-<job> where other launchers must find the same.
func defaultName(target collect.Target, job collect.Job, now time.Time) string {
	name := record.SafeName(target.ShortName())
	if job.Shared {
		return name + "-" + job.ID
	}
	return name + "-" + now.Format("20060102-150405")
}

// makeDirectory makes the session directory: the given one, or one of the default name below the working directory, or,
// where that cannot be written, below the directory for temporary files.
func makeDirectory(a *app, out, name string, m record.Manifest) (string, error) {
	if out != "" {
		if err := collect.OwnDirectory(out); err != nil {
			return "", &othersError{err}
		}
		return out, createOrJoin(out, m)
	}
	dir, err := createBelow("bottleneck-out", name, m)
	if err == nil {
		return dir, nil
	}
	other, ferr := createBelow(filepath.Join(os.TempDir(), fmt.Sprintf("bottleneck-out-%d", os.Getuid())), name, m)
	if ferr != nil {
		return "", err
	}
	a.warn("cannot write here (%v); the session is %s", cause(err), other)
	return other, nil
}

// othersError says that others could change what is written into the directory that was asked for.
type othersError struct{ error }

// createBelow is createFresh below a directory that is this user's alone.
func createBelow(parent, name string, m record.Manifest) (string, error) {
	if err := collect.OwnDirectory(parent); err != nil {
		return "", err
	}
	return createFresh(filepath.Join(parent, name), m)
}

// lateJoiner is how long after the first launcher the last one of a job may start.
const lateJoiner = time.Minute

// createOrJoin is record.Create, except that a job does not join a session that is over: rendezvous ids are often typed
// once and used for every run. Workers that torchelastic started again do belong to it.
func createOrJoin(dir string, m record.Manifest) error {
	again, _ := strconv.Atoi(os.Getenv("TORCHELASTIC_RESTART_COUNT"))
	if again == 0 && record.Over(dir, time.Now().Add(-lateJoiner)) {
		return &record.OtherJobError{Dir: dir, Job: m.Job}
	}
	_, err := record.Create(dir, m)
	return err
}

// createFresh is createOrJoin with a number added where two runs begin in the same second.
func createFresh(dir string, m record.Manifest) (string, error) {
	candidate := dir
	for n := 2; ; n++ {
		err := createOrJoin(candidate, m)
		var other *record.OtherJobError
		if !errors.As(err, &other) || n > 100 {
			return candidate, err
		}
		candidate = fmt.Sprintf("%s-%d", dir, n)
	}
}

// cause is the system's own word for why a path failed, without the path.
func cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// environ adds the agent and the session to the program's environment.
func (s *session) environ(env []string, o *runOptions) []string {
	if s == nil {
		return env
	}
	if s.agent != nil {
		config := o.config
		config.Session = s.dir
		env = agent.Environ(env, s.agent.Dir(), config)
	}
	return append(env, collect.EnvSession+"="+s.dir, collect.EnvJob+"="+s.launcher.Job)
}

// abandon removes what openSession wrote: the program could not be started, and there is nothing to keep. Directories
// that hold anything else stay.
func (s *session) abandon() {
	if s == nil {
		return
	}
	_ = os.RemoveAll(s.folder)
	s.agent.Remove()
	if launchers, processes, err := record.Folders(s.dir); err == nil && len(launchers)+len(processes) == 0 {
		_ = os.Remove(filepath.Join(s.dir, record.ManifestName))
		_ = os.Remove(s.dir)
		_ = os.Remove(filepath.Dir(s.dir)) // bottleneck-out, when it is empty
	}
}

// started begins everything that goes on beside the program.
func (s *session) started(ctx context.Context, o *runOptions, p *collect.Program) {
	if s == nil {
		return
	}
	s.launcher.ChildPID = p.PID()
	s.launcher.StartUnixNS = p.Started.UnixNano()
	_ = s.launcher.Write(s.folder)
	maxBytes := o.maxBytes
	if s.launcher.Rank != 0 {
		maxBytes = 0 // one launcher of the job prunes
	}
	s.tidier = collect.StartTidier(ctx, s.dir, s.launcher.Host, maxBytes)
	s.ready = startReady(s.dir, s.launcher.Host, o.onTraceReady)
	s.watcher = startWatcher(ctx, s, o, p)
	s.gpus = make(chan []record.GPU, 1)
	go func() { s.gpus <- collect.ReadGPUs(ctx) }()
}

// ended writes how the program and the machine fared. An error means that the session has gone.
func (s *session) ended(ctx context.Context, outcome collect.Outcome) error {
	awaitRest(s.dir, s.launcher.Host, restTime)
	s.noteFullDisk()
	s.watcher.stop(s.launcher)
	s.tidier.Stop()
	s.ready.stop(s.launcher)
	s.tidier.Prune()
	exit := outcome.Exit
	s.launcher.Exit = &exit
	s.launcher.After = collect.ReadMachine()
	select {
	case s.launcher.Before.GPUs = <-s.gpus:
		if collect.Shared(s.launcher.Before.GPUs) { // nobody waits for a second look where there was nobody at the first one
			s.launcher.After.GPUs = collect.ReadGPUs(ctx)
		}
	case <-time.After(100 * time.Millisecond):
	}
	if text := s.tidier.Dropped(); text != "" {
		s.launcher.AddNote("max-size", text)
	}
	s.noteMissing()
	s.launcher.Own.CPUNS, s.launcher.Own.PeakRSS = collect.OwnCost()
	if _, err := os.Stat(s.dir); err != nil {
		return fmt.Errorf("the session directory has gone: %w", cause(err))
	}
	if err := s.launcher.Write(s.folder); err != nil {
		if full := os.MkdirAll(s.folder, record.DirMode); full != nil {
			return err
		}
		return err
	}
	return nil
}

// waitForOthers waits until the job's other launchers have noted their program's end, because their last data is part of
// the report.
func (s *session) waitForOthers(ctx context.Context, atMost time.Duration) {
	deadline := time.NewTimer(atMost)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !s.othersDone() {
		select {
		case <-ctx.Done():
			return
		case <-deadline.C:
			return
		case <-tick.C:
		}
	}
}

func (s *session) othersDone() bool {
	launchers, _, err := record.Folders(s.dir)
	if err != nil {
		return true
	}
	for _, folder := range launchers {
		if folder == s.folder {
			continue
		}
		if l, err := record.ReadLauncher(folder); err == nil && l.Exit == nil {
			return false
		}
	}
	return true
}

// close compresses the last traces, after the report, and takes the agent's code away.
func (s *session) close(ctx context.Context) {
	s.agent.Remove()
	s.tidier.CompressAll(ctx)
}
