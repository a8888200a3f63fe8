package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/agent"
)

// replay loads a session and shows its conversation as the updates that it once
// was. Updates of a turn that runs wait until it is through.
func (s *server) replay(ctx context.Context, session *agent.Session, opts agent.SessionOptions) error {
	u := s.updates(session.ID())
	u.view.gate.Lock()
	defer u.view.gate.Unlock()
	messages, err := session.Load(ctx, opts)
	if err != nil {
		return err
	}
	r := &replayer{
		updates: u,
		cwd:     opts.Cwd,
		kinds:   map[string]agent.ToolKind{},
		results: map[string]bool{},
		open:    map[string]agent.CallInfo{},
	}
	for _, spec := range s.agent.Tools() {
		r.kinds[spec.Name] = spec.Kind
	}
	for _, m := range messages {
		if m.Role == agent.RoleTool {
			r.results[m.ToolCallID] = true
		}
	}
	for i, m := range messages {
		if err := r.message(ctx, fmt.Sprintf("history-%d", i+1), m); err != nil {
			return err
		}
	}
	return r.closeOpen(ctx)
}

type replayer struct {
	updates *updates
	cwd     string
	kinds   map[string]agent.ToolKind
	results map[string]bool           // ids of the calls that have a result
	open    map[string]agent.CallInfo // calls shown without their result yet
	order   []string                  // their ids, in order
	plan    []agent.PlanEntry         // as it was at this point
}

func (r *replayer) message(ctx context.Context, id string, m agent.Message) error {
	switch m.Role {
	case agent.RoleUser:
		return r.chunk(ctx, "user_message_chunk", id, m)
	case agent.RoleAssistant:
		return r.assistant(ctx, id, m)
	case agent.RoleTool:
		return r.result(ctx, m)
	case agent.RoleSystem:
	}
	return nil
}

// chunk sends a message's text, then its images; blank text is no message.
func (r *replayer) chunk(ctx context.Context, kind, id string, m agent.Message) error {
	if text := m.Text(); !isBlank(text) {
		c := chunk{SessionUpdate: kind, MessageID: id, Content: acpsdk.ContentBlockText{Type: "text", Text: text}}
		if m.Summary {
			c.Meta = map[string]any{"hermes": map[string]any{"compactionSummary": true}}
		}
		if err := r.updates.send(ctx, c); err != nil {
			return err
		}
	}
	for _, part := range m.Parts {
		mimeType, data, ok := splitDataURL(part.ImageURL)
		if !ok {
			continue
		}
		image := acpsdk.ContentBlockImage{Type: "image", MimeType: mimeType, Data: data}
		if err := r.updates.send(ctx, imageChunk{SessionUpdate: kind, MessageID: id, Content: image}); err != nil {
			return err
		}
	}
	return nil
}

// assistant sends thought, text and calls. A row that hermes-acp wrote itself
// is not shown as the model's words.
func (r *replayer) assistant(ctx context.Context, id string, m agent.Message) error {
	if !isBlank(m.Reasoning) {
		if err := r.updates.send(ctx, newChunk("agent_thought_chunk", id+"-thought", m.Reasoning)); err != nil {
			return err
		}
	}
	if !m.Authored {
		if err := r.chunk(ctx, "agent_message_chunk", id, m); err != nil {
			return err
		}
	}
	for _, c := range m.ToolCalls {
		_, announced := r.updates.view.openCalls[c.ID]
		if c.ID == "" || r.runsNow(c.ID) && !announced {
			continue
		}
		call := r.call(c)
		r.open[c.ID] = call
		r.order = append(r.order, c.ID)
		if err := r.updates.send(ctx, r.updates.callStarted(call)); err != nil {
			return err
		}
	}
	return nil
}

// runsNow reports whether a call belongs to a turn that runs: its end, and if it
// was not announced yet its beginning too, follow the replay. Without such a turn
// a call without a result was cut off by a crash.
func (r *replayer) runsNow(callID string) bool {
	return !r.results[callID] && r.updates.view.isRunning()
}

func (r *replayer) result(ctx context.Context, m agent.Message) error {
	call, ok := r.open[m.ToolCallID]
	if !ok {
		return nil
	}
	delete(r.open, m.ToolCallID)
	ended := agent.CallEnded{Call: call, Result: agent.Result{Text: m.Text(), Failed: m.Failed}}
	if err := r.updates.send(ctx, r.updates.callEnded(ended)); err != nil || call.Tool != agent.TodoTool || m.Failed {
		return err
	}
	plan, changed := agent.ApplyTodo(r.plan, call.Arguments)
	if r.plan = plan; !changed {
		return nil
	}
	return r.updates.send(ctx, planUpdate(plan))
}

// closeOpen ends the calls that a crash left without a result.
func (r *replayer) closeOpen(ctx context.Context) error {
	for _, id := range r.order {
		call, ok := r.open[id]
		if !ok || r.runsNow(id) {
			continue
		}
		ended := agent.CallEnded{Call: call, Result: agent.Result{Text: "This call ended without a result.", Failed: true}}
		if err := r.updates.send(ctx, r.updates.callEnded(ended)); err != nil {
			return err
		}
	}
	return nil
}

// call describes a stored call by its name and arguments, which is all that is
// kept of it.
func (r *replayer) call(c agent.ToolCall) agent.CallInfo {
	call := agent.CallInfo{ID: c.ID, Tool: c.Name, Title: c.Name, Kind: agent.KindOther, Arguments: c.Arguments}
	if kind, known := r.kinds[c.Name]; known {
		call.Kind, call.Known = kind, true
	}
	var args map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Arguments), &args) != nil {
		return call
	}
	if text := argument(args, "command", "path", "pattern", "query", "url", "action"); text != "" {
		call.Title += ": " + preview(text)
	}
	if path := argument(args, "path"); path != "" {
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.cwd, path)
		}
		call.Locations = []agent.Location{{Path: path}}
	}
	return call
}

// argument returns the first of the named string arguments that is there.
func argument(args map[string]json.RawMessage, names ...string) string {
	for _, name := range names {
		var value string
		if json.Unmarshal(args[name], &value) == nil && value != "" {
			return value
		}
	}
	return ""
}
