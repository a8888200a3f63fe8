package agent

import (
	"context"
	"errors"
	"time"
)

// ErrUnknownSession is wrapped when no session has the given id.
var ErrUnknownSession = errors.New("no such session")

// SessionRecord is what is kept of a session beside its messages. ID is the id
// the client knows; it never changes.
type SessionRecord struct {
	ID        string
	Cwd       string
	Dirs      []string
	Mode      Mode
	Model     string // empty: the configured default
	Effort    string
	Title     string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Store keeps sessions. Its methods are safe for concurrent use.
type Store interface {
	// CreateSession adds a row.
	CreateSession(ctx context.Context, rec SessionRecord) error
	// Session returns the row of the given id, or an error that wraps
	// ErrUnknownSession.
	Session(ctx context.Context, id string) (SessionRecord, error)
	// UpdateSession replaces the row's cwd, dirs, mode, model, effort and title.
	UpdateSession(ctx context.Context, rec SessionRecord) error
	// Messages returns the session's active messages, oldest first.
	Messages(ctx context.Context, id string) ([]Message, error)
	// Append adds messages at the end. When final is true they are on disk,
	// through a crash of the machine, before it returns; otherwise they survive
	// the death of this process.
	Append(ctx context.Context, id string, final bool, msgs ...Message) error
}
