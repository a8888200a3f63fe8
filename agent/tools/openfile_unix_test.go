//go:build unix

package tools

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"
)

// A file that only looks regular and waits for content does not hold a read. A
// FIFO that is open at its other end stands in for /proc/kmsg.
func TestReadGivesUpWaiting(t *testing.T) {
	b := newWorkbench(t)
	must(t, syscall.Mkfifo(b.path("fifo"), 0o644))
	f, err := os.OpenFile(b.path("fifo"), os.O_RDWR|openNonblock, 0)
	must(t, err)
	defer discardClose(f)
	if n, err := readWithin(time.Millisecond, f, make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read %d bytes, error %v", n, err)
	}
}
