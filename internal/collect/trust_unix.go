//go:build unix

package collect

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	groupWrites  fs.FileMode = 0o020
	othersWrite  fs.FileMode = 0o002
	maxAncestors             = 256
)

// OwnDirectory says why others than this user could put files into dir or replace it: it, or the link that leads there, is another
// user's, its mode lets others write, or everybody may write where it stands. What does not exist yet is judged by where it would be.
// The error names the next step.
func OwnDirectory(dir string) error {
	path, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	link, err := os.Lstat(path)
	if err == nil {
		if uid := owner(link); uid != os.Geteuid() {
			return fmt.Errorf("%s belongs to %s, who could change what is written there; choose another directory, or one below it",
				dir, userName(uid))
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
		if err := ownAlone(path); err != nil {
			return err
		}
	}
	return ancestorsStay(path)
}

// ownAlone says why others than this user could write into a directory that exists.
func ownAlone(path string) error {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return err // what is no directory fails where it is used, in the system's words
	}
	if uid := owner(info); uid != os.Geteuid() {
		return fmt.Errorf("%s belongs to %s, who could change what is written there; choose another directory, or one below it",
			path, userName(uid))
	}
	if info.Mode().Perm()&othersWrite != 0 || info.Mode().Perm()&groupWrites != 0 && !ownGroup(info) {
		return fmt.Errorf("others may write into %s; take that back (chmod go-w %s), or choose another directory", path, path)
	}
	return nil
}

// ancestorsStay says where everybody may rename and replace what stands on the way to path: a directory that all may write, without
// the sticky bit.
func ancestorsStay(path string) error {
	for range maxAncestors {
		up := filepath.Dir(path)
		if up == path {
			return nil
		}
		path = up
		info, err := os.Stat(path)
		if err == nil && info.Mode().Perm()&othersWrite != 0 && info.Mode()&fs.ModeSticky == 0 {
			return fmt.Errorf("everybody may replace what stands in %s (chmod +t %s, or choose another directory)", path, path)
		}
	}
	return nil
}

// onlyOurs says who else could put a file into dir or replace it: of every directory on the way the owner may, and who may write it.
// Root could do anything anyway, and so could the owner of what stands in a name space of users that does not have him.
func onlyOurs(dir string) error {
	path, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	for range maxAncestors {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		uid, mode := owner(info), info.Mode()
		if uid != 0 && uid != os.Geteuid() && mapped(uid) {
			return fmt.Errorf("%s belongs to %s", path, userName(uid))
		}
		open := mode.Perm()&othersWrite != 0 || mode.Perm()&groupWrites != 0 && !ownGroup(info) && uid != 0
		if open && mode&fs.ModeSticky == 0 {
			return fmt.Errorf("others may write into %s", path)
		}
		up := filepath.Dir(path)
		if up == path {
			return nil
		}
		path = up
	}
	return fmt.Errorf("%s lies too deep", dir)
}

// mapped says whether the name space of users that this process is in has a user; others' files all show one number there.
func mapped(uid int) bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(text)) {
		var inside, outside, count int
		if n, _ := fmt.Sscan(line, &inside, &outside, &count); n == 3 && uid >= inside && uid-inside < count {
			return true
		}
	}
	return false
}

// owner is the number of the user whose a file is.
func owner(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

// ownGroup says whether a file's group is the one that many systems give each user for himself, whose name is the user's.
func ownGroup(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(st.Gid) != os.Getegid() {
		return false
	}
	me, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	if err != nil {
		return false
	}
	group, err := user.LookupGroupId(strconv.Itoa(int(st.Gid)))
	return err == nil && group.Name == me.Username
}

// userName is how messages call a user.
func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return fmt.Sprintf("user %d", uid)
}
