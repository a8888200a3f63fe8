//go:build unix

package tools

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func hardLinks(info fs.FileInfo) uint64 {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return uint64(stat.Nlink) //nolint:unconvert // its type differs between systems
}

func sameOwner(a, b fs.FileInfo) bool {
	x, okA := a.Sys().(*syscall.Stat_t)
	y, okB := b.Sys().(*syscall.Stat_t)
	return okA && okB && x.Uid == y.Uid && x.Gid == y.Gid
}

// syncFolder makes a rename durable. drvfs and network file systems may not
// know how; the file itself is on disk then.
func syncFolder(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	if err = dir.Sync(); errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, dir.Close())
}
