package tools

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

func baseOf(target string) string { return filepath.Base(target) }

// writeFile makes data the content of the file at target, a resolved path, and
// creates missing folders. A new file gets mode, or the usual one when it is 0.
// An existing file keeps its mode, its owner and its other
// hard links; through a crash it holds the old or the new content, never a part,
// except where keeping owner and links means writing in place.
func writeFile(target string, data []byte, mode fs.FileMode) error {
	if err := makeParents(filepath.Dir(target)); err != nil {
		return err
	}
	root, err := openParent(target)
	if err != nil {
		return err
	}
	defer discardClose(root)

	base := baseOf(target)
	old, err := root.Lstat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = writeByRename(root, base, data, nil)
		if err == nil && mode != 0 {
			err = root.Chmod(base, mode)
		}
		return err
	case err != nil:
		return err
	case !old.Mode().IsRegular():
		return notRegular(old.Mode())
	case hardLinks(old) > 1:
		return writeInPlace(root, base, data)
	}
	if err := checkWritable(root, base); err != nil {
		return err
	}
	err = writeByRename(root, base, data, old)
	if errors.Is(err, errOwnerDiffers) || errors.Is(err, fs.ErrPermission) {
		return writeInPlace(root, base, data)
	}
	return err
}

// makeParents creates dir and its missing parents one by one, each inside the
// folder that was opened before it.
func makeParents(dir string) error {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := makeParents(filepath.Dir(dir)); err != nil {
		return err
	}
	root, err := openParent(dir)
	if err != nil {
		return err
	}
	defer discardClose(root)
	if err := root.Mkdir(baseOf(dir), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

var errOwnerDiffers = errors.New("a new file would have another owner")

// checkWritable refuses a file that could be replaced but not written: a rename
// must not get around its mode.
func checkWritable(root *os.Root, base string) error {
	f, err := openRegular(root, base, os.O_WRONLY)
	if err != nil {
		return err
	}
	return f.Close()
}

// writeByRename writes a temporary file in the same folder, syncs it and renames
// it to base. old is the file that it replaces, nil for a new one.
func writeByRename(root *os.Root, base string, data []byte, old fs.FileInfo) (err error) {
	temp := ".hermes-acp-" + rand.Text() + ".tmp"
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, root.Remove(temp))
		}
	}()
	if old != nil {
		err = keepMode(f, old)
	}
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := root.Rename(temp, base); err != nil {
		return err
	}
	return syncFolder(root)
}

// keepMode gives a replacement the mode of the old file, and fails when it
// cannot have the old file's owner.
func keepMode(f *os.File, old fs.FileInfo) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !sameOwner(info, old) {
		return errOwnerDiffers
	}
	return f.Chmod(old.Mode())
}

// writeInPlace is for files whose hard links or owner a rename would lose. It
// is not atomic.
func writeInPlace(root *os.Root, base string, data []byte) error {
	f, err := openRegular(root, base, os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
