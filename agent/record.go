package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// close makes the history one that a model accepts and that says how the turn
// ended: every call has a result, and no user row stays open. An answer of the
// model that was cut short closes the turn by itself.
func (r *run) close(ctx context.Context, text string) error {
	r.session.mu.Lock()
	missing := unanswered(r.session.history)
	last := Message{}
	if n := len(r.session.history); n > 0 {
		last = r.session.history[n-1]
	}
	r.session.mu.Unlock()

	var rows []Message
	for _, c := range missing {
		rows = append(rows, toolMessage(c, text, true))
	}
	if len(rows) > 0 || last.Role != RoleAssistant {
		closing := TextMessage(RoleAssistant, text)
		closing.Authored = true
		rows = append(rows, closing)
	}
	return r.record(ctx, true, rows...)
}

// unanswered returns the calls at the end of a history that have no result.
func unanswered(history []Message) []ToolCall {
	answered := map[string]bool{}
	for _, m := range slices.Backward(history) {
		switch m.Role {
		case RoleTool:
			answered[m.ToolCallID] = true
		case RoleAssistant:
			return slices.DeleteFunc(slices.Clone(m.ToolCalls), func(c ToolCall) bool { return answered[c.ID] })
		case RoleUser, RoleSystem:
			return nil
		}
	}
	return nil
}

// record appends messages to the history. It works after a cancel too: what
// happened is kept.
func (r *run) record(ctx context.Context, final bool, msgs ...Message) error {
	return r.append(context.WithoutCancel(ctx), final, msgs...)
}

// append appends messages to the history, in the store first.
func (r *run) append(ctx context.Context, final bool, msgs ...Message) error {
	now := time.Now()
	for i := range msgs {
		if msgs[i].Time.IsZero() {
			msgs[i].Time = now
		}
	}
	err := r.store.Append(ctx, r.session.id, final, msgs...)
	if errors.Is(err, ErrSessionMoved) {
		// Another process went on with the conversation; this turn follows it.
		if err = r.session.readHistory(ctx, r.store); err == nil {
			err = r.store.Append(ctx, r.session.id, final, msgs...)
		}
	}
	if err != nil {
		return fmt.Errorf("save the conversation: %w", err)
	}
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	r.session.history = append(r.session.history, msgs...)
	return nil
}
