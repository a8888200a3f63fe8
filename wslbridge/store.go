//go:build unix

package wslbridge

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	keptBinaries   = 2 // old ones, besides the one in use
	abandonedAfter = time.Hour
)

// StoreDir is where the bootstrap puts binaries, relative to the home folder. Nothing else lies
// there.
const StoreDir = ".local/share/hermes-acp/bin"

// PruneStore removes what provisioning left in dir: binaries older than the newest two besides the
// one at executable, and unfinished copies. It does nothing when executable is not in dir.
func PruneStore(dir, executable string) error {
	if filepath.Dir(filepath.Dir(executable)) != filepath.Clean(dir) {
		return nil
	}
	inUse := filepath.Base(filepath.Dir(executable))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("prune old binaries: %w", err)
	}
	var old []fs.FileInfo
	var errs []error
	for _, entry := range entries {
		info, err := entry.Info()
		switch {
		case err != nil || entry.Name() == inUse:
		case entry.IsDir():
			old = append(old, info)
		case time.Since(info.ModTime()) > abandonedAfter:
			errs = append(errs, os.Remove(filepath.Join(dir, entry.Name())))
		}
	}
	slices.SortFunc(old, func(a, b fs.FileInfo) int { return cmp.Compare(b.ModTime().UnixNano(), a.ModTime().UnixNano()) })
	for _, info := range old[min(keptBinaries, len(old)):] {
		errs = append(errs, os.RemoveAll(filepath.Join(dir, info.Name())))
	}
	return errors.Join(errs...)
}
