package acp

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-acp/hermes-acp/agent"
)

// The cases that Hermes' own adapter is tested with, by their number in our list
// of them, as far as they concern this adapter and we decided the same. Where we
// decided otherwise the case says "ours". Those about paths, approvals, storage,
// lineage and MCP are with the packages that do the work.

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

func TestHermesSessions(t *testing.T) {
	checkRules(t, []rule{
		{"17 new: keeps the cwd", nil, func(b *bench) {
			b.expect("cwd", b.store.records[b.newSession()].Cwd, b.cwd)
		}},
		{"18 new: three modes, ours: and plan, and configOptions", nil, func(b *bench) {
			result, _ := b.ok("session/new", `{"cwd":%q,"mcpServers":[]}`, b.cwd)
			modes, _ := result["modes"].(map[string]any)
			list, _ := modes["availableModes"].([]any)
			var ids []any
			for _, m := range list {
				fields, _ := m.(map[string]any)
				ids = append(ids, fields["id"])
			}
			b.expect("modes", ids, []any{"default", "accept_edits", "dont_ask", "plan"})
			b.expect("current", modes["currentModeId"], any("default"))
		}},
		{"20 set_mode: stored, ours: unknown ones are refused", nil, func(b *bench) {
			session := b.newSession()
			b.ok("session/set_mode", `{"sessionId":%q,"modeId":"accept_edits"}`, session)
			b.refused(-32602, "session/set_mode", `{"sessionId":%q,"modeId":"bogus"}`, session)
			b.expect("mode", b.store.records[session].Mode, agent.ModeAcceptEdits)
		}},
		{"21 set_config_option, ours: unknown options are refused", nil, func(b *bench) {
			b.refused(-32602, "session/set_config_option", `{"sessionId":%q,"configId":"approval_mode","value":"auto"}`, b.newSession())
		}},
		{"22 set_model: stored", nil, func(b *bench) {
			session := b.newSession()
			b.ok("session/set_model", `{"sessionId":%q,"modelId":"small"}`, session)
			b.expect("model", b.store.records[session].Model, "small")
		}},
		{"25 set_model: one that nobody serves", nil, func(b *bench) {
			session := b.newSession()
			b.refused(-32602, "session/set_model", `{"sessionId":%q,"modelId":"gpt-0"}`, session)
			b.expect("model", b.store.records[session].Model, "")
		}},
		{"26, 27, 61, ours: unknown sessions are errors", nil, func(b *bench) {
			b.refused(-32002, "session/load", `{"sessionId":"bogus","cwd":%q,"mcpServers":[]}`, b.cwd)
			b.refused(-32002, "session/resume", `{"sessionId":"missing","cwd":%q}`, b.cwd)
			b.refused(-32002, "session/prompt", `{"sessionId":"missing","prompt":[{"type":"text","text":"x"}]}`)
		}},
		{"28 cancel: unknown ids are ignored", nil, func(b *bench) {
			b.notify("session/cancel", `{"sessionId":"missing"}`)
			b.newSession()
		}},
		{"33, ours: an unknown cursor is refused", nil, func(b *bench) { b.refused(-32602, "session/list", `{"cursor":"s9"}`) }},
		{"35 list: by cwd", nil, func(b *bench) {
			b.turn(b.newSession(), "hi")
			here, _ := b.ok("session/list", `{"cwd":%q}`, b.cwd+"/.")
			there, _ := b.ok("session/list", `{"cwd":"/nonexistent/x/../y"}`)
			one, _ := here["sessions"].([]any)
			none, _ := there["sessions"].([]any)
			b.expect("sizes", []int{len(one), len(none)}, []int{1, 0})
		}},
		{"72 titled after the first exchange", nil, func(b *bench) {
			_, updates := b.turn(b.newSession(), "fix the parser")
			if told := find(updates, "session_info_update", ""); len(told) != 1 || told[0].Params.Update["updatedAt"] == nil {
				b.t.Errorf("told %v", told)
			}
		}},
	})
}

func TestHermesReplay(t *testing.T) {
	checkRules(t, []rule{
		{"53 the system's row is hidden, a search is one card", nil, func(b *bench) {
			replayed := b.stored(agent.TextMessage(agent.RoleSystem, "secret"), user("find it"),
				assistant("", call("call_search_1", "search_files", `{"pattern":"main"}`)),
				result("call_search_1", "search_files", "Search results\ncli.py:42"), assistant("Found."))
			b.expect("updates", names(replayed), []string{"user_message_chunk", "tool_call pending", "tool_call_update completed", "agent_message_chunk"})
			b.expect("title", replayed[1].Params.Update["title"], any("search_files: main"))
			if !strings.Contains(replayed[2].raw, "cli.py:42") || strings.Contains(fmt.Sprint(replayed), "secret") {
				b.t.Errorf("replayed %s", replayed[2].raw)
			}
		}},
		{"54 todo: card, end, plan", nil, func(b *bench) {
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
		{"55 the thought before the message", nil, func(b *bench) {
			b.expect("updates", names(b.stored(user("hi"), thinking("hm", "hello"))), []string{"user_message_chunk", "agent_thought_chunk", "agent_message_chunk"})
		}},
		{"56 nothing but a thought", nil, func(b *bench) {
			b.expect("updates", names(b.stored(user("hi"), thinking("hm", ""))), []string{"user_message_chunk", "agent_thought_chunk"})
		}},
		{"57 a blank thought", nil, func(b *bench) {
			b.expect("updates", names(b.stored(user("hi"), thinking(" \n", "hello"))), []string{"user_message_chunk", "agent_message_chunk"})
		}},
		{"58 a thought and a call without a message", nil, func(b *bench) {
			m := thinking("hm", "")
			m.ToolCalls = []agent.ToolCall{call("c", "read_file", `{"path":"a"}`)}
			b.expect("updates", names(b.stored(user("hi"), m, result("c", "read_file", "x"))),
				[]string{"user_message_chunk", "agent_thought_chunk", "tool_call pending", "tool_call_update completed"})
		}},
		{"106 replayed locations are absolute", nil, func(b *bench) {
			replayed := b.stored(user("hi"), assistant("", call("c", "read_file", `{"path":"sub/a.go"}`)), result("c", "read_file", "x"))
			b.expect("locations", replayed[1].Params.Update["locations"], any([]any{map[string]any{"path": filepath.Join(b.cwd, "sub/a.go")}}))
		}},
		{"ours: images are replayed", nil, func(b *bench) {
			m := user("look")
			m.Parts = append(m.Parts, agent.Part{ImageURL: "data:image/png;base64,AAAA"}, agent.Part{ImageURL: "https://elsewhere"})
			replayed := b.stored(m, assistant("A cat."))
			b.expect("updates", names(replayed), []string{"user_message_chunk", "user_message_chunk", "agent_message_chunk"})
			b.expect("image", replayed[1].Params.Update["content"], any(map[string]any{"type": "image", "mimeType": "image/png", "data": "AAAA"}))
		}},
		{"108 calls that a crash cut off are closed", nil, func(b *bench) {
			replayed := b.stored(user("hi"), assistant("", call("c", "terminal", `{"command":"make"}`)))
			b.expect("updates", names(replayed), []string{"user_message_chunk", "tool_call pending", "tool_call_update failed"})
		}},
		{"ours: rows that are not the model's words", nil, func(b *bench) {
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

func TestHermesTurns(t *testing.T) {
	checkRules(t, []rule{
		{"62 a blank prompt", nil, func(b *bench) {
			stop, _ := b.turn(b.newSession(), "   ")
			b.expect("stop reason and requests", []any{stop, len(b.script.asked())}, []any{"end_turn", 0})
		}},
		{"66 the streamed answer comes once", []step{says("one two three")}, func(b *bench) {
			_, updates := b.turn(b.newSession(), "hi")
			b.expect("text", texts(updates, "agent_message_chunk"), "one two three")
		}},
		{"69 what was said before a cancel stays", []step{stalls()}, func(b *bench) {
			session := b.newSession()
			id := b.prompt(session, "go")
			b.until(isUpdate("agent_message_chunk"))
			b.notify("session/cancel", `{"sessionId":%q}`, session)
			b.until(responseTo(id))
			_, replayed := b.ok("session/load", `{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, b.cwd)
			b.expect("text", texts(replayed, "agent_message_chunk"), "thinking")
		}},
		{"75 a cancel drops the queue", []step{stalls()}, func(b *bench) {
			session := b.newSession()
			first := b.prompt(session, "go")
			b.until(isUpdate("agent_message_chunk"))
			second := b.prompt(session, "then")
			b.notify("session/cancel", `{"sessionId":%q}`, session)
			for waiting := 2; waiting > 0; {
				m := b.next()
				if responseTo(first)(m) || responseTo(second)(m) {
					b.expect("stop reason", stopReason(b.t, m), "cancelled")
					waiting--
				}
			}
			b.expect("requests", len(b.script.asked()), 1)
		}},
		{"76 a cancel of an idle session", []step{says("fine")}, func(b *bench) {
			session := b.newSession()
			b.notify("session/cancel", `{"sessionId":%q}`, session)
			stop, _ := b.turn(session, "hi")
			b.expect("stop reason", stop, "end_turn")
		}},
		{"94 /help with an image goes to the model", nil, func(b *bench) {
			b.ok("session/prompt", `{"sessionId":%q,"prompt":[{"type":"text","text":"/help"},{"type":"image","mimeType":"image/png","data":"AAAA"}]}`, b.newSession())
			b.expect("requests", len(b.script.asked()), 1)
		}},
		{"96 arguments that are no JSON, or none", []step{calls(call("c1", "terminal", "not json"), call("c2", "nonsense", ""))}, func(b *bench) {
			_, updates := b.turn(b.newSession(), "go")
			b.expect("raw input", find(updates, "tool_call", "")[1].Params.Update["rawInput"], any(nil))
			b.expect("failed", len(find(updates, "tool_call_update", "failed")), 2)
		}},
		{"97 empty pieces say nothing", []step{says("")}, func(b *bench) {
			_, updates := b.turn(b.newSession(), "hi")
			b.expect("chunks", len(find(updates, "agent_message_chunk", "")), 0)
		}},
		{"100 kinds", []step{calls(call("a", "read_file", `{"path":"x"}`), call("b", "terminal", `{"command":"safe"}`), call("c", "nonsense", `{}`))}, func(b *bench) {
			_, updates := b.turn(b.newSession(), "go")
			var kinds []any
			for _, m := range find(updates, "tool_call", "") {
				kinds = append(kinds, m.Params.Update["kind"])
			}
			b.expect("kinds", kinds, []any{"read", "execute", "other"})
		}},
		{"101 calls without an id get one that says so", []step{calls(call("", "terminal", `{"command":"safe"}`))}, func(b *bench) {
			_, updates := b.turn(b.newSession(), "go")
			if id := fmt.Sprint(find(updates, "tool_call", "")[0].Params.Update["toolCallId"]); !strings.HasPrefix(id, "tc-") {
				b.t.Errorf("id %q", id)
			}
		}},
		{"103 a command that fails", []step{calls(call("c", "terminal", `{"command":"safe false"}`))}, func(b *bench) {
			_, updates := b.turn(b.newSession(), "go")
			b.expect("failed", len(find(updates, "tool_call_update", "failed")), 1)
		}},
		{"105 raw input of tools that nothing else describes", []step{calls(call("c", "nonsense", `{"x":12345678901234567890}`))}, func(b *bench) {
			_, updates := b.turn(b.newSession(), "go")
			if raw := find(updates, "tool_call", "")[0].raw; !strings.Contains(raw, `"rawInput":{"x":12345678901234567890}`) {
				b.t.Errorf("announced as %s", raw)
			}
		}},
	})
}
