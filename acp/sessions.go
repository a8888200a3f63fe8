package acp

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/acp/jsonrpc"
	"github.com/hermes-acp/hermes-acp/agent"
)

// requireServers refuses new and load without mcpServers, which version 1
// requires there.
func (p folderParams) requireServers() error {
	if p.McpServers == nil {
		return invalid("mcpServers is required; send [] for none")
	}
	return nil
}

func (s *server) newSession(ctx context.Context, req *jsonrpc.Request, p folderParams) (any, error) {
	if err := p.requireServers(); err != nil {
		return nil, err
	}
	opts, err := p.options()
	if err != nil {
		return nil, err
	}
	if err := s.requireLogin(); err != nil {
		return nil, err
	}
	session, err := s.agent.NewSession(ctx, opts)
	if err != nil {
		return nil, err
	}
	state, err := s.opened(ctx, req, session)
	state.SessionID = session.ID()
	state.Meta = s.telling(firstProvenance(session.ID()))
	return state, err
}

// openParams are the parameters of load, resume and fork.
type openParams struct {
	sessionParams
	folderParams
}

func (s *server) loadSession(ctx context.Context, req *jsonrpc.Request, session *agent.Session, p openParams) (any, error) {
	if err := p.requireServers(); err != nil {
		return nil, err
	}
	opts, err := p.options()
	if err != nil {
		return nil, err
	}
	if err := s.replay(ctx, session, opts); err != nil {
		return nil, err
	}
	state, err := s.opened(ctx, req, session)
	state.Meta = s.provenance(ctx, session)
	return state, err
}

// resumeSession is load for a client that has the conversation already.
func (s *server) resumeSession(ctx context.Context, req *jsonrpc.Request, session *agent.Session, p openParams) (any, error) {
	opts, err := p.options()
	if err != nil {
		return nil, err
	}
	if _, err := session.Load(ctx, opts); err != nil {
		return nil, err
	}
	state, err := s.opened(ctx, req, session)
	state.Meta = s.provenance(ctx, session)
	return state, err
}

func (s *server) forkSession(ctx context.Context, req *jsonrpc.Request, p openParams) (any, error) {
	session, err := s.session(p.sessionParams)
	if err != nil {
		return nil, err
	}
	opts, err := p.options()
	if err != nil {
		return nil, err
	}
	if err := s.requireLogin(); err != nil {
		return nil, err
	}
	fork, err := session.Fork(ctx, opts)
	if err != nil {
		return nil, err
	}
	state, err := s.opened(ctx, req, fork)
	state.SessionID = fork.ID()
	state.Meta = s.provenance(ctx, fork)
	return state, err
}

// opened describes the session that a request gave the client. Clients drop
// updates of a session that come before they know it, so what else there is to
// tell follows the response.
func (s *server) opened(ctx context.Context, req *jsonrpc.Request, session *agent.Session) (sessionState, error) {
	state, err := s.state(ctx, session)
	if err != nil {
		return sessionState{}, err
	}
	req.AfterResponse = func() { s.introduce(ctx, session, state) }
	return state, nil
}

// introduce tells the client what it can do in a session that it knows by state.
func (s *server) introduce(ctx context.Context, session *agent.Session, state sessionState) {
	u := s.updates(session.ID())
	u.show(ctx, availableCommands())
	u.show(ctx, usageUpdate(agent.UsageChanged{Used: session.Size(), Window: state.contextWindow, CostUSD: session.CostUSD()}))
	s.offerCatalog(ctx, state)
}

type listParams struct {
	Cwd    *string `json:"cwd"`
	Cursor string  `json:"cursor"`
}

func (s *server) listSessions(ctx context.Context, _ *jsonrpc.Request, p listParams) (any, error) {
	filter := agent.SessionFilter{Cursor: p.Cursor}
	if p.Cwd != nil {
		if !filepath.IsAbs(*p.Cwd) {
			return nil, invalid("cwd %q is not an absolute path", *p.Cwd)
		}
		filter.Cwd = s.sameFolder(*p.Cwd)
	}
	page, err := s.agent.ListSessions(ctx, filter)
	if err != nil {
		return nil, err
	}
	result := acpsdk.ListSessionsResponse{Sessions: make([]acpsdk.SessionInfo, len(page.Sessions))}
	for i, listed := range page.Sessions {
		result.Sessions[i] = acpsdk.SessionInfo{
			SessionId:             acpsdk.SessionId(listed.ID),
			Cwd:                   listed.Cwd,
			AdditionalDirectories: listed.Dirs,
			Title:                 &listed.Title,
			UpdatedAt:             timestamp(listed.UpdatedAt),
			Meta:                  provenanceMeta(listed.Provenance),
		}
	}
	if page.Next != "" {
		result.NextCursor = &page.Next
	}
	return result, nil
}

// sameFolder returns a filter for folders that are the same one as want, by
// whatever symbolic links. Listing may ask about the same folder many times.
func (s *server) sameFolder(want string) func(cwd string) bool {
	want = resolved(want)
	known := map[string]bool{}
	return func(cwd string) bool {
		same, ok := known[cwd]
		if !ok {
			dir := resolved(cwd)
			same = dir == want || s.cfg.SameDir != nil && s.cfg.SameDir(dir, want)
			known[cwd] = same
		}
		return same
	}
}

func resolved(path string) string {
	if target, err := agent.ResolveLinks(path); err == nil {
		return target
	}
	return filepath.Clean(path)
}

func timestamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(time.RFC3339Nano)
	return &text
}

func (s *server) closeSession(ctx context.Context, _ *jsonrpc.Request, p sessionParams) (any, error) {
	session, err := s.session(p)
	if err != nil {
		return nil, err
	}
	if err := session.Close(ctx); err != nil {
		return nil, err
	}
	s.forget(p.SessionID)
	return struct{}{}, nil
}

// deleteSession succeeds for a session that does not exist: it is gone.
func (s *server) deleteSession(ctx context.Context, _ *jsonrpc.Request, p sessionParams) (any, error) {
	session, err := s.session(p)
	if err != nil {
		return nil, err
	}
	if err := session.Delete(ctx); err != nil && !errors.Is(err, agent.ErrUnknownSession) {
		return nil, err
	}
	s.forget(p.SessionID)
	return struct{}{}, nil
}
