//go:build !windows

package acp

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent"
)

// behaviour is one thing that this adapter does, on a bench of its own. The
// protocol's rules one by one are checked with the whole program, in cmd.
type behaviour struct {
	name  string
	steps []step
	check func(*bench)
}

func checkBehaviours(t *testing.T, behaviours []behaviour) {
	t.Helper()
	for _, b := range behaviours {
		t.Run(b.name, func(t *testing.T) { b.check(newBench(t, b.steps...)) })
	}
}

func (b *bench) expect(what string, got, want any) {
	b.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		b.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestConnectionBehaviour(t *testing.T) {
	checkBehaviours(t, []behaviour{
		{"one message a line, whatever the text", []step{says("line one\nline\u2028two\r\n")}, func(b *bench) {
			_, updates := b.turn(b.newSession(), "hi") // next fails on half a message
			b.expect("text", texts(updates, "agent_message_chunk"), "line one\nline\u2028two\r\n")
		}},
		{"ends when its input closes", []step{stalls()}, func(b *bench) {
			b.prompt(b.newSession(), "go")
			b.until(isUpdate("agent_message_chunk"))
			if err := b.in.Close(); err != nil {
				b.t.Fatal(err)
			}
			rest, err := io.ReadAll(b.out) // ends when Serve returns
			b.expect("error", err, nil)
			if !strings.Contains(string(rest), `"cancelled"`) {
				b.t.Errorf("the last words are %s", rest)
			}
		}},
		{"a result or an error", nil, func(b *bench) {
			good, _ := b.call("initialize", `{"protocolVersion":1}`)
			bad, _ := b.call("nonsense", `{}`)
			if good.Result == nil || good.Error != nil || bad.Result != nil || bad.Error == nil {
				b.t.Errorf("%s%s", good.raw, bad.raw)
			}
		}},
		{"notifications are not answered", nil, func(b *bench) {
			b.notify("initialize", `{"protocolVersion":1}`)
			b.notify("session/prompt", `{}`)
			b.refused(-32601, "nonsense", `{}`) // the first line that comes
		}},
		{"ids come back as they were", nil, func(b *bench) {
			for _, id := range []string{`"a-b"`, `"\u00e9"`, "0", "-7", "1.50", "9007199254740993"} {
				b.write(`{"jsonrpc":"2.0","id":` + id + `,"method":"initialize","params":{}}`)
				b.expect("id", string(b.next().ID), id)
			}
		}},
		{"unknown _meta is tolerated", nil, func(b *bench) {
			b.ok("session/new", `{"cwd":%q,"mcpServers":[],"_meta":{"traceparent":"00-1","x":{"y":[1]}},"future":true}`, b.cwd)
		}},
		{"asks the client for nothing but leave", []step{calls(
			call("c1", "read_file", `{"path":"a"}`), call("c2", "write_file", `{"path":"a","content":"b"}`), call("c3", "terminal", `{"command":"safe"}`),
		)}, func(b *bench) {
			b.ok("initialize", `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"elicitation":{"form":{},"url":{}}}}`)
			session := b.newSession()
			id := b.prompt(session, "go")
			read := b.until(isPermission)
			b.answer(read[len(read)-1], "allow_once")
			for _, m := range b.until(responseTo(id)) {
				if m.Method != "" && m.Method != "session/update" {
					b.t.Errorf("it called %s", m.Method)
				}
			}
		}},
		{"what initialize names works", nil, func(b *bench) {
			session := b.newSession()
			b.turn(session, "hi")
			b.ok("session/load", `{"sessionId":%q,"cwd":%q,"mcpServers":[],"additionalDirectories":[%q]}`, session, b.cwd, os.TempDir())
			b.ok("session/resume", `{"sessionId":%q,"cwd":%q}`, session, b.cwd)
			b.ok("session/fork", `{"sessionId":%q,"cwd":%q}`, session, b.cwd)
			b.ok("session/list", `{}`)
			b.ok("session/close", `{"sessionId":%q}`, session)
			b.ok("session/delete", `{"sessionId":%q}`, session)
			b.ok("logout", `{}`)
		}},
		{"text and links always, images and resources as it says, nothing else", nil, func(b *bench) {
			session := b.newSession()
			b.ok("session/prompt", `{"sessionId":%q,"prompt":[{"type":"text","text":"a"},{"type":"resource_link","name":"b","uri":"https://b"},`+
				`{"type":"image","mimeType":"image/png","data":"AAAA"},{"type":"resource","resource":{"uri":"x:","text":"c"}}]}`, session)
			b.refused(-32602, "session/prompt", `{"sessionId":%q,"prompt":[{"type":"audio","mimeType":"audio/wav","data":"AAAA"}]}`, session)
		}},
	})
}

func TestSessionBehaviour(t *testing.T) {
	checkBehaviours(t, []behaviour{
		{"additional directories are roots, as long as they are named", nil, func(b *bench) {
			dir := b.t.TempDir()
			result, _ := b.ok("session/new", `{"cwd":%q,"mcpServers":[],"additionalDirectories":[%q]}`, b.cwd, dir)
			session := fmt.Sprint(result["sessionId"])
			b.turn(session, "hi")
			b.expect("directories", b.store.records[session].Dirs, []string{dir})
			b.ok("session/resume", `{"sessionId":%q,"cwd":%q}`, session, b.cwd)
			b.expect("directories", len(b.store.records[session].Dirs), 0)
		}},
		{"notices are not replayed", []step{noticed("wait")}, func(b *bench) {
			b.ok("initialize", `{"protocolVersion":1,"clientCapabilities":{"session":{"notices":{}}}}`)
			session := b.newSession()
			_, live := b.turn(session, "hi")
			_, replayed := b.ok("session/load", `{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, b.cwd)
			b.expect("live and replayed notices", []int{len(find(live, "notice", "")), len(find(replayed, "notice", ""))}, []int{1, 0})
		}},
		{"info updates hold what changed", nil, func(b *bench) {
			_, updates := b.turn(b.newSession(), "fix the parser")
			told := find(updates, "session_info_update", "")
			if len(told) != 1 || told[0].Params.Update["title"] == nil || told[0].Params.Update["_meta"] != nil {
				b.t.Errorf("told %v", told)
			}
		}},
		{"config options are complete, and none is a boolean", nil, func(b *bench) {
			session := b.newSession()
			result, _ := b.ok("session/set_config_option", `{"sessionId":%q,"configId":"mode","value":"plan"}`, session)
			list, _ := result["configOptions"].([]any)
			b.expect("options", len(list), 3)
			for _, o := range list {
				fields, _ := o.(map[string]any)
				choices, _ := fields["options"].([]any)
				if !slices.ContainsFunc(choices, func(c any) bool {
					choice, _ := c.(map[string]any)
					return choice["value"] == fields["currentValue"]
				}) || fields["type"] != "select" {
					b.t.Errorf("option %v", fields)
				}
			}
			b.expect("update", b.next().update(), "current_mode_update")
			b.ok("session/set_mode", `{"sessionId":%q,"modeId":"default"}`, session)
			complete, _ := b.next().Params.Update["configOptions"].([]any)
			b.expect("options", len(complete), 3)
		}},
	})
}

func TestTurnBehaviour(t *testing.T) {
	edit := calls(call("c1", "write_file", `{"path":"a.txt","content":"b"}`))
	checkBehaviours(t, []behaviour{
		{"one id a message", []step{says("one two"), says("three four")}, func(b *bench) {
			session := b.newSession()
			ids := map[any]bool{}
			for range 2 {
				_, updates := b.turn(session, "hi")
				for _, m := range find(updates, "agent_message_chunk", "") {
					ids[m.Params.Update["messageId"]] = true
				}
			}
			b.expect("ids", len(ids), 2)
		}},
		{"max_tokens", []step{ends(agent.FinishLength)}, func(b *bench) {
			stop, _ := b.turn(b.newSession(), "hi")
			b.expect("stop reason", stop, "max_tokens")
		}},
		{"refusal", []step{ends(agent.FinishRefusal)}, func(b *bench) {
			stop, _ := b.turn(b.newSession(), "hi")
			b.expect("stop reason", stop, "refusal")
		}},
		{"max_turn_requests", slices.Repeat([]step{calls(call("", "terminal", `{"command":"safe"}`))}, 100), func(b *bench) {
			stop, _ := b.turn(b.newSession(), "hi")
			b.expect("stop reason", stop, "max_turn_requests")
		}},
		{"ids are unique, and each call begins, runs and ends", slices.Repeat([]step{calls(call("same", "terminal", `{"command":"safe"}`)), says("ok")}, 2), func(b *bench) {
			session := b.newSession()
			ids := map[any]bool{}
			for range 2 {
				_, updates := b.turn(session, "hi")
				b.expect("states", names(updates)[:3], []string{"tool_call pending", "tool_call_update in_progress", "tool_call_update completed"})
				ids[find(updates, "tool_call", "")[0].Params.Update["toolCallId"]] = true
			}
			b.expect("ids", len(ids), 2)
		}},
		{"call updates hold what changed, content is wrapped", []step{calls(call("c1", "terminal", `{"command":"safe"}`))}, func(b *bench) {
			_, updates := b.turn(b.newSession(), "hi")
			running := find(updates, "tool_call_update", "in_progress")[0].Params.Update
			b.expect("running", running, map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "in_progress"})
			content, _ := find(updates, "tool_call_update", "completed")[0].Params.Update["content"].([]any)
			for _, c := range content {
				item, _ := c.(map[string]any)
				b.expect("content", item["type"], any("content"))
			}
		}},
		{"absolute paths, lines from 1, no old text for a new file", []step{edit}, func(b *bench) {
			session := b.newSession()
			id := b.prompt(session, "write")
			read := b.until(isPermission)
			path := filepath.Join(b.cwd, "a.txt")
			b.expect("content", find(read, "tool_call", "")[0].Params.Update["content"], any([]any{map[string]any{"type": "diff", "path": path, "newText": "b"}}))
			b.answer(read[len(read)-1], "deny")
			b.until(responseTo(id))
		}},
		{"options have unique ids of known kinds", []step{edit}, func(b *bench) {
			session := b.newSession()
			id := b.prompt(session, "write")
			read := b.until(isPermission)
			b.expect("options", read[len(read)-1].Params.Options,
				[]option{{"allow_once", "allow_once"}, {"allow_always", "allow_always"}, {"deny", "reject_once"}})
			b.answer(read[len(read)-1], "deny")
			b.until(responseTo(id))
		}},
		{"what was said before a cancel stays", []step{stalls()}, func(b *bench) {
			session := b.newSession()
			id := b.prompt(session, "go")
			b.until(isUpdate("agent_message_chunk"))
			b.notify("session/cancel", `{"sessionId":%q}`, session)
			b.until(responseTo(id))
			_, replayed := b.ok("session/load", `{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, b.cwd)
			b.expect("text", texts(replayed, "agent_message_chunk"), "thinking")
		}},
		{"arguments that are no JSON, or none", []step{calls(call("c1", "terminal", "not json"), call("c2", "nonsense", ""))}, func(b *bench) {
			_, updates := b.turn(b.newSession(), "go")
			b.expect("raw input", find(updates, "tool_call", "")[1].Params.Update["rawInput"], any(nil))
			b.expect("failed", len(find(updates, "tool_call_update", "failed")), 2)
		}},
		{"empty pieces say nothing", []step{says("")}, func(b *bench) {
			_, updates := b.turn(b.newSession(), "hi")
			b.expect("chunks", len(find(updates, "agent_message_chunk", "")), 0)
		}},
		{"kinds of calls", []step{calls(call("a", "read_file", `{"path":"x"}`), call("b", "terminal", `{"command":"safe"}`), call("c", "nonsense", `{}`))}, func(b *bench) {
			_, updates := b.turn(b.newSession(), "go")
			var kinds []any
			for _, m := range find(updates, "tool_call", "") {
				kinds = append(kinds, m.Params.Update["kind"])
			}
			b.expect("kinds", kinds, []any{"read", "execute", "other"})
		}},
		{"calls without an id get one that says so", []step{calls(call("", "terminal", `{"command":"safe"}`))}, func(b *bench) {
			_, updates := b.turn(b.newSession(), "go")
			if id := fmt.Sprint(find(updates, "tool_call", "")[0].Params.Update["toolCallId"]); !strings.HasPrefix(id, "tc-") {
				b.t.Errorf("id %q", id)
			}
		}},
		{"raw input of tools that nothing else describes", []step{calls(call("c", "nonsense", `{"x":12345678901234567890}`))}, func(b *bench) {
			_, updates := b.turn(b.newSession(), "go")
			if raw := find(updates, "tool_call", "")[0].raw; !strings.Contains(raw, `"rawInput":{"x":12345678901234567890}`) {
				b.t.Errorf("announced as %s", raw)
			}
		}},
	})
}
