package acptest

import (
	"slices"
	"strings"
)

// callParams are the parts of the agent's calls that rules look at.
type callParams struct {
	SessionID string       `json:"sessionId"`
	Update    updateParams `json:"update"`
	ToolCall  toolCall     `json:"toolCall"`
	Options   []struct {
		OptionID string `json:"optionId"`
		Kind     string `json:"kind"`
	} `json:"options"`
}

type updateParams struct {
	Kind string `json:"sessionUpdate"`
	toolCall
}

type toolCall struct {
	ID     string `json:"toolCallId"`
	Status string `json:"status"`
	// Content is an object in message chunks and a list in tool calls.
	Content   any `json:"content"`
	Locations []struct {
		Path string `json:"path"`
	} `json:"locations"`
}

// turnUpdates belong to a turn or to the replay of one.
var turnUpdates = []string{
	"user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan",
}

func (c *Checker) update(p callParams) {
	s := c.sessions[p.SessionID]
	if s == nil {
		c.report("%s for session %q, which the client does not know", p.Update.Kind, p.SessionID)
		return
	}
	if !s.working() && s.replays == 0 && slices.Contains(turnUpdates, p.Update.Kind) {
		c.report("%s for session %s while no prompt of it is open", p.Update.Kind, p.SessionID)
	}
	call := p.Update.toolCall
	switch p.Update.Kind {
	case "tool_call":
		if s.calls[call.ID] != 0 && s.replays == 0 { // a replay announces what runs anew
			c.report("tool call %s was announced twice", call.ID)
		}
		s.calls[call.ID] = callOpen
	case "tool_call_update":
		switch s.calls[call.ID] {
		case callOpen:
		case callEnded:
			c.report("tool call %s was updated after its end", call.ID)
		default:
			c.report("tool call %s was updated before it was announced", call.ID)
		}
	default:
		return
	}
	if call.Status == "completed" || call.Status == "failed" {
		s.calls[call.ID] = callEnded
	}
	c.checkPaths(call)
}

func (c *Checker) permission(p callParams) {
	s := c.sessions[p.SessionID]
	switch {
	case s == nil:
		c.report("a permission request for session %q, which the client does not know", p.SessionID)
		return
	case !s.working():
		c.report("a permission request for session %s while no prompt of it is open", p.SessionID)
	case s.calls[p.ToolCall.ID] != callOpen:
		c.report("a permission request for tool call %q, which is not open", p.ToolCall.ID)
	}
	var ids, kinds []string
	for _, o := range p.Options {
		if slices.Contains(ids, o.OptionID) {
			c.report("a permission request offers the id %q twice", o.OptionID)
		}
		if slices.Contains(kinds, o.Kind) {
			c.report("a permission request offers %s twice, which some clients merge", o.Kind)
		}
		ids, kinds = append(ids, o.OptionID), append(kinds, o.Kind)
	}
	c.checkPaths(p.ToolCall)
}

// checkPaths holds a call to absolute paths, in the form of either side of a
// bridge.
func (c *Checker) checkPaths(call toolCall) {
	var paths []string
	for _, l := range call.Locations {
		paths = append(paths, l.Path)
	}
	contents, _ := call.Content.([]any)
	for _, content := range contents {
		if diff, _ := content.(map[string]any); diff["type"] == "diff" {
			path, _ := diff["path"].(string)
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		if !isAbsolute(path) {
			c.report("tool call %s names %q, which is no absolute path", call.ID, path)
		}
	}
}

func isAbsolute(path string) bool {
	if strings.HasPrefix(path, "/") || strings.HasPrefix(path, `\\`) {
		return true
	}
	return len(path) >= 3 && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
}
