package proc

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxSockets bounds what is read of a table of sockets, in bytes: a busy host has tens of thousands.
const maxSockets = 4 << 20

// Listens says whether a process has a socket on which others can ask something of it. The error says that the kernel does not tell.
func Listens(pid int) (bool, error) {
	own, err := sockets(pid)
	if err != nil || len(own) == 0 {
		return false, err
	}
	for _, table := range []struct {
		name  string
		state int // column
		is    string
		inode int // column
	}{{"tcp", 3, "0A", 9}, {"tcp6", 3, "0A", 9}, {"unix", 3, "00010000", 6}} {
		f, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", pid, table.name))
		if err != nil {
			continue // a kernel without it
		}
		text, err := io.ReadAll(io.LimitReader(f, maxSockets))
		f.Close()
		if err != nil {
			return false, err
		}
		for line := range bytes.Lines(text) {
			if c := bytes.Fields(line); len(c) > max(table.state, table.inode) && string(c[table.state]) == table.is &&
				own[string(c[table.inode])] {
				return true, nil
			}
		}
	}
	return false, nil
}

// sockets are the inodes of a process's sockets.
func sockets(pid int) (map[string]bool, error) {
	folder := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, e := range entries {
		to, err := os.Readlink(folder + "/" + e.Name())
		if inode, ok := strings.CutPrefix(to, "socket:["); err == nil && ok {
			out[strings.TrimSuffix(inode, "]")] = true
		}
	}
	return out, nil
}
