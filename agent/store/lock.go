package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

// errLocked means that another holder has the lock.
var errLocked = errors.New("locked")

// lockPause is the time between two attempts to take a session from another process.
const lockPause = 20 * time.Millisecond

// whileRunning tries again while another process runs the session, for as long as
// one may take to end after its editor went away: an editor that starts its agent
// anew comes before the old one is gone. Between two attempts nothing is held.
func (db *DB) whileRunning(ctx context.Context, attempt func() error) error {
	deadline := time.Now().Add(db.machine.handover)
	for {
		err := attempt()
		if !errors.Is(err, agent.ErrSessionRunning) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// lockFile is a lock that ends with its process, whatever its file still says
// (a pid in a file outlives its process, NousResearch/hermes-agent#100108).
type lockFile struct {
	path string
	file *os.File
}

// lockName is the file name of a session's lock. Ids may hold any byte.
func lockName(sessionID string) string {
	sum := sha256.Sum256([]byte(sessionID))
	return hex.EncodeToString(sum[:16]) + ".lock"
}

// lock takes the lock of a session in dir, or returns errLocked at once.
func lock(dir, sessionID string) (*lockFile, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for session locks: %w", err)
	}
	path := filepath.Join(dir, lockName(sessionID))
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open session lock: %w", err)
		}
		// Where the file system has no locks, running is better than safe.
		if err := tryLock(f); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			_ = f.Close()
			if errors.Is(err, errLocked) {
				return nil, err
			}
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		// The last holder may have removed the file between our open and our
		// lock; then we hold a lock that nobody else can see.
		held, err1 := f.Stat()
		seen, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(held, seen) {
			return &lockFile{path, f}, nil
		}
		_ = f.Close()
	}
}

// unlock removes the file while the lock is still held, so that nothing is left
// behind. Where an open file cannot be removed it stays and does no harm.
func (l *lockFile) unlock() {
	_ = os.Remove(l.path)
	_ = l.file.Close()
}
