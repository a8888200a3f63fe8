//go:build !windows

package acp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommandsAreAnsweredWithoutTheModel(t *testing.T) {
	tests := []struct{ prompt, want string }{
		{"/help", "  /help        List the commands\n"},
		{"/HELP", "Any other /word goes to the model."},
		{"/version", "Hermes ACP v1.2.3"},
		{"/tools", "Available tools (3):\n  read_file: Reads a file.\n"},
		{"/model", "Current model: big\nProvider: Scripted"},
		{"/model small", "Model switched to: small\nProvider: Scripted"},
		{"/model nobody-serves-this", "no configured provider serves this model"},
		{"/mode", "Current mode: default"},
		{"/mode plan", "Mode: plan"},
		{"/mode yolo", `there is no mode "yolo"`},
		{"/context", "Conversation is empty (no messages yet)."},
		{"/reset", "Conversation history cleared."},
		{"/compress", "Nothing to compress: the conversation is empty."},
		{"/steer", "Usage: /steer <guidance for the running turn>"},
		{"/queue  ", "Usage: /queue <prompt to run next>"},
		{"/diff", "This session has changed no files"},
	}
	for _, tt := range tests {
		t.Run(tt.prompt, func(t *testing.T) {
			b := newBench(t)
			stop, updates := b.turn(b.newSession(), tt.prompt)
			if stop != "end_turn" || len(b.script.asked()) != 0 {
				t.Errorf("%s after %d model requests", stop, len(b.script.asked()))
			}
			if got := texts(updates, "agent_message_chunk"); !strings.Contains(got, tt.want) {
				t.Errorf("answered %q, want %q", got, tt.want)
			}
			if len(find(updates, "usage_update", "")) == 0 {
				t.Error("no usage_update")
			}
		})
	}
}

func TestToolsCommandListsTheServersOfTheSession(t *testing.T) {
	b := newBench(t)
	created, _ := b.ok("session/new", `{"cwd":%q,"mcpServers":[{"name":"wiki","command":"/w","args":[],"env":[]},{"name":"broken","command":"/b","args":[],"env":[]}]}`, b.cwd)
	session, _ := created["sessionId"].(string)
	_, updates := b.turn(session, "/tools")
	answer := texts(updates, "agent_message_chunk")
	for _, want := range []string{"Available tools (4):\n", "  mcp_wiki_ask: Asks the server.\n", "MCP server broken has no tools\n"} {
		if !strings.Contains(answer, want) {
			t.Errorf("no %q in %q", want, answer)
		}
	}
}

func TestWhatIsNoCommandGoesToTheModel(t *testing.T) {
	for name, blocks := range map[string]string{
		"unknown":   `{"type":"text","text":"/nonexistent thing"}`,
		"a path":    `{"type":"text","text":"/help/me"}`,
		"an image":  `{"type":"text","text":"/help"},{"type":"image","mimeType":"image/png","data":"AAAA"}`,
		"not first": `{"type":"text","text":"please /help"}`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.ok("session/prompt", `{"sessionId":%q,"prompt":[%s]}`, b.newSession(), blocks)
			if got := len(b.script.asked()); got != 1 {
				t.Errorf("%d model requests", got)
			}
		})
	}
}

func TestCommandsOfUnknownSessions(t *testing.T) {
	b := newBench(t)
	for _, c := range commands() {
		b.refused(-32002, "session/prompt", `{"sessionId":"nope","prompt":[{"type":"text","text":"/%s x"}]}`, c.name)
	}
}

func TestContextCommand(t *testing.T) {
	b := newBench(t, counted(says("hello")))
	session := b.newSession()
	b.turn(session, "hi")
	_, updates := b.turn(session, "/context")
	want := `Conversation: 2 messages
  user: 1, assistant: 1, tool: 0, system: 0
Model: big
Provider: Scripted
Context usage: ~168 / 100,000 tokens (0.2%)
Compression: ~74,832 tokens until threshold (~75,000, 75%).
Tip: run /compress to compress before the threshold.`
	if diff := cmp.Diff(want, texts(updates, "agent_message_chunk")); diff != "" {
		t.Error(diff)
	}
}

func TestSteerReachesTheRunningTurn(t *testing.T) {
	b := newBench(t, calls(call("c1", "write_file", `{"path":"a","content":"x"}`)), echoes())
	session := b.newSession()
	id := b.prompt(session, "write")
	question := b.until(isPermission)
	read := b.until(responseTo(b.prompt(session, "/steer in French")))
	if got := texts(read, "agent_message_chunk"); !strings.Contains(got, "in French") {
		t.Errorf("answered %q", got)
	}
	b.answer(question[len(question)-1], "deny")
	if got := texts(b.until(responseTo(id)), "agent_message_chunk"); got != "you said in French" {
		t.Errorf("the turn went on with %q", got)
	}
}

func TestQueueRunsInsideTheOpenPrompt(t *testing.T) {
	b := newBench(t, calls(call("c1", "write_file", `{"path":"a","content":"x"}`)), says("one. "), echoes())
	session := b.newSession()
	id := b.prompt(session, "write")
	question := b.until(isPermission)
	b.until(responseTo(b.prompt(session, "/queue the tests")))
	b.answer(question[len(question)-1], "deny")
	if got := texts(b.until(responseTo(id)), "agent_message_chunk"); got != "one. you said the tests" {
		t.Errorf("the prompt brought %q", got)
	}
}

func TestCancelDropsWhatWasQueued(t *testing.T) {
	b := newBench(t, stalls())
	session := b.newSession()
	id := b.prompt(session, "go")
	b.until(isUpdate("agent_message_chunk"))
	b.until(responseTo(b.prompt(session, "/queue more")))
	b.notify("session/cancel", `{"sessionId":%q}`, session)
	read := b.until(responseTo(id))
	if got := stopReason(t, read[len(read)-1]); got != "cancelled" || len(b.script.asked()) != 1 {
		t.Errorf("%s after %d model requests", got, len(b.script.asked()))
	}
}

func TestSteerAndQueueOfAnIdleSessionArePrompts(t *testing.T) {
	for _, name := range []string{"steer", "queue"} {
		b := newBench(t, echoes())
		stop, updates := b.turn(b.newSession(), "/"+name+" do it")
		if got := texts(updates, "agent_message_chunk"); stop != "end_turn" || got != "you said do it" {
			t.Errorf("/%s: %s, %q", name, stop, got)
		}
	}
}

func TestResetTakesItsPlaceInLine(t *testing.T) {
	b := newBench(t, stalls())
	session := b.newSession()
	id := b.prompt(session, "go")
	b.until(isUpdate("agent_message_chunk"))
	reset := b.prompt(session, "/reset")
	b.notify("$/cancel_request", `{"requestId":%d}`, id)
	b.until(responseTo(id))
	read := b.until(responseTo(reset))
	if got := texts(read, "agent_message_chunk"); got != "Conversation history cleared." {
		t.Errorf("answered %q", got)
	}
	if left, err := b.store.Messages(t.Context(), session); err != nil || len(left) != 0 {
		t.Errorf("%d messages left, %v", len(left), err)
	}
}

func TestP44_P45_Compress(t *testing.T) {
	long := strings.Repeat("word", 15_000)
	b := newBench(t, says("first"), says(long), says(long), says(long), says("THE SUMMARY"))
	b.ok("initialize", `{"protocolVersion":1,"clientCapabilities":{"session":{"compaction":{}}}}`)
	session := b.newSession()
	for i := range 4 {
		b.turn(session, fmt.Sprint("prompt ", i))
	}
	b.store.rotate(session, "hermes-2")
	_, updates := b.turn(session, "/compress")
	if got := texts(updates, "agent_message_chunk"); !strings.HasPrefix(got, "Context compressed: 8 -> ") {
		t.Fatalf("answered %q", got)
	}
	var states []any
	for _, m := range find(updates, "compaction_update", "") {
		states = append(states, m.Params.Update["status"])
	}
	if diff := cmp.Diff([]any{"in_progress", "completed"}, states); diff != "" {
		t.Error(diff)
	}
	told := find(updates, "session_info_update", "")
	if len(told) != 1 || !strings.Contains(told[0].raw, `"currentHermesSessionId":"hermes-2"`) || !strings.Contains(told[0].raw, `"previousHermesSessionId":"`+session) {
		t.Errorf("of the rotation it told %v", told)
	}

	again := connect(t, &script{}, b.store, Config{})
	_, replayed := again.ok("session/load", `{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, b.cwd)
	if got := texts(replayed, "agent_message_chunk"); !strings.Contains(got, "THE SUMMARY") {
		t.Errorf("after a restart the conversation is %.100q", got)
	}
}

func TestDiffShowsWhatTheSessionChanged(t *testing.T) {
	b := newBench(t, calls(
		call("c1", "write_file", `{"path":"old.txt","content":"two\n"}`),
		call("c2", "write_file", `{"path":"new.txt","content":"fresh\n"}`),
		call("c3", "write_file", `{"path":"old.txt","content":"three\n"}`),
		call("c4", "write_file", `{"path":".git/config","content":"never"}`),
	))
	if err := os.WriteFile(filepath.Join(b.cwd, "old.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	session := b.newSession()
	b.ok("session/set_mode", `{"sessionId":%q,"modeId":"accept_edits"}`, session)
	id := b.prompt(session, "write")
	question := b.until(isPermission)
	b.answer(question[len(question)-1], "deny")
	b.until(responseTo(id))
	_, updates := b.turn(session, "/diff")
	got := strings.ReplaceAll(texts(updates, "agent_message_chunk"), b.cwd, "")
	want := "```\n--- /old.txt\n+++ /old.txt\n@@ -1 +1 @@\n-one\n+three\n--- /dev/null\n+++ /new.txt\n@@ -0,0 +1 @@\n+fresh\n```"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	if err := os.Remove(filepath.Join(b.cwd, "old.txt")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(b.cwd, "old.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, updates = b.turn(session, "/diff")
	if got := texts(updates, "agent_message_chunk"); !strings.Contains(got, "no regular file any more") {
		t.Errorf("of a FIFO it says %q", got)
	}
}
