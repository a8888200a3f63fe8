//go:build !windows

package acp

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-acp/hermes-acp/agent"
)

// stored begins a process with a conversation that an earlier one has stored,
// and returns what its load replays.
func (b *bench) stored(messages ...agent.Message) []message {
	b.t.Helper()
	rec := agent.SessionRecord{ID: "stored", Cwd: b.cwd, Mode: agent.ModeDefault}
	if err := b.store.CreateSession(b.t.Context(), rec); err != nil {
		b.t.Fatal(err)
	}
	b.store.messages["stored"] = messages
	_, replayed := b.ok("session/load", `{"sessionId":"stored","cwd":%q,"mcpServers":[]}`, b.cwd)
	return replayed
}

func user(text string) agent.Message { return agent.TextMessage(agent.RoleUser, text) }

func assistant(text string, calls ...agent.ToolCall) agent.Message {
	m := agent.TextMessage(agent.RoleAssistant, text)
	m.ToolCalls = calls
	return m
}

func thinking(thought, text string) agent.Message {
	m := assistant(text)
	m.Reasoning = thought
	return m
}

func result(id, tool, text string) agent.Message {
	m := agent.TextMessage(agent.RoleTool, text)
	m.ToolCallID, m.ToolName = id, tool
	return m
}

func TestReplay(t *testing.T) {
	checkBehaviours(t, []behaviour{
		{"the system's row is hidden, a search is one card", nil, func(b *bench) {
			replayed := b.stored(agent.TextMessage(agent.RoleSystem, "secret"), user("find it"),
				assistant("", call("call_search_1", "search_files", `{"pattern":"main"}`)),
				result("call_search_1", "search_files", "Search results\ncli.py:42"), assistant("Found."))
			b.expect("updates", names(replayed), []string{"user_message_chunk", "tool_call pending", "tool_call_update completed", "agent_message_chunk"})
			b.expect("title", replayed[1].Params.Update["title"], any("search_files: main"))
			if !strings.Contains(replayed[2].raw, "cli.py:42") || strings.Contains(fmt.Sprint(replayed), "secret") {
				b.t.Errorf("replayed %s", replayed[2].raw)
			}
		}},
		{"todo: card, end, plan", nil, func(b *bench) {
			replayed := b.stored(user("plan"),
				assistant("", call("t1", "todo", `{"todos":[{"id":"a","content":"one","status":"completed"},{"id":"b","content":"two","status":"pending"}]}`)), result("t1", "todo", "ok"),
				assistant("", call("t2", "todo", `{"merge":true,"todos":[{"id":"b","status":"cancelled"},{"id":"c","content":"three","status":"odd"}]}`)), result("t2", "todo", "ok"),
				assistant("", call("t3", "todo", `{}`)), result("t3", "todo", "read"))
			b.expect("updates", names(replayed)[1:7], []string{"tool_call pending", "tool_call_update completed", "plan", "tool_call pending", "tool_call_update completed", "plan"})
			entry := func(content, status string) any {
				return map[string]any{"content": content, "status": status, "priority": "medium"}
			}
			b.expect("plans", len(find(replayed, "plan", "")), 2)
			b.expect("plan", find(replayed, "plan", "")[1].Params.Update["entries"],
				any([]any{entry("one", "completed"), entry("[cancelled] two", "completed"), entry("three", "pending")}))
		}},
		{"the thought before the message", nil, func(b *bench) {
			b.expect("updates", names(b.stored(user("hi"), thinking("hm", "hello"))), []string{"user_message_chunk", "agent_thought_chunk", "agent_message_chunk"})
		}},
		{"nothing but a thought", nil, func(b *bench) {
			b.expect("updates", names(b.stored(user("hi"), thinking("hm", ""))), []string{"user_message_chunk", "agent_thought_chunk"})
		}},
		{"a blank thought", nil, func(b *bench) {
			b.expect("updates", names(b.stored(user("hi"), thinking(" \n", "hello"))), []string{"user_message_chunk", "agent_message_chunk"})
		}},
		{"a thought and a call without a message", nil, func(b *bench) {
			m := thinking("hm", "")
			m.ToolCalls = []agent.ToolCall{call("c", "read_file", `{"path":"a"}`)}
			b.expect("updates", names(b.stored(user("hi"), m, result("c", "read_file", "x"))),
				[]string{"user_message_chunk", "agent_thought_chunk", "tool_call pending", "tool_call_update completed"})
		}},
		{"replayed locations are absolute", nil, func(b *bench) {
			replayed := b.stored(user("hi"), assistant("", call("c", "read_file", `{"path":"sub/a.go"}`)), result("c", "read_file", "x"))
			b.expect("locations", replayed[1].Params.Update["locations"], any([]any{map[string]any{"path": filepath.Join(b.cwd, "sub/a.go")}}))
		}},
		{"images are replayed", nil, func(b *bench) {
			m := user("look")
			m.Parts = append(m.Parts, agent.Part{ImageURL: "data:image/png;base64,AAAA"}, agent.Part{ImageURL: "https://elsewhere"})
			replayed := b.stored(m, assistant("A cat."))
			b.expect("updates", names(replayed), []string{"user_message_chunk", "user_message_chunk", "agent_message_chunk"})
			b.expect("image", replayed[1].Params.Update["content"], any(map[string]any{"type": "image", "mimeType": "image/png", "data": "AAAA"}))
		}},
		{"calls that a crash cut off are closed", nil, func(b *bench) {
			replayed := b.stored(user("hi"), assistant("", call("c", "terminal", `{"command":"make"}`)))
			b.expect("updates", names(replayed), []string{"user_message_chunk", "tool_call pending", "tool_call_update failed"})
		}},
		{"rows that are not the model's words", nil, func(b *bench) {
			authored := assistant("This turn was cancelled by the user.")
			authored.Authored = true
			summary := assistant("what was")
			summary.Summary = true
			replayed := b.stored(user("hi"), authored, user("again"), summary)
			b.expect("updates", names(replayed), []string{"user_message_chunk", "user_message_chunk", "agent_message_chunk"})
			b.expect("meta", replayed[2].Params.Update["_meta"], any(map[string]any{"hermes": map[string]any{"compactionSummary": true}}))
		}},
	})
}
