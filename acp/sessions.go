package acp

import (
	"context"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/acp/jsonrpc"
	"github.com/hermes-acp/hermes-acp/agent"
)

// sessionState is what new, load and resume tell of a session.
type sessionState struct {
	SessionID string                   `json:"sessionId,omitempty"` // new and fork only
	Modes     *acpsdk.SessionModeState `json:"modes"`
}

func (s *server) state(rec agent.SessionRecord) sessionState {
	return sessionState{Modes: modeState(rec.Mode)}
}

func (s *server) newSession(ctx context.Context, req *jsonrpc.Request, p folderParams) (any, error) {
	if p.McpServers == nil {
		return nil, invalid("mcpServers is required; send [] for none")
	}
	opts, err := p.options()
	if err != nil {
		return nil, err
	}
	session, err := s.agent.NewSession(ctx, opts)
	if err != nil {
		return nil, err
	}
	return s.opened(ctx, req, session)
}

type loadParams struct {
	sessionParams
	folderParams
}

func (s *server) loadSession(ctx context.Context, req *jsonrpc.Request, p loadParams) (any, error) {
	if p.McpServers == nil {
		return nil, invalid("mcpServers is required; send [] for none")
	}
	session, err := s.session(p.sessionParams)
	if err != nil {
		return nil, err
	}
	opts, err := p.options()
	if err != nil {
		return nil, err
	}
	messages, err := session.Load(ctx, opts)
	if err != nil {
		return nil, err
	}
	if err := s.replay(ctx, session.ID(), opts.Cwd, messages); err != nil {
		return nil, err
	}
	return s.opened(ctx, req, session)
}

// opened answers a request that gave the client a session. What the client
// should know of it beside that follows the response: clients drop updates of a
// session that they do not know yet.
func (s *server) opened(ctx context.Context, req *jsonrpc.Request, session *agent.Session) (any, error) {
	rec, err := session.Record(ctx)
	if err != nil {
		return nil, err
	}
	state := s.state(rec)
	if req.Method == acpsdk.AgentMethodSessionNew {
		state.SessionID = session.ID()
	}
	return state, nil
}
