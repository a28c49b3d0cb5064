package collect

import "golang.org/x/sys/unix"

const sysSelect = unix.SYS_SELECT
