package cli

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// portUser says which process listens on a port, " (by NAME, pid N)"; "" where that cannot be seen, as of other users' processes.
func portUser(port int) string {
	inodes := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		listeningInodes(table, port, inodes)
	}
	if len(inodes) == 0 {
		return ""
	}
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil && inodes[target] {
			pid := strings.Split(fd, "/")[2]
			name, _ := os.ReadFile("/proc/" + pid + "/comm")
			return fmt.Sprintf(" (by %s, pid %s)", strings.TrimSpace(string(name)), pid)
		}
	}
	return ""
}

// listeningInodes adds the sockets of a table of the kernel's that listen on port, as links of /proc/PID/fd name them
// (proc_net_tcp.rst: local address in hexadecimal, state 0A is LISTEN, the tenth field is the inode).
func listeningInodes(table string, port int, to map[string]bool) {
	f, err := os.Open(table)
	if err != nil {
		return
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		field := strings.Fields(lines.Text())
		if len(field) < 10 || field[3] != "0A" {
			continue
		}
		_, number, _ := strings.Cut(field[1], ":")
		if n, err := strconv.ParseInt(number, 16, 32); err == nil && int(n) == port {
			to["socket:["+field[9]+"]"] = true
		}
	}
}
