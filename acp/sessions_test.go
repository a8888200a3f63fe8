package acp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
			`mcpServers: type "ws" is not supported (stdio, http and sse are)`,
		},
		{"server of a wrong kind", `{"cwd":"` + b.cwd + `","mcpServers":["x"]}`, "mcpServers: must be an object"},
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
