package acp

import (
	"context"
	"encoding/json"
	"fmt"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/agent"
)

// approver asks the person at this connection's client, for one turn.
type approver struct {
	server    *server
	sessionID string
}

// permissionResponse is decoded without the SDK's union, which guesses.
type permissionResponse struct {
	Outcome struct {
		Outcome  string  `json:"outcome"`
		OptionID *string `json:"optionId"`
	} `json:"outcome"`
}

// Ask implements agent.Approver with a session/request_permission. When ctx ends
// first the client is told to close the question.
func (a approver) Ask(ctx context.Context, req agent.PermissionRequest) (string, error) {
	var answer json.RawMessage
	if err := a.server.conn.Call(ctx, acpsdk.ClientMethodSessionRequestPermission, a.request(req), &answer); err != nil {
		return "", fmt.Errorf("ask for leave: %w", err)
	}
	var response permissionResponse
	if err := json.Unmarshal(answer, &response); err != nil {
		return "", fmt.Errorf("ask for leave: the client's answer cannot be read: %w", err)
	}
	switch out := response.Outcome; {
	case out.Outcome == "cancelled":
		return "", agent.ErrDismissed
	case out.Outcome == "selected" && out.OptionID != nil:
		return *out.OptionID, nil
	default:
		return "", fmt.Errorf("the client answered with the outcome %q: %w", out.Outcome, agent.ErrDismissed)
	}
}

// permissionParams are the parameters of a session/request_permission.
type permissionParams struct {
	SessionID string                    `json:"sessionId"`
	Options   []acpsdk.PermissionOption `json:"options"`
	ToolCall  permissionCall            `json:"toolCall"`
}

// permissionCall is the SDK's ToolCallUpdate with content as in toolCall.
type permissionCall struct {
	acpsdk.ToolCallUpdate
	Content []any `json:"content,omitempty"`
}

// request repeats the announced card: its diff first, then why it asks.
func (a approver) request(req agent.PermissionRequest) permissionParams {
	kind, status := acpsdk.ToolKind(req.Kind), acpsdk.ToolCallStatusPending
	content := callContent(req.Access)
	if req.Reason != "" {
		content = append(content, textContent(req.Reason))
	}
	reads := make([]agent.Location, len(req.Access.Reads))
	for i, path := range req.Access.Reads {
		reads[i].Path = path
	}
	options := make([]acpsdk.PermissionOption, len(req.Options))
	for i, o := range req.Options {
		options[i] = acpsdk.PermissionOption{
			OptionId: acpsdk.PermissionOptionId(o.ID),
			Name:     o.Name,
			Kind:     acpsdk.PermissionOptionKind(o.Kind),
		}
	}
	return permissionParams{
		SessionID: a.sessionID,
		Options:   options,
		ToolCall: permissionCall{
			ToolCallUpdate: acpsdk.ToolCallUpdate{
				ToolCallId: acpsdk.ToolCallId(req.CallID),
				Title:      &req.Title,
				Kind:       &kind,
				Status:     &status,
				Locations:  callLocations(reads, req.Access),
			},
			Content: content,
		},
	}
}
