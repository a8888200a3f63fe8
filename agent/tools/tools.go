// Package tools holds the agent's own tools: files, search, commands and the
// todo list.
//
// A tool's Plan says what a call would do; the domain decides whether it may.
// Each tool is one file with its schema and its description. Beside the tools
// stand the ideas they share: text formats (encoding.go, lineends.go), writing
// (edit.go, atomicwrite.go), matching (match.go, v4a.go), and commands (shell.go,
// classify.go).
package tools

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

// Options configures the tools.
type Options struct {
	// Env returns the environment that commands start from, as KEY=value; nil
	// is the process's own.
	Env func(ctx context.Context) []string
	// StripEnv names variables that commands do not get, such as provider keys.
	StripEnv []string
	// OnDrvfs reports whether a path is on a Windows drive inside WSL; nil says
	// that none is.
	OnDrvfs func(path string) bool
	// Home is the person's home folder, for which ~ stands in commands.
	Home string
	// CommandTimeout bounds a command that names no bound itself; 0 is 3 minutes.
	CommandTimeout time.Duration
	// Shell is the absolute path of the bash that runs commands; empty looks it
	// up, and falls back to /bin/sh.
	Shell string
	Log   *slog.Logger
}

// Toolset is the tools with what they remember of each session.
type Toolset struct {
	opts  Options
	tools []agent.Tool

	mu       sync.Mutex
	sessions map[string]*sessionState
}

// New returns the tools.
func New(opts Options) *Toolset {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.OnDrvfs == nil {
		opts.OnDrvfs = func(string) bool { return false }
	}
	if opts.CommandTimeout == 0 {
		opts.CommandTimeout = defaultTimeout
	}
	if opts.Env == nil {
		opts.Env = func(context.Context) []string { return os.Environ() }
	}
	t := &Toolset{opts: opts, sessions: map[string]*sessionState{}}
	t.tools = []agent.Tool{
		t.readFile(), t.listDir(), t.searchFiles(), t.writeFile(), t.patch(), t.terminal(), t.process(), t.todo(),
	}
	return t
}

// Tools returns the tools in the order in which the model sees them.
func (t *Toolset) Tools() []agent.Tool { return t.tools }

// EndSession forgets a session and ends its background commands.
func (t *Toolset) EndSession(id string) {
	t.mu.Lock()
	s := t.sessions[id]
	delete(t.sessions, id)
	t.mu.Unlock()
	if s != nil {
		s.end()
	}
}

// Close ends every session.
func (t *Toolset) Close() {
	t.mu.Lock()
	var ids []string
	for id := range t.sessions {
		ids = append(ids, id)
	}
	t.mu.Unlock()
	for _, id := range ids {
		t.EndSession(id)
	}
}

// session returns what is remembered of a session.
func (t *Toolset) session(ws *agent.Workspace) *sessionState {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.sessions[ws.SessionID]
	if s == nil {
		s = newSessionState()
		t.sessions[ws.SessionID] = s
	}
	return s
}

// tool is an agent.Tool made of its description and a plan function that gets
// decoded arguments.
type tool[A any] struct {
	spec agent.ToolSpec
	plan func(ctx context.Context, ws *agent.Workspace, args A, raw json.RawMessage) (agent.Plan, error)
}

func (t tool[A]) Spec() agent.ToolSpec { return t.spec }

func (t tool[A]) Plan(ctx context.Context, ws *agent.Workspace, raw json.RawMessage) (agent.Plan, error) {
	var args A
	if err := decodeArgs(raw, &args); err != nil {
		return agent.Plan{}, err
	}
	return t.plan(ctx, ws, args, raw)
}
