package acp

import (
	"context"
	"encoding/json"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/acp/jsonrpc"
	"github.com/hermes-acp/hermes-acp/agent"
)

type promptParams struct {
	sessionParams
	Prompt []json.RawMessage `json:"prompt"`
}

// prompt gives the turn its place in the session's line in the reader, so that
// prompts run in the order in which they arrived and a cancel right behind one
// counts.
func (s *server) prompt(req *jsonrpc.Request) jsonrpc.Responder {
	params, err := decode[promptParams](req.Params)
	if err != nil {
		return jsonrpc.Fail(err)
	}
	session, err := s.session(params.sessionParams)
	if err != nil {
		return jsonrpc.Fail(err)
	}
	if params.Prompt == nil {
		return jsonrpc.Fail(invalid("prompt is required"))
	}
	pieces, err := promptPieces(params.Prompt)
	if err != nil {
		return jsonrpc.Fail(err)
	}
	if c, argument, ok := slashCommand(pieces); ok {
		return s.command(req, session, c, argument)
	}
	if isEmpty(pieces) {
		return func(ctx context.Context) (any, error) { return s.emptyPrompt(ctx, session) }
	}
	return s.enqueue(req, session, newPrompt(pieces))
}

// enqueue gives a prompt its place in line and returns what runs it.
func (s *server) enqueue(req *jsonrpc.Request, session *agent.Session, prompt agent.Prompt) jsonrpc.Responder {
	u := s.updates(session.ID())
	settings := u.view.settings.tail()
	ahead, leave := u.view.prompts.join()
	u.view.turnBegins()
	req.AfterResponse = func() {
		u.view.turnEnds()
		leave()
	}
	prompt.Emit = u.emit
	prompt.Approver = approver{server: s, sessionID: session.ID()}
	turn := session.Enqueue(prompt)
	return func(ctx context.Context) (any, error) {
		settings.wait(ctx)
		ahead.wait(ctx)
		out := turn.Run(ctx)
		if out.Err != nil {
			return nil, s.sessionError(session.ID(), out.Err)
		}
		return acpsdk.PromptResponse{StopReason: acpsdk.StopReason(out.Stop), Usage: usage(out.Usage)}, nil
	}
}

// emptyPrompt answers a prompt without content: there is nothing to do.
func (s *server) emptyPrompt(ctx context.Context, session *agent.Session) (any, error) {
	if _, err := session.Record(ctx); err != nil {
		return nil, s.sessionError(session.ID(), err)
	}
	return acpsdk.PromptResponse{StopReason: acpsdk.StopReasonEndTurn}, nil
}

// cancel acts in the reader, before anything later is read. Some clients send
// it as a request, which it is not; they get null.
func (s *server) cancel(req *jsonrpc.Request) jsonrpc.Responder {
	params, err := decode[sessionParams](req.Params)
	if err == nil && params.SessionID == "" {
		err = errNoSessionID()
	}
	s.agent.Cancel(params.SessionID)
	return func(context.Context) (any, error) { return nil, err }
}

// usage is nil when the provider counted nothing.
func usage(u agent.Usage) *acpsdk.Usage {
	if u.Total() == 0 {
		return nil
	}
	return &acpsdk.Usage{
		InputTokens:       u.Input,
		OutputTokens:      u.Output,
		TotalTokens:       u.Total(),
		ThoughtTokens:     positive(u.Reasoning),
		CachedReadTokens:  positive(u.CachedRead),
		CachedWriteTokens: positive(u.CachedWrite),
	}
}

// positive is a number for an optional field.
func positive(n int) *int {
	if n <= 0 {
		return nil
	}
	return &n
}
