//go:build unix

package store

import (
	"os/signal"
	"syscall"
)

// limitFileSize makes writes behind limit bytes fail, as on a full disk.
func limitFileSize(limit uint64) error {
	signal.Ignore(syscall.SIGXFSZ)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit})
}
