package tools

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

var (
	errMoved      = errors.New("is no longer where it was when leave was given")
	errNotRegular = errors.New("is not a regular file")
	errTooLarge   = errors.New("is too large")
)

// openParent opens the folder of target, an absolute path whose links were
// resolved before leave was given. It fails with errMoved when a link has taken
// the place of a folder since then, so that what is done through the returned
// root happens where it was allowed.
func openParent(target string) (*os.Root, error) {
	dir := filepath.Dir(target)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if err := checkSameFolder(root, dir); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

func checkSameFolder(root *os.Root, dir string) error {
	opened, err := root.Stat(".")
	if err != nil {
		return err
	}
	named, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !os.SameFile(opened, named) {
		return fmt.Errorf("%s %w", dir, errMoved)
	}
	return checkNotMoved(dir)
}

// checkNotMoved fails with errMoved when a link has come into the path of
// target since its links were resolved.
func checkNotMoved(target string) error {
	resolved, err := agent.ResolveLinks(target)
	if err == nil && resolved != target {
		err = fmt.Errorf("%s %w", target, errMoved)
	}
	return err
}

// openRegular opens the regular file base in root. It follows no link and never
// waits for a FIFO's other end.
func openRegular(root *os.Root, base string, flag int) (*os.File, error) {
	named, err := root.Lstat(base)
	if err != nil {
		return nil, err
	}
	if !named.Mode().IsRegular() {
		return nil, fmt.Errorf("%s %w", base, notRegular(named.Mode()))
	}
	f, err := root.OpenFile(base, flag|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(named, opened) {
		err = fmt.Errorf("%s %w", base, errMoved)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// notRegular says what a path is that is not a file.
func notRegular(mode fs.FileMode) error {
	switch {
	case mode.IsDir():
		return errors.New("is a directory, not a file")
	case mode&fs.ModeNamedPipe != 0:
		return fmt.Errorf("%w but a FIFO", errNotRegular)
	case mode&fs.ModeDevice != 0:
		return fmt.Errorf("%w but a device", errNotRegular)
	case mode&fs.ModeSocket != 0:
		return fmt.Errorf("%w but a socket", errNotRegular)
	}
	return errNotRegular
}

// readRegular reads the whole file at target, a resolved path, of at most limit
// bytes.
func readRegular(target string, limit int64) ([]byte, fs.FileInfo, error) {
	root, err := openParent(target)
	if err != nil {
		return nil, nil, err
	}
	defer discardClose(root)
	f, err := openRegular(root, filepath.Base(target), os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	defer discardClose(f)
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Size() > limit {
		return nil, info, fmt.Errorf("%s %w: %s, at most %s", target, errTooLarge, byteCount(info.Size()), byteCount(limit))
	}
	data := make([]byte, 0, info.Size()+1)
	for {
		n, err := readWithin(readPatience, f, data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return data, info, nil
		}
		if err != nil {
			return nil, info, err
		}
		if int64(len(data)) > limit { // it grows while it is read
			return nil, info, fmt.Errorf("%s %w: more than %s", target, errTooLarge, byteCount(limit))
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// readPatience is how long a read may wait. Files on a disk do not wait in this
// sense; those that only look regular, such as /proc/kmsg, may do so for ever.
const readPatience = time.Second

// readWithin is f.Read that gives up where nothing comes within patience.
func readWithin(patience time.Duration, f *os.File, buf []byte) (int, error) {
	_ = f.SetReadDeadline(time.Now().Add(patience)) // files on a disk have none
	return f.Read(buf)
}

// discardClose closes what nothing was written through, so that an error could
// mean nothing.
func discardClose(c io.Closer) { _ = c.Close() }

// byteCount writes a size for people: 5.2 MiB.
func byteCount(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
