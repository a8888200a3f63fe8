//go:build !windows

package acp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEditIsShownAskedAndDone(t *testing.T) {
	b := newBench(t, calls(call("c1", "write_file", `{"path":"a.txt","content":"new"}`)), says("Done."))
	path := filepath.Join(b.cwd, "a.txt")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	session := b.newSession()
	id := b.prompt(session, "edit it")
	read := b.until(isPermission)
	question := read[len(read)-1]
	if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
		t.Fatalf("before the answer the file holds %q, %v", got, err)
	}

	diff := []any{map[string]any{"type": "diff", "path": path, "oldText": "old", "newText": "new"}}
	announced := find(read, "tool_call", "")[0].Params.Update
	if announced["toolCallId"] != "c1" || announced["status"] != "pending" || announced["kind"] != "edit" || announced["name"] != "write_file" {
		t.Errorf("announced as %v", announced)
	}
	if d := cmp.Diff(any(diff), announced["content"]); d != "" {
		t.Errorf("announced content:\n%s", d)
	}
	if d := cmp.Diff(any([]any{map[string]any{"path": path}}), question.Params.ToolCall["locations"]); d != "" {
		t.Errorf("locations:\n%s", d)
	}
	content, _ := question.Params.ToolCall["content"].([]any)
	if question.Params.ToolCall["toolCallId"] != "c1" || len(content) == 0 || cmp.Diff(diff[0], content[0]) != "" {
		t.Errorf("asked about %v", question.Params.ToolCall)
	}
	if got := question.Params.Options[0]; got.OptionID != "allow_once" || got.Kind != "allow_once" {
		t.Errorf("first option %v", got)
	}

	b.answer(question, "allow_once")
	read = b.until(responseTo(id))
	want := []string{"tool_call_update in_progress", "tool_call_update completed", "agent_message_chunk"}
	if d := cmp.Diff(want, names(read[:len(read)-1])); d != "" {
		t.Errorf("after the answer:\n%s", d)
	}
	if d := cmp.Diff(any(diff), read[1].Params.Update["content"]); d != "" {
		t.Errorf("content at the end:\n%s", d)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "new" {
		t.Errorf("after the answer the file holds %q, %v", got, err)
	}
}

func TestAnswersThatAreDenials(t *testing.T) {
	tests := []struct{ name, answer, reason string }{
		{"deny", `{"result":{"outcome":{"outcome":"selected","optionId":"deny"}}}`, "denied by the person"},
		{"dismissed", `{"result":{"outcome":{"outcome":"cancelled"}}}`, "dismissed"},
		{"P14 an option that was not offered", `{"result":{"outcome":{"outcome":"selected","optionId":"approve_for_session"}}}`, "approve_for_session"},
		{"an outcome that does not exist", `{"result":{"outcome":{"outcome":"maybe"}}}`, `"maybe"`},
		{"null", `{"result":null}`, `outcome ""`},
		{"nonsense", `{"result":[1]}`, "cannot be read"},
		{"an error", `{"error":{"code":-32601,"message":"what is a permission?"}}`, "what is a permission?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, calls(call("c1", "write_file", `{"path":"a.txt","content":"new"}`)))
			session := b.newSession()
			id := b.prompt(session, "write")
			read := b.until(isPermission)
			b.write(strings.Replace(tt.answer, "{", `{"jsonrpc":"2.0","id":`+string(read[len(read)-1].ID)+",", 1))
			read = b.until(responseTo(id))
			ended := read[0]
			if ended.Params.Update["status"] != "failed" || !strings.Contains(ended.raw, strings.ReplaceAll(tt.reason, `"`, `\"`)) {
				t.Errorf("the call ended with %s", ended.raw)
			}
			if _, err := os.Stat(filepath.Join(b.cwd, "a.txt")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the file was written: %v", err)
			}
		})
	}
}

func TestP10_P13_CancelWhileAQuestionIsOpen(t *testing.T) {
	b := newBench(t, calls(call("c1", "write_file", `{"path":"a.txt","content":"new"}`)))
	session := b.newSession()
	id := b.prompt(session, "write")
	read := b.until(isPermission)
	question := read[len(read)-1]
	b.notify("session/cancel", `{"sessionId":%q}`, session)
	read = b.until(responseTo(id))
	if got := stopReason(t, read[len(read)-1]); got != "cancelled" {
		t.Errorf("stop reason %q", got)
	}
	want := []string{"$/cancel_request", "tool_call_update failed"}
	if diff := cmp.Diff(want, names(read[:len(read)-1])); diff != "" {
		t.Error(diff)
	}
	if string(read[0].Params.RequestID) != string(question.ID) {
		t.Errorf("taken back: request %s, want %s", read[0].Params.RequestID, question.ID)
	}
	b.answer(question, "allow_once") // too late
	b.ok("initialize", `{"protocolVersion":1}`)
	if _, err := os.Stat(filepath.Join(b.cwd, "a.txt")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file was written: %v", err)
	}
}

func TestP42_AnswersReachTheirOwnSession(t *testing.T) {
	for range 20 {
		ask := func(path string) step { return calls(call("c1", "write_file", `{"path":%q,"content":"x"}`, path)) }
		b := newBench(t, ask("one"), ask("two"))
		sessions := []string{b.newSession(), b.newSession()}
		first, second := b.prompt(sessions[0], "write"), b.prompt(sessions[1], "write")
		questions := map[string]message{}
		for len(questions) < 2 {
			read := b.until(isPermission)
			questions[read[len(read)-1].Params.SessionID] = read[len(read)-1]
		}
		allowed := questions[sessions[1]]
		b.answer(questions[sessions[0]], "deny")
		b.answer(allowed, "allow_once")
		for waiting := map[string]bool{fmt.Sprint(first): true, fmt.Sprint(second): true}; len(waiting) > 0; {
			if m := b.next(); m.Method == "" {
				delete(waiting, string(m.ID))
			}
		}
		entries, err := os.ReadDir(b.cwd)
		if err != nil || len(entries) != 1 || !strings.Contains(allowed.raw, entries[0].Name()) {
			t.Fatalf("written: %v, %v; allowed was %s", entries, err, allowed.raw)
		}
	}
}
