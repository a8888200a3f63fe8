package main

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/acp/acpclient"
)

// demoView shows a conversation and keeps what the demo's checks need of it.
type demoView struct {
	*terminalUI

	mu     sync.Mutex
	hidden bool
	seen   turnRecord
}

// turnRecord is what came while a prompt ran, or a session was loaded.
type turnRecord struct {
	prompts        []string // of a replay
	text           string
	calls          []recordedCall
	asked, allowed bool // a question was put, and the last one allowed
}

type recordedCall struct {
	id     acpsdk.ToolCallId
	kind   acpsdk.ToolKind
	status acpsdk.ToolCallStatus
	output string
}

// only returns the turn's only call, which must be of the given kind.
func (r turnRecord) only(kind acpsdk.ToolKind) (recordedCall, error) {
	if len(r.calls) != 1 || r.calls[0].kind != kind {
		return recordedCall{}, fmt.Errorf("the agent made %d tool calls, want one of kind %s", len(r.calls), kind)
	}
	return r.calls[0], nil
}

func (v *demoView) beginRecord() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen = turnRecord{}
}

func (v *demoView) record() turnRecord {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.seen
}

// hide makes the view only record.
func (v *demoView) hide(hidden bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hidden = hidden
}

// opened shows nothing yet: the demo's first prompt comes under its heading.
func (v *demoView) opened(acpsdk.SessionId) {}

func (v *demoView) update(u acpclient.Update) {
	if v.take(u) {
		v.terminalUI.update(u)
	}
}

// take records an update and reports whether to show it.
func (v *demoView) take(u acpclient.Update) (show bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case u.UserMessageChunk != nil && u.UserMessageChunk.Content.Text != nil:
		v.seen.prompts = append(v.seen.prompts, u.UserMessageChunk.Content.Text.Text)
	case u.AgentMessageChunk != nil && u.AgentMessageChunk.Content.Text != nil:
		v.seen.text += u.AgentMessageChunk.Content.Text.Text
	case u.ToolCall != nil:
		v.seen.calls = append(v.seen.calls, recordedCall{id: u.ToolCall.ToolCallId, kind: u.ToolCall.Kind, status: u.ToolCall.Status})
	case u.ToolCallUpdate != nil:
		v.seen.updateCall(u.ToolCallUpdate)
	}
	return !v.hidden
}

func (r *turnRecord) updateCall(u *acpsdk.SessionToolCallUpdate) {
	i := slices.IndexFunc(r.calls, func(c recordedCall) bool { return c.id == u.ToolCallId })
	if i < 0 {
		return
	}
	if u.Status != nil {
		r.calls[i].status = *u.Status
	}
	for _, c := range u.Content {
		if c.Content != nil && c.Content.Content.Text != nil {
			r.calls[i].output = c.Content.Content.Text.Text
		}
	}
}

func (v *demoView) answered(q acpclient.PermissionRequest, a answer) {
	v.mu.Lock()
	v.seen.asked, v.seen.allowed = true, a.allows(q)
	v.mu.Unlock()
	v.terminalUI.answered(q, a)
}

// heading begins a step.
func (v *demoView) heading(n int, title string) {
	v.notice("\n" + v.cyan(strconv.Itoa(n)) + " " + v.bold(title))
}

func (v *demoView) showPrompt(text string) {
	v.notice(v.bold("› ") + text)
}

func (v *demoView) checked(claim string) {
	v.notice(v.green("✔ checked: ") + claim)
}
