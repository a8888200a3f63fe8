package agent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// Config wires an Agent. Models, Store and Log are required.
type Config struct {
	Models Models
	// Tools are offered to every session.
	Tools []Tool
	// Store opens the store. It is called once, when a session first needs it,
	// so that nothing waits for the disk before that.
	Store func(context.Context) (Store, error)
	// ConnectServers begins to start a session's MCP servers and returns at
	// once; nil when there is no support for them.
	ConnectServers func(ws *Workspace, servers []ToolServer) ServerTools
	// SessionEnded is told the id of a session that was closed or deleted, so
	// that what runs for it elsewhere ends too; may be nil.
	SessionEnded func(id string)
	// Policy decides which calls ask.
	Policy Policy
	// SystemPrompt returns the system prompt for a workspace. It is asked before
	// each request to a model.
	SystemPrompt func(ctx context.Context, ws *Workspace, model ModelInfo) string
	// Compaction says when conversations are compacted.
	Compaction Compaction
	// TitleModel is the id of a model that writes the titles of sessions; without
	// one they are the words of the first prompt.
	TitleModel string
	// Translate is given to every Workspace; nil outside WSL.
	Translate func(path string) (string, error)
	// Effort is the reasoning effort of sessions that chose none; empty leaves it
	// to the provider.
	Effort string
	// MaxRequests bounds the model requests of one turn; 0 means 90.
	MaxRequests int
	Log         *slog.Logger
}

const defaultMaxRequests = 90

// Agent holds the sessions of one process.
type Agent struct {
	cfg   Config
	store func(context.Context) (Store, error)

	mu       sync.Mutex
	sessions map[string]*Session
}

// New returns an agent that holds no sessions yet.
func New(cfg Config) *Agent {
	if cfg.MaxRequests <= 0 {
		cfg.MaxRequests = defaultMaxRequests
	}
	return &Agent{cfg: cfg, store: openOnce(cfg.Store), sessions: map[string]*Session{}}
}

// openOnce keeps what open returned, but tries again after a failure, so that a
// disk that was full a minute ago does not cost the process.
func openOnce(open func(context.Context) (Store, error)) func(context.Context) (Store, error) {
	var mu sync.Mutex
	var opened Store
	return func(ctx context.Context) (Store, error) {
		mu.Lock()
		defer mu.Unlock()
		if opened != nil {
			return opened, nil
		}
		s, err := open(ctx)
		if err != nil {
			return nil, fmt.Errorf("open session store: %w", err)
		}
		opened = s
		return s, nil
	}
}

// OpenStore opens the store ahead of its first use.
func (a *Agent) OpenStore(ctx context.Context) error {
	_, err := a.store(ctx)
	return err
}

// Tools returns the specs of the tools offered to every session.
func (a *Agent) Tools() []ToolSpec { return newToolset(a.cfg.Tools).specs }

// Model resolves a model as sessions do: by id, or the configured default for "".
func (a *Agent) Model(ctx context.Context, id string) (Model, error) {
	return a.cfg.Models.Model(ctx, id)
}

// SessionOptions are what a client says when it opens a session. Paths are
// absolute and exist.
type SessionOptions struct {
	Cwd     string
	Dirs    []string
	Servers []ToolServer
}

// NewSession creates a session and its row. It fails with ErrNoProvider when no
// model is configured, since every prompt would.
func (a *Agent) NewSession(ctx context.Context, opts SessionOptions) (*Session, error) {
	if _, err := a.cfg.Models.Model(ctx, ""); err != nil {
		return nil, err
	}
	store, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	rec := SessionRecord{
		ID: NewID(), Cwd: opts.Cwd, Dirs: opts.Dirs, Mode: ModeDefault,
		CreatedAt: now, UpdatedAt: now,
	}
	if err := store.CreateSession(ctx, rec); err != nil {
		return nil, fmt.Errorf("new session: %w", err)
	}
	s := a.Session(rec.ID)
	s.mu.Lock()
	s.rec, s.restored = rec, true
	s.mu.Unlock()
	s.connectServers(opts)
	return s, nil
}

// Session returns the handle of the session with this id. The handle exists at
// once, whether or not the session does: what is kept of it is read when it is
// first needed, and an id that nobody knows shows as ErrUnknownSession then.
func (a *Agent) Session(id string) *Session {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, ok := a.sessions[id]
	if !ok {
		s = &Session{agent: a, id: id, callIDs: map[string]bool{}, approvals: NewApprovals(a.cfg.Policy)}
		a.sessions[id] = s
	}
	return s
}

// ListSessions returns one page of the kept sessions.
func (a *Agent) ListSessions(ctx context.Context, filter SessionFilter) (SessionPage, error) {
	store, err := a.store(ctx)
	if err != nil {
		return SessionPage{}, err
	}
	page, err := store.ListSessions(ctx, filter)
	if err != nil {
		return SessionPage{}, fmt.Errorf("list sessions: %w", err)
	}
	return page, nil
}

// Cancel ends the turns of a session, if this process has any.
func (a *Agent) Cancel(id string) {
	a.mu.Lock()
	s := a.sessions[id]
	a.mu.Unlock()
	if s != nil {
		s.Cancel()
	}
}

// Close closes every session that this process has opened: its turns are
// cancelled, its servers end, and it is marked as ended.
func (a *Agent) Close(ctx context.Context) {
	a.mu.Lock()
	sessions := slices.Collect(maps.Values(a.sessions))
	a.mu.Unlock()
	for _, s := range sessions {
		s.Cancel()
	}
	for _, s := range sessions {
		if !s.opened() {
			continue
		}
		if err := s.Close(ctx); err != nil {
			a.cfg.Log.WarnContext(ctx, "could not close a session", "session_id", s.id, "error", err)
		}
	}
}

// forget drops the handle of a session that turned out not to exist.
func (a *Agent) forget(s *Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sessions[s.id] == s {
		delete(a.sessions, s.id)
	}
}

// NewID returns a random UUID, version 4: the form that Hermes gives its ACP
// sessions.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// newCallID returns an id for a tool call whose model gave none, or one that the
// session has seen before.
func newCallID() string {
	var b [6]byte
	_, _ = rand.Read(b[:])
	return "tc-" + hex.EncodeToString(b[:])
}

// ErrCancelled is the cause of a turn's cancelled context.
var ErrCancelled = errors.New("the turn was cancelled")
