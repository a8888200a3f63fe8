package acp

import (
	"context"
	"errors"

	"github.com/hermes-acp/hermes-acp/acp/jsonrpc"
	"github.com/hermes-acp/hermes-acp/agent"
)

// Error codes that ACP adds to JSON-RPC's.
const (
	codeAuthRequired     = -32000
	codeResourceNotFound = -32002
)

// rpcError maps an error of the domain to the error object the client gets. It
// is the only place that does.
func (s *server) rpcError(err error) error {
	if _, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return err
	}
	switch {
	case errors.Is(err, jsonrpc.ErrCancelRequest), errors.Is(err, context.Canceled):
		return err // the connection knows its code
	case errors.Is(err, agent.ErrUnknownSession):
		return jsonrpc.Errorf(codeResourceNotFound, "%v; it may have been deleted, or it belongs to another HERMES_HOME", agent.ErrUnknownSession)
	case errors.Is(err, agent.ErrNoProvider):
		return jsonrpc.Errorf(codeAuthRequired, "%v, or run `%s` in a terminal; then try again", err, s.cfg.SetupCommand)
	case errors.Is(err, agent.ErrUnknownModel):
		return invalid("%v", err)
	case errors.Is(err, agent.ErrBadCursor):
		return invalid("cursor: %v", agent.ErrBadCursor)
	default:
		// Clients show data.details; some show nothing but the message.
		return &jsonrpc.Error{
			Code:    jsonrpc.CodeInternalError,
			Message: err.Error(),
			Data:    map[string]string{"details": err.Error()},
		}
	}
}

// sessionError is rpcError for a request about a session that may not exist.
func (s *server) sessionError(sessionID string, err error) error {
	if errors.Is(err, agent.ErrUnknownSession) {
		s.forget(sessionID)
	}
	return s.rpcError(err)
}

// invalid is a refusal of what the client sent.
func invalid(format string, args ...any) error {
	return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, format, args...)
}
