package store

import (
	"context"
	"database/sql"
	"log/slog"
	"sync"
)

// checkpointer moves the write-ahead log into the database, beside the writer
// and never in its way: a passive checkpoint waits for nobody.
type checkpointer struct {
	db      *sql.DB
	log     *slog.Logger
	due     chan struct{}
	running sync.WaitGroup
	commits int // since the last checkpoint; belongs to the holder of the writing token
}

// checkpointEvery is the number of commits between two checkpoints. At about ten
// pages a commit the log stays near 2 MiB.
const checkpointEvery = 50

func newCheckpointer(dsn string, log *slog.Logger) (*checkpointer, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	// The first commit makes one due: processes that were killed leave their log.
	c := &checkpointer{db: db, log: log, due: make(chan struct{}, 1), commits: checkpointEvery - 1}
	c.running.Go(c.run)
	return c, nil
}

func (c *checkpointer) run() {
	for range c.due {
		if _, err := c.db.ExecContext(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
			c.log.Warn("checkpoint of the session database failed", "error", err)
		}
	}
}

// committed counts one commit. It never blocks.
func (c *checkpointer) committed() {
	if c.commits++; c.commits < checkpointEvery {
		return
	}
	select {
	case c.due <- struct{}{}:
		c.commits = 0
	default: // one is due already
	}
}

// stop waits for a running checkpoint.
func (c *checkpointer) stop() error {
	close(c.due)
	c.running.Wait()
	return c.db.Close()
}
