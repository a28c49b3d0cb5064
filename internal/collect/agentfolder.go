package collect

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bottleneck/internal/agent"
	"bottleneck/internal/record"
)

const (
	// agentPrefix begins the names of folders for the agent's code.
	agentPrefix = "bottleneck-agent-"
	// agentOwner is the file in such a folder that says whose it is.
	agentOwner = "owner.json"
	// foreignAge is how old a folder must be whose launcher cannot be looked up (another host or container) to be removed.
	foreignAge = 7 * 24 * time.Hour
	// compiledPrefix begins the names of folders for the agent's compiled code, which runs share.
	compiledPrefix = "compiled-"
	// cacheName is our directory among the user's caches.
	cacheName = "bottleneck"
	// maxLeft bounds the folders of one place that are looked at.
	maxLeft = 1000
)

// AgentFolder is a fresh folder of this launcher's own that the program loads the agent's code from. Nobody else can write there: a
// session may lie where others can, and code must not.
type AgentFolder struct {
	path  string
	owner agentUser
}

// agentUser is the launcher whose folder it is; what still runs of its session may still load code from there.
type agentUser struct {
	Place   string `json:"place"` // host and process numbers' name space
	PID     int    `json:"pid"`
	Start   string `json:"start"`
	Session string `json:"session"`
	Host    string `json:"host"`
}

// MakeAgentFolder writes the agent's code where nobody else can write, outside of the session and, where there is a choice, of the
// working directory: below the user's cache directory, which several hosts often share, else below one for temporary files. What runs
// that were killed have left is removed.
func MakeAgentFolder(session, host string) (*AgentFolder, error) {
	a := &AgentFolder{owner: agentUser{placeOf(host), os.Getpid(), ProcessStart(os.Getpid()), session, host}}
	var failed []error
	for _, base := range agentBases(session) {
		err := a.makeIn(base)
		if err == nil {
			return a, nil
		}
		failed = append(failed, err)
	}
	return nil, fmt.Errorf("no place for the agent's code: %w", errors.Join(failed...))
}

// Dir is the directory for agent.Environ.
func (a *AgentFolder) Dir() string { return filepath.Join(a.path, record.AgentDir) }

// Remove takes the folder away, unless a process of the session still runs, which loads code when it needs it.
func (a *AgentFolder) Remove() {
	if a == nil || AnyRuns(a.owner.Session, a.owner.Host) {
		return
	}
	_ = os.RemoveAll(a.path)
	if base := filepath.Dir(a.path); filepath.Base(base) == cacheName {
		_ = os.Remove(compiledDir(base)) // where they are empty
		_ = os.Remove(base)
	}
}

func (a *AgentFolder) makeIn(base string) error {
	if err := os.MkdirAll(base, record.DirMode); err != nil {
		return err
	}
	if err := onlyOurs(base); err != nil {
		return err
	}
	// What launchers have left that were killed, and whose processes have ended.
	sweep(base, agentPrefix, func(path string, age time.Duration) bool { return leftBehind(path, a.owner.Place, age) })
	path, err := os.MkdirTemp(base, agentPrefix) // 0700, and never one that was there
	if err != nil {
		return err
	}
	text, _ := json.Marshal(a.owner)
	err = os.WriteFile(filepath.Join(path, agentOwner), text, record.FileMode)
	if err == nil {
		err = agent.Extract(filepath.Join(path, record.AgentDir))
	}
	if err != nil {
		_ = os.RemoveAll(path)
		return err
	}
	if filepath.Base(base) == cacheName {
		keepCompiled(base, filepath.Join(path, record.AgentDir, filepath.FromSlash(agent.CompiledDir)))
	}
	a.path = path
	return nil
}

// compiledDir is the folder for the compiled code of this version's agent.
func compiledDir(base string) string { return filepath.Join(base, compiledPrefix+agent.Version()) }

// keepCompiled has Python keep the agent's compiled code, at link, in a folder among the user's caches that later runs of this version
// use too. Where that cannot be, it is compiled anew.
func keepCompiled(base, link string) {
	kept := compiledDir(base)
	if os.Mkdir(kept, record.DirMode) == nil { // what other versions have kept, and had nothing new to keep for long
		sweep(base, compiledPrefix, func(_ string, age time.Duration) bool { return age > foreignAge })
	}
	if info, err := os.Lstat(kept); err == nil && info.IsDir() && ownAlone(kept) == nil {
		_ = os.Symlink(kept, link)
	}
}

// agentBases are the directories to try, those outside of the working directory and the session first.
func agentBases(session string) []string {
	var all, inside []string
	if cache, err := os.UserCacheDir(); err == nil && ownHome(filepath.Dir(cache)) {
		all = append(all, filepath.Join(cache, cacheName))
	}
	all = append(all, os.TempDir(), "/tmp", "/var/tmp", "/dev/shm")
	here, _ := os.Getwd()
	var outside []string
	for _, base := range all {
		base, err := filepath.Abs(base)
		switch {
		case err != nil || below(base, session):
		case here != "" && below(base, here):
			inside = append(inside, base)
		default:
			outside = append(outside, base)
		}
	}
	return append(outside, inside...)
}

// ownHome says whether the directory that the user's caches lie in is there and nobody else's: with sudo it may be another's.
func ownHome(home string) bool {
	_, err := os.Stat(home)
	return err == nil && onlyOurs(home) == nil
}

// below says whether a path is a directory or lies in it.
func below(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// placeOf names where process numbers mean the same.
func placeOf(host string) string {
	space, _ := os.Readlink("/proc/self/ns/pid")
	return host + " " + space
}

// sweep removes folders of this user, whose names begin with prefix, that nothing can need any more, by their age.
func sweep(base, prefix string, over func(path string, age time.Duration) bool) {
	found, _ := filepath.Glob(filepath.Join(base, prefix+"*"))
	for _, path := range found[:min(len(found), maxLeft)] {
		info, err := os.Lstat(path)
		if err == nil && info.IsDir() && ownAlone(path) == nil && over(path, time.Since(info.ModTime())) {
			_ = os.RemoveAll(path)
		}
	}
}

// leftBehind says whether nothing can need a folder any more.
func leftBehind(path, place string, age time.Duration) bool {
	var owner agentUser
	err := record.ReadJSON(path, agentOwner, &owner)
	switch {
	case err != nil:
		return age > time.Hour // it is being made, or was never finished
	case owner.Place != place:
		return age > foreignAge
	}
	return ProcessStart(owner.PID) != owner.Start && !AnyRuns(owner.Session, owner.Host)
}
