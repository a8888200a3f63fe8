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

// rule is one rule of version 1 of the protocol that concerns an agent, by its
// number in our list of them and the page that it comes from. Rules about the
// whole program (what goes to stderr, --setup) are checked with the program, in
// cmd; those about MCP servers in agent/mcp.
type rule struct {
	name  string
	steps []step
	check func(*bench)
}

func checkRules(t *testing.T, rules []rule) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) { r.check(newBench(t, r.steps...)) })
	}
}

func (b *bench) expect(what string, got, want any) {
	b.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		b.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestConformanceOfTheConnection(t *testing.T) {
	checkRules(t, []rule{
		{"01 transports: one message a line, whatever the text", []step{says("line one\nline\u2028two\r\n")}, func(b *bench) {
			_, updates := b.turn(b.newSession(), "hi") // next fails on half a message
			b.expect("text", texts(updates, "agent_message_chunk"), "line one\nline\u2028two\r\n")
		}},
		{"04 transports: ends when its input closes", []step{stalls()}, func(b *bench) {
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
		{"06 overview: a result or an error", nil, func(b *bench) {
			good, _ := b.call("initialize", `{"protocolVersion":1}`)
			bad, _ := b.call("nonsense", `{}`)
			if good.Result == nil || good.Error != nil || bad.Result != nil || bad.Error == nil {
				b.t.Errorf("%s%s", good.raw, bad.raw)
			}
		}},
		{"07 overview: notifications are not answered", nil, func(b *bench) {
			b.notify("initialize", `{"protocolVersion":1}`)
			b.notify("session/prompt", `{}`)
			b.refused(-32601, "nonsense", `{}`) // the first line that comes
		}},
		{"08 overview: ids come back as they were", nil, func(b *bench) {
			for _, id := range []string{`"a-b"`, `"\u00e9"`, "0", "-7", "1.50", "9007199254740993"} {
				b.write(`{"jsonrpc":"2.0","id":` + id + `,"method":"initialize","params":{}}`)
				b.expect("id", string(b.next().ID), id)
			}
		}},
		{"10 extensibility: unknown methods", nil, func(b *bench) { b.refused(-32601, "session/nonsense", `{}`) }},
		{"11 extensibility: unknown notifications are ignored", nil, func(b *bench) {
			b.notify("_vendor/thing", `{}`)
			b.ok("initialize", `{}`)
		}},
		{"12 overview: invalid parameters", nil, func(b *bench) { b.refused(-32602, "session/new", `{"cwd":[]}`) }},
		{"13 JSON-RPC: what is no JSON", nil, func(b *bench) {
			b.write(`{"jsonrpc":"2.0","id":1,`)
			m := b.next()
			b.expect("id and code", []any{string(m.ID), m.Error.Code}, []any{"null", -32700})
		}},
		{"84 cancellation: unknown ids are ignored, known ones answered", []step{stalls()}, func(b *bench) {
			b.notify("$/cancel_request", `{"requestId":999}`)
			id := b.prompt(b.newSession(), "go")
			b.until(isUpdate("agent_message_chunk"))
			b.notify("$/cancel_request", `{"requestId":%d}`, id)
			b.until(responseTo(id))
		}},
		{"97 extensibility: extension requests are answered", nil, func(b *bench) { b.refused(-32601, "_vendor/thing", `{}`) }},
		{"99 extensibility: unknown _meta is tolerated", nil, func(b *bench) {
			b.ok("session/new", `{"cwd":%q,"mcpServers":[],"_meta":{"traceparent":"00-1","x":{"y":[1]}},"future":true}`, b.cwd)
		}},
	})
}

func TestConformanceOfInitializeAndAuthentication(t *testing.T) {
	initialize := func(b *bench, version string) map[string]any {
		b.t.Helper()
		result, _ := b.ok("initialize", `{"protocolVersion":%s}`, version)
		return result
	}
	checkRules(t, []rule{
		{"16 initialization: the version asked for", nil, func(b *bench) {
			b.expect("version", initialize(b, "1")["protocolVersion"], any(1.0))
		}},
		{"17 initialization: else the own latest one", nil, func(b *bench) {
			b.expect("version", initialize(b, "65535")["protocolVersion"], any(1.0))
		}},
		{"18 initialization: says its capabilities", nil, func(b *bench) {
			want := map[string]any{
				"loadSession": true, "auth": map[string]any{"logout": map[string]any{}}, "mcpCapabilities": map[string]any{},
				"promptCapabilities": map[string]any{"image": true, "embeddedContext": true},
				"sessionCapabilities": map[string]any{
					"additionalDirectories": map[string]any{}, "close": map[string]any{}, "delete": map[string]any{},
					"fork": map[string]any{}, "list": map[string]any{}, "resume": map[string]any{},
				},
			}
			b.expect("capabilities", initialize(b, "1")["agentCapabilities"], any(want))
		}},
		{"19 initialization: says its name and version", nil, func(b *bench) {
			b.expect("info", initialize(b, "1")["agentInfo"], any(map[string]any{"name": "hermes-acp", "title": "Hermes", "version": "1.2.3"}))
		}},
		{"20 initialization: what a client does not say it cannot do", []step{noticed("wait"), says("ok")}, func(b *bench) {
			initialize(b, "1")
			_, updates := b.turn(b.newSession(), "hi")
			b.expect("notices", len(find(updates, "notice", "")), 0)
		}},
		{"22, 23, 24 file-system, terminals, elicitation: only asks what it needs", []step{calls(
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
		{"25 initialization: what it says works", nil, func(b *bench) {
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
		{"26, 27 initialization: text and links always, images and resources as it says, nothing else", nil, func(b *bench) {
			session := b.newSession()
			b.ok("session/prompt", `{"sessionId":%q,"prompt":[{"type":"text","text":"a"},{"type":"resource_link","name":"b","uri":"https://b"},`+
				`{"type":"image","mimeType":"image/png","data":"AAAA"},{"type":"resource","resource":{"uri":"x:","text":"c"}}]}`, session)
			b.refused(-32602, "session/prompt", `{"sessionId":%q,"prompt":[{"type":"audio","mimeType":"audio/wav","data":"AAAA"}]}`, session)
		}},
		{"28, 29 authentication: methods have ids and names, terminal ones only for those who can", nil, func(b *bench) {
			methods, _ := initialize(b, "1")["authMethods"].([]any)
			b.expect("methods", len(methods), 1)
			first, _ := methods[0].(map[string]any)
			if first["id"] == "" || first["name"] == "" || first["type"] != nil {
				b.t.Errorf("first method %v", first)
			}
		}},
		{"30 authentication: unknown methods", nil, func(b *bench) { b.refused(-32602, "authenticate", `{"methodId":"nope"}`) }},
		{"31 authentication: success is an empty object", nil, func(b *bench) {
			result, _ := b.ok("authenticate", `{"methodId":"scripted"}`)
			b.expect("result", result, map[string]any{})
		}},
		{"32 authentication: a session before it", nil, func(b *bench) {
			b.script.setNone(true)
			b.refused(-32000, "session/new", `{"cwd":%q,"mcpServers":[]}`, b.cwd)
		}},
		{"33, 34 authentication: logout", nil, func(b *bench) {
			result, _ := b.ok("logout", `{}`)
			b.expect("result", result, map[string]any{})
			b.refused(-32000, "session/new", `{"cwd":%q,"mcpServers":[]}`, b.cwd)
		}},
	})
}

func TestConformanceOfSessions(t *testing.T) {
	checkRules(t, []rule{
		{"36 session-setup: ids are unique", nil, func(b *bench) {
			if one, two := b.newSession(), b.newSession(); one == two {
				b.t.Error("the same id twice")
			}
		}},
		{"37 session-setup: a relative cwd", nil, func(b *bench) {
			b.refused(-32602, "session/new", `{"cwd":"here","mcpServers":[]}`)
		}},
		{"38, 39 session-setup: paths resolve against the cwd", []step{calls(call("c1", "read_file", `{"path":"sub/a.txt"}`))}, func(b *bench) {
			_, updates := b.turn(b.newSession(), "read")
			b.expect("locations", find(updates, "tool_call", "")[0].Params.Update["locations"],
				any([]any{map[string]any{"path": filepath.Join(b.cwd, "sub/a.txt"), "line": 3.0}}))
		}},
		{"40, 41 session-setup: additional directories are roots, as long as they are named", nil, func(b *bench) {
			dir := b.t.TempDir()
			result, _ := b.ok("session/new", `{"cwd":%q,"mcpServers":[],"additionalDirectories":[%q]}`, b.cwd, dir)
			session := fmt.Sprint(result["sessionId"])
			b.turn(session, "hi")
			b.expect("directories", b.store.records[session].Dirs, []string{dir})
			b.ok("session/resume", `{"sessionId":%q,"cwd":%q}`, session, b.cwd)
			b.expect("directories", len(b.store.records[session].Dirs), 0)
		}},
		{"43 session-setup: servers of a kind that it does not know", nil, func(b *bench) {
			b.refused(-32602, "session/new", `{"cwd":%q,"mcpServers":[{"type":"carrier-pigeon","name":"x"}]}`, b.cwd)
		}},
		{"45, 46 session-setup: load replays before it answers", nil, func(b *bench) {
			session := b.newSession()
			b.turn(session, "hi")
			_, before := b.ok("session/load", `{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, b.cwd)
			b.expect("replayed", names(before), []string{"user_message_chunk", "agent_message_chunk"})
			if before[0].Params.Update["messageId"] == before[1].Params.Update["messageId"] {
				b.t.Error("two messages with one id")
			}
		}},
		{"47 session-setup: notices are not replayed", []step{noticed("wait")}, func(b *bench) {
			b.ok("initialize", `{"protocolVersion":1,"clientCapabilities":{"session":{"notices":{}}}}`)
			session := b.newSession()
			_, live := b.turn(session, "hi")
			_, replayed := b.ok("session/load", `{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, b.cwd)
			b.expect("live and replayed notices", []int{len(find(live, "notice", "")), len(find(replayed, "notice", ""))}, []int{1, 0})
		}},
		{"48 session-setup: resume does not replay", nil, func(b *bench) {
			session := b.newSession()
			b.turn(session, "hi")
			_, before := b.ok("session/resume", `{"sessionId":%q,"cwd":%q}`, session, b.cwd)
			b.expect("replayed", len(names(before)), 0)
		}},
		{"49, 50 session-setup: close", []step{stalls()}, func(b *bench) {
			session := b.newSession()
			id := b.prompt(session, "go")
			b.until(isUpdate("agent_message_chunk"))
			closing := b.request("session/close", `{"sessionId":%q}`, session)
			read := b.until(responseTo(id))
			b.expect("stop reason", stopReason(b.t, read[len(read)-1]), "cancelled")
			b.until(responseTo(closing))
			b.refused(-32002, "session/close", `{"sessionId":"nope"}`)
		}},
		{"51 session-setup: unknown ids", nil, func(b *bench) {
			b.refused(-32002, "session/load", `{"sessionId":"nope","cwd":%q,"mcpServers":[]}`, b.cwd)
			b.refused(-32002, "session/resume", `{"sessionId":"nope","cwd":%q}`, b.cwd)
		}},
		{"53 session-list: an empty list", nil, func(b *bench) {
			result, _ := b.ok("session/list", `{}`)
			b.expect("sessions", result["sessions"], any([]any{}))
		}},
		{"54, 55, 56, 59, 60 session-list: pages, folders and times", nil, func(b *bench) {
			for range 3 {
				b.turn(b.newSession(), "hi")
			}
			first, _ := b.ok("session/list", `{"cwd":%q}`, b.cwd)
			second, _ := b.ok("session/list", `{"cwd":%q,"cursor":%q}`, b.cwd, fmt.Sprint(first["nextCursor"]))
			again, _ := b.ok("session/list", `{"cwd":%q}`, b.cwd)
			b.expect("the first page again", again, first)
			one, _ := first["sessions"].([]any)
			two, _ := second["sessions"].([]any)
			b.expect("sizes", []int{len(one), len(two)}, []int{2, 1})
			if _, more := second["nextCursor"]; more {
				b.t.Error("the last page has a cursor")
			}
			elsewhere, _ := b.ok("session/list", `{"cwd":%q}`, b.t.TempDir())
			b.expect("elsewhere", elsewhere["sessions"], any([]any{}))
		}},
		{"57 session-list: a bad cursor", nil, func(b *bench) { b.refused(-32602, "session/list", `{"cursor":"bogus"}`) }},
		{"61, 62 session-delete: gone, and gone again", nil, func(b *bench) {
			session := b.newSession()
			b.turn(session, "hi")
			b.ok("session/delete", `{"sessionId":%q}`, session)
			b.ok("session/delete", `{"sessionId":%q}`, session)
			result, _ := b.ok("session/list", `{}`)
			b.expect("sessions", result["sessions"], any([]any{}))
		}},
		{"63 session-list: info updates hold what changed", nil, func(b *bench) {
			_, updates := b.turn(b.newSession(), "fix the parser")
			told := find(updates, "session_info_update", "")
			if len(told) != 1 || told[0].Params.Update["title"] == nil || told[0].Params.Update["_meta"] != nil {
				b.t.Errorf("told %v", told)
			}
		}},
		{"88 slash-commands: follow the response", nil, func(b *bench) {
			_, before := b.ok("session/new", `{"cwd":%q,"mcpServers":[]}`, b.cwd)
			b.expect("before and behind it", []any{len(before), b.next().update()}, []any{0, "available_commands_update"})
		}},
		{"90 session-modes: only listed modes", nil, func(b *bench) {
			b.refused(-32602, "session/set_mode", `{"sessionId":%q,"modeId":"nope"}`, b.newSession())
		}},
		{"91, 92, 93, 94, 95 session-config-options: complete, in step, no booleans", nil, func(b *bench) {
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

func TestConformanceOfTurns(t *testing.T) {
	edit := calls(call("c1", "write_file", `{"path":"a.txt","content":"b"}`))
	checkRules(t, []rule{
		{"64, 65 prompt-turn: one response, behind every update", []step{streams(100)}, func(b *bench) {
			_, updates := b.turn(b.newSession(), "hi")
			b.expect("chunks", len(find(updates, "agent_message_chunk", "")), 100)
			b.ok("initialize", `{}`) // the checker refuses a second response, and updates outside a turn
		}},
		{"66, 67, 68, 69 prompt-turn: a cancelled turn says so", []step{stalls()}, func(b *bench) {
			session := b.newSession()
			id := b.prompt(session, "go")
			b.until(isUpdate("agent_message_chunk"))
			b.notify("session/cancel", `{"sessionId":%q}`, session)
			read := b.until(responseTo(id))
			b.expect("stop reason", stopReason(b.t, read[len(read)-1]), "cancelled")
		}},
		{"70 prompt-turn: updates name their session", nil, func(b *bench) {
			session := b.newSession()
			_, updates := b.turn(session, "hi")
			for _, m := range updates {
				b.expect("session", m.Params.SessionID, session)
			}
		}},
		{"71 prompt-turn: one id a message", []step{says("one two"), says("three four")}, func(b *bench) {
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
		{"72 prompt-turn: usage has both numbers", nil, func(b *bench) {
			b.ok("session/new", `{"cwd":%q,"mcpServers":[]}`, b.cwd)
			read := b.until(isUpdate("usage_update"))
			update := read[len(read)-1].Params.Update
			b.expect("used and size", []any{update["used"], update["size"]}, []any{0.0, 100_000.0})
		}},
		{"73 prompt-turn: max_tokens", []step{ends(agent.FinishLength)}, func(b *bench) {
			stop, _ := b.turn(b.newSession(), "hi")
			b.expect("stop reason", stop, "max_tokens")
		}},
		{"73 prompt-turn: refusal", []step{ends(agent.FinishRefusal)}, func(b *bench) {
			stop, _ := b.turn(b.newSession(), "hi")
			b.expect("stop reason", stop, "refusal")
		}},
		{"73 prompt-turn: max_turn_requests", slices.Repeat([]step{calls(call("", "terminal", `{"command":"safe"}`))}, 100), func(b *bench) {
			stop, _ := b.turn(b.newSession(), "hi")
			b.expect("stop reason", stop, "max_turn_requests")
		}},
		{"74 prompt-turn: unknown sessions", nil, func(b *bench) {
			b.refused(-32002, "session/prompt", `{"sessionId":"nope","prompt":[{"type":"text","text":"hi"}]}`)
		}},
		{"75, 76 tool-calls: ids are unique, and each call begins, runs and ends", slices.Repeat([]step{calls(call("same", "terminal", `{"command":"safe"}`)), says("ok")}, 2), func(b *bench) {
			session := b.newSession()
			ids := map[any]bool{}
			for range 2 {
				_, updates := b.turn(session, "hi")
				b.expect("states", names(updates)[:3], []string{"tool_call pending", "tool_call_update in_progress", "tool_call_update completed"})
				ids[find(updates, "tool_call", "")[0].Params.Update["toolCallId"]] = true
			}
			b.expect("ids", len(ids), 2)
		}},
		{"77, 82 tool-calls: updates hold what changed, content is wrapped", []step{calls(call("c1", "terminal", `{"command":"safe"}`))}, func(b *bench) {
			_, updates := b.turn(b.newSession(), "hi")
			running := find(updates, "tool_call_update", "in_progress")[0].Params.Update
			b.expect("running", running, map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "in_progress"})
			content, _ := find(updates, "tool_call_update", "completed")[0].Params.Update["content"].([]any)
			for _, c := range content {
				item, _ := c.(map[string]any)
				b.expect("content", item["type"], any("content"))
			}
		}},
		{"15, 78 tool-calls: absolute paths, lines from 1, no old text for a new file", []step{edit}, func(b *bench) {
			session := b.newSession()
			id := b.prompt(session, "write")
			read := b.until(isPermission)
			path := filepath.Join(b.cwd, "a.txt")
			b.expect("content", find(read, "tool_call", "")[0].Params.Update["content"], any([]any{map[string]any{"type": "diff", "path": path, "newText": "b"}}))
			b.answer(read[len(read)-1], "deny")
			b.until(responseTo(id))
		}},
		{"79 tool-calls: options have unique ids of known kinds", []step{edit}, func(b *bench) {
			session := b.newSession()
			id := b.prompt(session, "write")
			read := b.until(isPermission)
			b.expect("options", read[len(read)-1].Params.Options,
				[]option{{"allow_once", "allow_once"}, {"allow_always", "allow_always"}, {"deny", "reject_once"}})
			b.answer(read[len(read)-1], "deny")
			b.until(responseTo(id))
		}},
		{"80, 81 tool-calls: dismissed and unknown answers do not run it", []step{edit, says("ok"), edit, says("ok")}, func(b *bench) {
			session := b.newSession()
			for _, outcome := range []string{`{"outcome":"cancelled"}`, `{"outcome":"selected","optionId":"never offered"}`} {
				id := b.prompt(session, "write")
				read := b.until(isPermission)
				b.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":%s}}`, read[len(read)-1].ID, outcome))
				b.expect("failed calls", len(find(b.until(responseTo(id)), "tool_call_update", "failed")), 1)
			}
		}},
		{"85, 86 cancellation: a cancel takes open questions back", []step{edit}, func(b *bench) {
			session := b.newSession()
			id := b.prompt(session, "write")
			question := b.until(isPermission)
			b.notify("session/cancel", `{"sessionId":%q}`, session)
			read := b.until(responseTo(id))
			b.expect("taken back", string(read[0].Params.RequestID), string(question[len(question)-1].ID))
		}},
		{"89 slash-commands: a command with its argument", nil, func(b *bench) {
			_, updates := b.turn(b.newSession(), "/mode plan")
			b.expect("answer", texts(updates, "agent_message_chunk"), "Mode: plan")
		}},
	})
}
