package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"
)

// Causes of a failed write. The messages say what to do.
var (
	ErrBusy     = errors.New("another program holds the session database; close it or try again")
	ErrDiskFull = errors.New("the disk is full, or the file may not grow; free some space")
	ErrReadOnly = errors.New("the session database or its folder cannot be written; check its owner and mode")
)

// busyLimit bounds the time one write waits for other processes, over all
// attempts (NousResearch/hermes-agent#89293 saw one held for more than 20 s).
const (
	busyLimit = 60 * time.Second
	busyPause = 5 * time.Millisecond // between two attempts
)

// write runs fn in a transaction of its own. With sync the transaction, and all
// before it, are on the disk when write returns.
func (db *DB) write(ctx context.Context, sync bool, fn func(*sql.Tx) error) error {
	select {
	case <-db.writing:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { db.writing <- struct{}{} }()
	return db.writeLocked(ctx, sync, fn)
}

// writeLocked is write for the holder of the writing token.
func (db *DB) writeLocked(ctx context.Context, sync bool, fn func(*sql.Tx) error) error {
	attempt := func() error {
		if err := db.setSync(ctx, sync); err != nil {
			return err
		}
		return inTx(ctx, db.writer, fn)
	}
	err := whileBusy(ctx, attempt)
	if isCorrupt(err) && db.rebuildSearch(ctx) {
		err = whileBusy(ctx, attempt)
	}
	if err != nil {
		return explain(err)
	}
	db.checkpoints.committed()
	return nil
}

// whileBusy tries again what other processes are in the way of. SQLite waits by
// itself in most cases, but not where waiting could be a deadlock, such as for the
// first switch to the write-ahead log.
func whileBusy(ctx context.Context, attempt func() error) error {
	deadline := time.Now().Add(busyLimit)
	for {
		err := attempt()
		if sqliteCode(err) != sqlitelib.SQLITE_BUSY || time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(busyPause):
		case <-ctx.Done():
			return err
		}
	}
}

// rebuildSearch makes the search indexes anew from their own copies of the
// messages. A damaged index would fail every write, as Hermes' triggers add to
// it. It reports whether that worked; one try is enough for a process.
func (db *DB) rebuildSearch(ctx context.Context) bool {
	if db.rebuilt {
		return false
	}
	db.rebuilt = true
	for _, index := range []string{"messages_fts", "messages_fts_trigram"} {
		if db.cols[index] == nil {
			continue
		}
		err := whileBusy(ctx, func() error {
			_, err := db.writer.ExecContext(ctx, `INSERT INTO `+index+` (`+index+`) VALUES ('rebuild')`)
			return err
		})
		if err != nil {
			db.log.ErrorContext(ctx, "a search index is damaged and cannot be rebuilt", "index", index, "error", err)
			return false
		}
	}
	db.log.WarnContext(ctx, "a search index was damaged; both were rebuilt")
	return true
}

func (db *DB) setSync(ctx context.Context, full bool) error {
	if db.full == full {
		return nil
	}
	level := "NORMAL"
	if full {
		level = "FULL"
	}
	if _, err := db.writer.ExecContext(ctx, "PRAGMA synchronous="+level); err != nil {
		return err
	}
	db.full = full
	return nil
}

// sqliteCode is the primary result code of a SQLite error, 0 for any other.
func sqliteCode(err error) int {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return 0
	}
	return e.Code() & 0xff
}

func isCorrupt(err error) bool {
	code := sqliteCode(err)
	return code == sqlitelib.SQLITE_NOTADB || code == sqlitelib.SQLITE_CORRUPT
}

// explain adds the cause that a person can act on.
func explain(err error) error {
	if cause := causeOf(err); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w (%w)", cause, err)
	}
	return err
}

func causeOf(err error) error {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() { // what says more than its primary code
		case sqlitelib.SQLITE_IOERR_WRITE, sqlitelib.SQLITE_IOERR_FSYNC, sqlitelib.SQLITE_IOERR_SHMSIZE:
			return ErrDiskFull
		}
	}
	switch sqliteCode(err) {
	case sqlitelib.SQLITE_BUSY, sqlitelib.SQLITE_LOCKED:
		return ErrBusy
	case sqlitelib.SQLITE_FULL:
		return ErrDiskFull
	case sqlitelib.SQLITE_READONLY, sqlitelib.SQLITE_CANTOPEN, sqlitelib.SQLITE_PERM:
		return ErrReadOnly
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EFBIG):
		return ErrDiskFull
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return ErrReadOnly
	}
	return nil
}
