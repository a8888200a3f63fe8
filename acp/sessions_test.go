//go:build !windows

package acp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNewSessionRefusesWhatItCannotUse(t *testing.T) {
	b := newBench(t)
	file := filepath.Join(b.cwd, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(b.cwd, "missing")
	tests := []struct{ name, params, want string }{
		{"no cwd", `{"mcpServers":[]}`, "cwd is required"},
		{"relative", `{"cwd":"work/here","mcpServers":[]}`, `cwd "work/here" is not an absolute path`},
		{"missing", `{"cwd":"` + missing + `","mcpServers":[]}`, `cwd "` + missing + `" does not exist`},
		{"a file", `{"cwd":"` + file + `","mcpServers":[]}`, `cwd "` + file + `" is not a folder`},
		{"not a string", `{"cwd":7,"mcpServers":[]}`, "params: cwd must not be a JSON number"},
		{"no servers", `{"cwd":"` + b.cwd + `"}`, "mcpServers is required; send [] for none"},
		{
			"relative directory", `{"cwd":"` + b.cwd + `","mcpServers":[],"additionalDirectories":["lib"]}`,
			`additionalDirectories "lib" is not an absolute path`,
		},
		{
			"unknown server", `{"cwd":"` + b.cwd + `","mcpServers":[{"type":"ws","name":"x","url":"ws://x"}]}`,
			`mcpServers 1: type "ws" is not supported (stdio, http and sse are)`,
		},
		{
			"server without an address", `{"cwd":"` + b.cwd + `","mcpServers":[{"type":"http","name":"x"}]}`,
			"mcpServers 1: a server of type http needs name and url",
		},
		{
			"server without a command", `{"cwd":"` + b.cwd + `","mcpServers":[{"name":"x","args":[],"env":[]}]}`,
			"mcpServers 1: a stdio server needs name and command",
		},
		{"server of a wrong kind", `{"cwd":"` + b.cwd + `","mcpServers":["x"]}`, "mcpServers 1: must be an object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := b.refused(-32602, "session/new", "%s", tt.params); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNewSessionTellsModes(t *testing.T) {
	b := newBench(t)
	result, _ := b.ok("session/new", `{"cwd":%q,"mcpServers":[{"type":"stdio","name":"x","command":"/bin/true","args":[],"env":[]}]}`, b.cwd)
	modes, _ := result["modes"].(map[string]any)
	if modes["currentModeId"] != "default" {
		t.Errorf("modes %v", modes)
	}
}

func TestP22_UnknownSessions(t *testing.T) {
	b := newBench(t)
	b.refused(-32002, "session/load", `{"sessionId":"nope","cwd":%q,"mcpServers":[]}`, b.cwd)
	b.refused(-32002, "session/prompt", `{"sessionId":"nope","prompt":[{"type":"text","text":"hi"}]}`)
	b.refused(-32002, "session/prompt", `{"sessionId":"nope","prompt":[]}`)
	b.refused(-32002, "session/set_mode", `{"sessionId":"nope","modeId":"plan"}`)
	b.notify("session/cancel", `{"sessionId":"nope"}`)
	b.ok("initialize", `{"protocolVersion":1}`)
}

func TestSetMode(t *testing.T) {
	b := newBench(t)
	session := b.newSession()
	b.ok("session/set_mode", `{"sessionId":%q,"modeId":"plan"}`, session)
	if got := b.refused(-32602, "session/set_mode", `{"sessionId":%q,"modeId":"yolo"}`, session); !strings.Contains(got, "accept_edits") {
		t.Errorf("the refusal does not name the modes: %s", got)
	}
	result, _ := b.ok("session/load", `{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, b.cwd)
	modes, _ := result["modes"].(map[string]any)
	if modes["currentModeId"] != "plan" {
		t.Errorf("modes %v", modes)
	}
}

func TestP20_LoadReplaysBeforeItsResponse(t *testing.T) {
	b := newBench(t,
		calls(call("c1", "read_file", `{"path":"a.txt"}`)), says("It says hello."),
		calls(call("c2", "terminal", `{"command":"safe false"}`), call("c3", "nonsense", `{"x":1}`)), says("It failed."))
	if err := os.WriteFile(filepath.Join(b.cwd, "a.txt"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	session := b.newSession()
	b.turn(session, "read a.txt")
	b.turn(session, "run it")

	again := connect(t, &script{}, b.store, Config{}) // a new process
	_, replayed := again.ok("session/load", `{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, b.cwd)
	want := []string{
		"user_message_chunk", "tool_call pending", "tool_call_update completed", "agent_message_chunk",
		"user_message_chunk", "tool_call pending", "tool_call pending", "tool_call_update failed", "tool_call_update failed", "agent_message_chunk",
	}
	if diff := cmp.Diff(want, names(replayed)); diff != "" {
		t.Errorf("replay (-want +got):\n%s", diff)
	}
	if got := texts(replayed, "agent_message_chunk"); got != "It says hello.It failed." {
		t.Errorf("the answers were %q", got)
	}
	if got := replayed[1].Params.Update["title"]; got != "read_file: a.txt" {
		t.Errorf("title %v", got)
	}
	ids := map[any]bool{}
	for _, m := range replayed {
		if id := m.Params.Update["messageId"]; id != nil && ids[id] {
			t.Errorf("message id %v is there twice", id)
		} else {
			ids[id] = true
		}
	}
}

func TestP24_AfterLoadTheModelKnowsTheHistory(t *testing.T) {
	b := newBench(t, says("Blue."))
	session := b.newSession()
	b.turn(session, "my colour?")

	again := connect(t, &script{steps: []step{says("Still blue.")}}, b.store, Config{})
	again.ok("session/load", `{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, b.cwd)
	stop, updates := again.turn(session, "and now?")
	if stop != "end_turn" || texts(updates, "agent_message_chunk") != "Still blue." {
		t.Errorf("%s, %q", stop, texts(updates, "agent_message_chunk"))
	}
	var got []string
	for _, m := range again.script.asked()[0].Messages[1:] {
		got = append(got, m.Text())
	}
	if diff := cmp.Diff([]string{"my colour?", "Blue.", "and now?"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestP47_LoadMovesTheSessionToTheClientsFolder(t *testing.T) {
	b := newBench(t, says("ok"), calls(call("c1", "terminal", `{"command":"safe pwd"}`)))
	session := b.newSession()
	b.turn(session, "hi")
	elsewhere := t.TempDir()
	b.ok("initialize", `{"protocolVersion":1,"clientCapabilities":{"_meta":{"terminal_output":true}}}`)
	b.ok("session/load", `{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, elsewhere)
	_, updates := b.turn(session, "where?")
	meta, _ := find(updates, "tool_call", "")[0].Params.Update["_meta"].(map[string]any)
	info, _ := meta["terminal_info"].(map[string]any)
	if info["cwd"] != elsewhere {
		t.Errorf("the command ran in %v, want %s", info["cwd"], elsewhere)
	}
}

func TestP18_WhatToTellOfASessionFollowsItsResponse(t *testing.T) {
	b := newBench(t)
	answer, before := b.call("session/new", `{"cwd":%q,"mcpServers":[]}`, b.cwd)
	if len(before) > 0 {
		t.Errorf("before the response came %v", names(before))
	}
	commands := b.next()
	if commands.update() != "available_commands_update" || !strings.Contains(answer.raw, commands.Params.SessionID) {
		t.Errorf("after the response came %s", commands.raw)
	}
	var listed []string
	list, _ := commands.Params.Update["availableCommands"].([]any)
	for _, c := range list {
		fields, _ := c.(map[string]any)
		listed = append(listed, fmt.Sprint(fields["name"]))
	}
	want := []string{"help", "model", "tools", "context", "reset", "compress", "steer", "queue", "version", "mode", "diff"}
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Error(diff)
	}
}

func TestP21_ResumeDoesNotReplay(t *testing.T) {
	b := newBench(t, says("Blue."))
	session := b.newSession()
	b.turn(session, "my colour?")
	again := connect(t, &script{}, b.store, Config{})
	_, before := again.ok("session/resume", `{"sessionId":%q,"cwd":%q}`, session, b.cwd)
	if len(before) != 0 {
		t.Errorf("before the response came %v", names(before))
	}
	again.turn(session, "and now?")
	if got := len(again.script.asked()[0].Messages); got != 4 {
		t.Errorf("the model got %d messages, want the system's, two old ones and the new one", got)
	}
	again.refused(-32002, "session/resume", `{"sessionId":"nope","cwd":%q}`, b.cwd)
}

func TestForkIsIndependent(t *testing.T) {
	b := newBench(t, says("one"), says("two"), says("three"))
	session := b.newSession()
	b.turn(session, "first")
	result, _ := b.ok("session/fork", `{"sessionId":%q,"cwd":%q}`, session, b.cwd)
	fork, _ := result["sessionId"].(string)
	if fork == "" || fork == session || result["configOptions"] == nil {
		t.Fatalf("forked to %v", result)
	}
	b.turn(fork, "in the fork")
	b.turn(session, "in the original")
	var got []string
	for _, m := range b.script.asked()[2].Messages[1:] {
		got = append(got, m.Text())
	}
	if diff := cmp.Diff([]string{"first", "one", "in the original"}, got); diff != "" {
		t.Error(diff)
	}
	b.refused(-32002, "session/fork", `{"sessionId":"nope","cwd":%q}`, b.cwd)
}

func TestListSessions(t *testing.T) {
	b := newBench(t)
	if answer, _ := b.call("session/list", `{}`); string(answer.Result) != `{"sessions":[]}` {
		t.Errorf("an empty list is %s", answer.Result)
	}
	b.newSession() // empty: hidden
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(b.cwd, link); err != nil {
		t.Skip("no symbolic links here")
	}
	var want []string
	for range 3 {
		session := b.newSession()
		b.turn(session, "hi")
		want = append(want, session)
	}
	result, _ := b.ok("session/new", `{"cwd":%q,"mcpServers":[]}`, t.TempDir())
	elsewhere := fmt.Sprint(result["sessionId"])
	b.turn(elsewhere, "hi")

	for _, cwd := range []string{b.cwd, link, b.cwd + "/sub/.."} {
		var got []string
		cursor := ""
		for {
			page, _ := b.ok("session/list", `{"cwd":%q%s}`, cwd, cursor)
			sessions, _ := page["sessions"].([]any)
			for _, listed := range sessions {
				fields, _ := listed.(map[string]any)
				got = append(got, fmt.Sprint(fields["sessionId"]))
				if updated, err := time.Parse(time.RFC3339, fmt.Sprint(fields["updatedAt"])); err != nil || fields["title"] == "" || updated.IsZero() {
					t.Errorf("listed as %v: %v", fields, err)
				}
			}
			next, more := page["nextCursor"].(string)
			if !more {
				break
			}
			cursor = fmt.Sprintf(`,"cursor":%q`, next)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("cwd %s:\n%s", cwd, diff)
		}
	}
	b.refused(-32602, "session/list", `{"cursor":"nonsense"}`)
	b.refused(-32602, "session/list", `{"cwd":"relative"}`)
}

func TestCloseEndsTheRunningTurnAndFreesTheSession(t *testing.T) {
	b := newBench(t, stalls(), says("back"))
	session := b.newSession()
	id := b.prompt(session, "go")
	b.until(isUpdate("agent_message_chunk"))
	closing := b.request("session/close", `{"sessionId":%q}`, session)
	answers := map[string]message{}
	for len(answers) < 2 {
		if m := b.next(); m.Method == "" {
			answers[string(m.ID)] = m
		}
	}
	if got := stopReason(t, answers[fmt.Sprint(id)]); got != "cancelled" {
		t.Errorf("the turn ended with %q", got)
	}
	if got := string(answers[fmt.Sprint(closing)].Result); got != "{}" {
		t.Errorf("close answered %s", got)
	}
	b.ok("session/resume", `{"sessionId":%q,"cwd":%q}`, session, b.cwd)
	if stop, _ := b.turn(session, "again"); stop != "end_turn" {
		t.Errorf("the next turn ended with %q", stop)
	}
	b.refused(-32002, "session/close", `{"sessionId":"nope"}`)
}

func TestDeleteRemovesASession(t *testing.T) {
	b := newBench(t)
	session := b.newSession()
	b.turn(session, "hi")
	for range 2 { // what is gone is gone
		if result, _ := b.ok("session/delete", `{"sessionId":%q}`, session); len(result) != 0 {
			t.Errorf("delete answered %v", result)
		}
	}
	b.refused(-32002, "session/load", `{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, b.cwd)
}

func TestLogoutAsksForAuthenticationAgain(t *testing.T) {
	b := newBench(t)
	session := b.newSession()
	b.ok("logout", `{}`)
	b.refused(-32000, "session/new", `{"cwd":%q,"mcpServers":[]}`, b.cwd)
	if stop, _ := b.turn(session, "still here?"); stop != "end_turn" {
		t.Errorf("the open session's turn ended with %q", stop)
	}
	b.ok("authenticate", `{"methodId":"scripted"}`)
	b.newSession()
}

func TestProvenanceIsToldWhereASessionBegins(t *testing.T) {
	b := newBench(t)
	result, _ := b.ok("session/new", `{"cwd":%q,"mcpServers":[]}`, b.cwd)
	id := result["sessionId"]
	want := map[string]any{"hermes": map[string]any{"sessionProvenance": map[string]any{
		"acpSessionId": id, "currentHermesSessionId": id, "rootHermesSessionId": id,
		"parentHermesSessionId": nil, "sessionKind": "root", "compressionDepth": 0.0,
	}}}
	if diff := cmp.Diff(any(want), result["_meta"]); diff != "" {
		t.Error(diff)
	}
}

func TestLoadOfARunningSessionReplaysWhatIsDoneAndGoesOn(t *testing.T) {
	b := newBench(t, says("before"), calls(call("c1", "terminal", `{"command":"safe forever"}`)))
	session := b.newSession()
	b.turn(session, "one")
	id := b.prompt(session, "two")
	b.until(func(m message) bool { return m.Params.Update["status"] == "in_progress" })
	_, replayed := b.ok("session/load", `{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, b.cwd)
	want := []string{"user_message_chunk", "agent_message_chunk", "user_message_chunk", "tool_call pending"}
	if diff := cmp.Diff(want, names(replayed)); diff != "" {
		t.Errorf("replay (-want +got):\n%s", diff)
	}
	b.notify("session/cancel", `{"sessionId":%q}`, session)
	read := b.until(responseTo(id))
	if ends := find(read, "tool_call_update", "failed"); len(ends) != 1 {
		t.Errorf("the running call ended %d times", len(ends))
	}
}

func TestCancelRequestEndsAnyRequest(t *testing.T) {
	b := newBench(t)
	id := b.request("session/list", `{"cursor":"wait"}`)
	b.notify("$/cancel_request", `{"requestId":%d}`, id)
	read := b.until(responseTo(id))
	if e := read[0].Error; e == nil || e.Code != -32800 {
		t.Errorf("answered %s", read[0].raw)
	}
}

func TestPromptBehindALoadRunsInItsFolder(t *testing.T) {
	for range 20 {
		b := newBench(t, says("ok"), calls(call("c1", "read_file", `{"path":"a.txt"}`)))
		session := b.newSession()
		b.turn(session, "hi")
		elsewhere := t.TempDir()
		b.request("session/resume", `{"sessionId":%q,"cwd":%q}`, session, elsewhere)
		read := b.until(responseTo(b.prompt(session, "read")))
		if got := fmt.Sprint(find(read, "tool_call", "")[0].Params.Update["locations"]); !strings.Contains(got, elsewhere) {
			t.Fatalf("the turn read %s, not in %s", got, elsewhere)
		}
	}
}
