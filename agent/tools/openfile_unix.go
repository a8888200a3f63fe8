//go:build unix

package tools

import "golang.org/x/sys/unix"

const (
	openNonblock = unix.O_NONBLOCK
	openNoFollow = unix.O_NOFOLLOW
)
