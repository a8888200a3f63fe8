package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// Options say where the store is.
type Options struct {
	// Dir is HERMES_HOME, an absolute path. It is made when it is missing.
	Dir string
	Log *slog.Logger
}

// DB is an open state.db. Its methods are safe for concurrent use, and several
// processes may have the same file open.
type DB struct {
	path     string
	lockDir  string
	log      *slog.Logger
	cols     columns
	warnings []string
	machine  machine

	readers *sql.DB
	writer  *sql.DB // one connection
	// writing holds a token while nobody writes. The fields below it belong to
	// its holder.
	writing chan struct{}
	full    bool // the writer syncs at each commit
	rebuilt bool // the search indexes were rebuilt once
	turns   map[string]*openTurn

	// seen is the newest message of each session that this process has read or
	// written, to notice what others add.
	seenMu sync.Mutex
	seen   map[string]int64

	checkpoints *checkpointer
}

// FileName is the name of the database in HERMES_HOME.
const FileName = "state.db"

// Open opens, and if need be makes, state.db in opts.Dir. A file that is no
// database is moved aside, never deleted. Errors wrap ErrNewer, ErrForeign,
// ErrReadOnly or ErrDiskFull where they apply.
func Open(ctx context.Context, opts Options) (*DB, error) {
	return open(ctx, opts, machine{stat: statFileSystem, busyTimeout: 5 * time.Second, handover: 3 * time.Second})
}

// machine is what a DB takes from the system it runs on.
type machine struct {
	stat func(dir string) (fileSystem, error)
	// busyTimeout is how long one attempt to write waits for another process.
	busyTimeout time.Duration
	// handover is how long a session may be held by another process before that
	// counts as running it. One whose editor went away ends within that time.
	handover time.Duration
}

func open(ctx context.Context, opts Options, m machine) (*DB, error) {
	if err := os.MkdirAll(opts.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the Hermes folder: %w", err)
	}
	fsys, err := m.stat(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the file system of %s: %w", opts.Dir, err)
	}
	db := &DB{
		path:    filepath.Join(opts.Dir, FileName),
		lockDir: filepath.Join(opts.Dir, "acp-locks"),
		log:     opts.Log,
		machine: m,
		writing: make(chan struct{}, 1),
		turns:   map[string]*openTurn{},
		seen:    map[string]int64{},
	}
	db.writing <- struct{}{}
	if err := makePrivate(db.path); err != nil {
		return nil, err
	}
	connect := func() error { return db.connect(ctx, fsys) }
	err = whileBusy(ctx, connect)
	if isCorrupt(err) {
		err = db.beginAnew(ctx, connect)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", db.path, explain(err))
	}
	if fsys != fsLocal {
		db.warnings = append(db.warnings, fmt.Sprintf("%s lies on a %s file system, where it is slower and less safe: keep HERMES_HOME on a local one", db.path, fsys))
	}
	for _, w := range db.warnings {
		db.log.WarnContext(ctx, "session database", "warning", w)
	}
	return db, nil
}

// makePrivate makes the file if there is none, readable by its owner only, and
// takes other people's access to an existing one away. SQLite gives its journal
// files the same mode. The file is never opened when it exists: closing any
// descriptor of it would drop the locks that this process holds through SQLite.
func makePrivate(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make the session database: %w", explain(err))
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		// A link to where no file is yet: SQLite would make one that all can read.
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return fmt.Errorf("make the session database: %w", explain(err))
		}
		return f.Close()
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look at the session database: %w", err)
		}
		if info.IsDir() {
			return fmt.Errorf("the session database %s is a folder: move it away", name)
		}
		if info.Mode().Perm()&0o077 != 0 {
			// Somebody else's file stays as it is; using it may still work.
			_ = os.Chmod(name, info.Mode().Perm()&^0o077)
		}
	}
	return nil
}

func (db *DB) connect(ctx context.Context, fsys fileSystem) (err error) {
	txlock := "immediate"
	if fsys.journalMode() != "wal" {
		txlock = "exclusive" // so that readers cannot make a commit fail
	}
	db.writer, err = sql.Open("sqlite", db.dsn(txlock,
		"foreign_keys(1)", "synchronous(NORMAL)", "wal_autocheckpoint(0)", "fullfsync(1)", "checkpoint_fullfsync(1)"))
	if err != nil {
		return err
	}
	db.writer.SetMaxOpenConns(1)
	db.full = false
	defer func() {
		if err != nil {
			err = errors.Join(err, db.writer.Close())
		}
	}()
	if err := db.setJournal(ctx, fsys); err != nil {
		return err
	}
	if db.cols, err = prepareSchema(ctx, db.writer); err != nil {
		return err
	}
	db.readers, err = sql.Open("sqlite", db.dsn("deferred", "query_only(1)"))
	if err != nil {
		return err
	}
	db.readers.SetMaxOpenConns(4)
	db.checkpoints, err = newCheckpointer(db.dsn("deferred", "checkpoint_fullfsync(1)"), db.log)
	return err
}

// dsn names the file as a URI, so that every character of the path is taken as
// it is. The driver runs each pragma on each new connection.
func (db *DB) dsn(txlock string, pragmas ...string) string {
	q := url.Values{"_txlock": {txlock}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", db.machine.busyTimeout.Milliseconds())}}
	q["_pragma"] = append(q["_pragma"], pragmas...)
	slashed := filepath.ToSlash(db.path)
	if slashed[0] != '/' {
		slashed = "/" + slashed // C:/Users
	}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: q.Encode()}).String()
}

// setJournal asks first and sets only what differs: setting the write-ahead log
// again removes the log of those who have the file open,
// NousResearch/hermes-agent#104596.
func (db *DB) setJournal(ctx context.Context, fsys fileSystem) error {
	want := fsys.journalMode()
	var have string
	if err := db.writer.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&have); err != nil {
		return err
	}
	if have == want {
		return nil
	}
	return db.writer.QueryRowContext(ctx, "PRAGMA journal_mode="+want).Scan(&have)
}

// beginAnew moves a damaged file aside and connects to a new one. One process does
// so at a time, so that none takes the new file of another one for the old.
func (db *DB) beginAnew(ctx context.Context, connect func() error) error {
	l, err := lock(db.lockDir, FileName)
	for errors.Is(err, errLocked) && ctx.Err() == nil {
		time.Sleep(busyPause)
		l, err = lock(db.lockDir, FileName)
	}
	if err != nil {
		return err
	}
	defer l.unlock()
	if err = whileBusy(ctx, connect); !isCorrupt(err) {
		return err
	}
	if err := db.moveAside(err); err != nil {
		return err
	}
	return whileBusy(ctx, connect)
}

// moveAside renames the file and its journals.
func (db *DB) moveAside(cause error) error {
	suffix := ".corrupt-" + time.Now().UTC().Format("20060102-150405.000")
	for _, name := range []string{db.path, db.path + "-wal", db.path + "-shm", db.path + "-journal"} {
		err := os.Rename(name, name+suffix)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("it is damaged (%w) and cannot be moved aside: %w", cause, err)
		}
	}
	db.warnings = append(db.warnings, fmt.Sprintf("%s was damaged (%v): it was moved to %s and a new one begun", db.path, cause, db.path+suffix))
	return makePrivate(db.path)
}

// Warnings are what a person should know about the file, found at Open.
func (db *DB) Warnings() []string { return db.warnings }

// Close lets go of the file and of every session this process runs. The
// messages of a turn that still runs are kept for the next process to complete.
// Later calls fail.
func (db *DB) Close() error {
	<-db.writing
	defer func() { db.writing <- struct{}{} }()
	for id := range db.turns {
		db.closeTurn(id)
	}
	return errors.Join(db.checkpoints.stop(), db.readers.Close(), db.writer.Close())
}
