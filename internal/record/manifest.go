package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ManifestSchema is the version of the session directory that this package writes.
const ManifestSchema = "bottleneck.session/1"

// Manifest is manifest.json: what job a session directory belongs to.
type Manifest struct {
	Schema        string   `json:"schema"`
	Job           string   `json:"job"`
	CreatedUnixNS int64    `json:"created_unix_ns"`
	Command       []string `json:"command"`
	Host          string   `json:"host"`
	Version       string   `json:"bottleneck"`
	// Redacted says that pack replaced names in the session.
	Redacted bool `json:"redacted,omitempty"`
}

// OtherJobError says that a directory cannot be this job's session: it holds another job's, or something else.
type OtherJobError struct {
	Dir string
	Job string // "" when Dir holds no session at all
}

func (e *OtherJobError) Error() string {
	if e.Job == "" {
		return fmt.Sprintf("%s is not empty and holds no session; choose another directory", e.Dir)
	}
	return fmt.Sprintf("%s holds the session of another run; choose another directory or remove it", e.Dir)
}

// Create makes dir the session directory of m.Job, or joins it where another launcher of the same job was first.
// joined tells which. A directory of another job, or one with foreign files, gives an *OtherJobError.
func Create(dir string, m Manifest) (joined bool, err error) {
	if err := checkForeign(dir); err != nil {
		return false, err
	}
	if err := os.MkdirAll(dir, DirMode); err != nil {
		return false, fmt.Errorf("create session: %w", err)
	}
	m.Schema = ManifestSchema
	created, err := createManifest(dir, m)
	if err != nil || created {
		return false, err
	}
	old, err := ReadManifest(dir)
	if err != nil {
		return false, fmt.Errorf("join session: %w", err)
	}
	if old.Job != m.Job {
		return false, &OtherJobError{Dir: dir, Job: old.Job}
	}
	return true, nil
}

// createManifest writes the manifest unless there is one. The whole text is linked into place, so that launchers that
// start at the same time agree on one without a lock; file systems without hard links get an exclusive creation.
func createManifest(dir string, m Manifest) (bool, error) {
	path := filepath.Join(dir, ManifestName)
	if _, err := os.Stat(path); err == nil {
		return false, nil
	}
	tmp, err := os.CreateTemp(dir, "."+ManifestName+".tmp-*")
	if err != nil {
		return false, fmt.Errorf("create session: %w", err)
	}
	defer os.Remove(tmp.Name())
	encode := json.NewEncoder(tmp)
	encode.SetIndent("", " ")
	if err := errors.Join(encode.Encode(m), tmp.Close()); err != nil {
		return false, fmt.Errorf("create session: %w", err)
	}
	err = os.Link(tmp.Name(), path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err == nil, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, FileMode)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("create session: %w", err)
	}
	_ = f.Close()
	return true, WriteJSON(path, m)
}

// checkForeign refuses a directory that has entries but neither a manifest nor the traces of one being made.
func checkForeign(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create session: %w", err)
	}
	foreign := false
	for _, e := range entries {
		name := e.Name()
		if name == ManifestName {
			return nil
		}
		if !strings.HasPrefix(name, "."+ManifestName) && !strings.HasPrefix(name, LauncherPrefix) {
			foreign = true
		}
	}
	if foreign {
		return &OtherJobError{Dir: dir}
	}
	return nil
}

// Over says whether dir holds a session whose every launcher has noted its program's end, and which was begun before the
// given time: a job that uses a name again must not join it.
func Over(dir string, before time.Time) bool {
	m, err := ReadManifest(dir)
	if err != nil || m.CreatedUnixNS > before.UnixNano() {
		return false
	}
	launchers, _, err := Folders(dir)
	if err != nil || len(launchers) == 0 {
		return false
	}
	for _, folder := range launchers {
		if l, err := ReadLauncher(folder); err != nil || l.Exit == nil {
			return false
		}
	}
	return true
}

// ReadManifest reads a session's manifest.
func ReadManifest(dir string) (Manifest, error) {
	var m Manifest
	err := ReadJSON(dir, ManifestName, &m)
	return m, err
}
