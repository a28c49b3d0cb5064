package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"bottleneck/internal/record"
)

// Names of what is made in the temporary folder: directories that packed sessions are unpacked into, and the lock in each, which the
// process holds that made it.
const (
	unpackedPrefix = "bottleneck-unpacked-"
	unpackedLock   = "lock"
)

// unpackAll replaces packed sessions among paths by directories that cleanup removes. They go, too, when the process is interrupted; what
// one that was killed left behind is removed by the next. Messages name the archives.
func (a *app) unpackAll(ctx context.Context, paths []string) (out []string, cleanup func(), err error) {
	scratch := &scratch{}
	cleanup = scratch.remove
	for _, path := range paths {
		if !record.IsPacked(path) {
			out = append(out, path)
			continue
		}
		if len(scratch.dirs) == 0 {
			removeLeft(os.TempDir())
			ctx = scratch.untilInterrupted(ctx)
		}
		dir, err := scratch.make()
		if err != nil {
			return nil, cleanup, unusable(fmt.Errorf("unpack %s: %w", path, err))
		}
		session, err := record.Unpack(ctx, path, dir)
		if err != nil {
			a.nameArchive(dir, path)
			if ctx.Err() != nil {
				scratch.await()
				return nil, cleanup, &exitError{130, err}
			}
			return nil, cleanup, unusable(err)
		}
		a.nameArchive(session, path)
		a.nameArchive(dir, path)
		out = append(out, session)
	}
	return out, cleanup, nil
}

// nameArchive lets messages say where a directory's files come from.
func (a *app) nameArchive(dir, archive string) { a.archives = append(a.archives, dir, archive) }

// message is a text that names archives instead of the directories that they are unpacked into.
func (a *app) message(text string) string {
	return strings.NewReplacer(a.archives...).Replace(text)
}

// removeLeft removes what processes left behind in the temporary folder that ended before they could: their locks are free.
func removeLeft(folder string) {
	locks, err := filepath.Glob(filepath.Join(folder, unpackedPrefix+"*", unpackedLock))
	if err != nil {
		return
	}
	for _, lock := range locks {
		if f, free := tryLock(lock); free {
			_ = os.RemoveAll(filepath.Dir(lock))
			_ = f.Close()
		}
	}
}
