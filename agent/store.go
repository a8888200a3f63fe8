package agent

import (
	"context"
	"errors"
	"time"
)

// ErrUnknownSession is wrapped when no session has the given id.
var ErrUnknownSession = errors.New("no such session")

// ErrSessionRunning is wrapped when another process runs a turn of the session
// and does not end within a short while.
var ErrSessionRunning = errors.New("this session is running in another window; wait for its turn to end, or start a new session")

// ErrSessionMoved is wrapped by Append and Compact, which then changed nothing,
// when another process has added to the session since its messages were read
// here: read them again first.
var ErrSessionMoved = errors.New("another process has added to this session; try again")

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
	// Append adds messages at the end. The first one of a turn takes the session
	// for this process, and waits a short while for another one to end. When final is true they are on disk,
	// through a crash of the machine, before it returns; otherwise they survive
	// the death of this process.
	Append(ctx context.Context, id string, final bool, msgs ...Message) error
	// SavePartial keeps the answer that is streaming now, in place of what it
	// kept of it before, until the next Append. It is read back, marked
	// Interrupted, when this process dies before that.
	SavePartial(ctx context.Context, id string, msg Message) error
	// SetTitle gives the session a title and returns it as it was kept: titles
	// are unique, so it may have got a number.
	SetTitle(ctx context.Context, id, title string) (string, error)
	// Compact makes msgs the session's active messages; the earlier ones stay
	// in the file. Unless inPlace is set, the conversation goes on in a new
	// Hermes session that is a child of the old one.
	Compact(ctx context.Context, id string, msgs []Message, inPlace bool) error
	// RecordAction keeps what a tool call did.
	RecordAction(ctx context.Context, action Action) error
	// ListSessions returns one page of the sessions that hold messages. Its
	// error wraps ErrBadCursor where it applies.
	ListSessions(ctx context.Context, filter SessionFilter) (SessionPage, error)
	// Provenance says where the session's conversation comes from. previous is
	// the Hermes session that held it when the caller last asked, or empty.
	Provenance(ctx context.Context, id, previous string) (Provenance, error)
	// EndSession marks the session as ended; loading it opens it again.
	EndSession(ctx context.Context, id string) error
	// DeleteSession removes the session and all that is kept of it. Deleting
	// one that does not exist is no error.
	DeleteSession(ctx context.Context, id string) error
	// ForkSession creates the session rec with a copy of the messages of the
	// session from.
	ForkSession(ctx context.Context, from string, rec SessionRecord) error
}
