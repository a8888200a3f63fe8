//go:build !windows

package main

import "testing"

func TestConformanceHermes_Tools(t *testing.T) {
	playCases(t, directLane, []dialogueCase{
		{"hermes_040_earlier_sessions_can_be_searched", `
open
prompt Set up nginx for us.
open
prompt What did we set up?
update tool_call_update /content/0/content/text has nginx
-- reply --
text Done with nginx.
-- reply --
call session_search {"query": "nginx"}
-- reply --
text A web server.
`},
		// Hermes pairs the calls of one tool first in, first out; here each end has
		// the id of its beginning.
		{"hermes_095_two_calls_of_one_tool", `
open
send session/prompt {"sessionId":"$SESSION","prompt":[{"type":"text","text":"go"}]}
until "toolCallId":"call_1_1","content":[{"type":"content","content":{"text":"$ echo one"
until "toolCallId":"call_1_2","content":[{"type":"content","content":{"text":"$ echo two"
await
-- reply --
call terminal {"command": "echo one"}
call terminal {"command": "echo two"}
-- reply --
text Done.
`},
		{"hermes_096_arguments_of_any_form", `
open
prompt go
order tool_call:pending tool_call_update:in_progress tool_call_update:completed tool_call:pending tool_call_update:in_progress tool_call_update:completed agent_message_chunk response
-- sse --
data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"list_dir","arguments":{"path":"."}}},{"index":1,"id":"b","type":"function","function":{"name":"todo","arguments":null}}]},"finish_reason":"tool_calls"}]}

data: [DONE]

-- reply --
text Done.
`},
		{"hermes_097_empty_pieces_are_not_shown", `
open
prompt go
distinct agent_message_chunk /content/text 1
distinct agent_thought_chunk /content/text 0
-- sse --
data: {"choices":[{"index":0,"delta":{"content":"","reasoning_content":""}}]}

data: {"choices":[{"index":0,"delta":{"content":"Hello."}}]}

data: {"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}]}

data: [DONE]

`},
		{"hermes_100_kinds", `
write ws/a.txt "a\n"
open
begin go
answer allow_once
await
update tool_call /kind "read"
update tool_call /kind "edit"
update tool_call /kind "search"
update tool_call /kind "execute"
update tool_call /kind "other"
-- reply --
call read_file {"path": "a.txt"}
call search_files {"pattern": "a"}
call terminal {"command": "pwd"}
call todo {}
call write_file {"path": "a.txt", "content": "b\n"}
-- reply --
text Done.
`},
		{"hermes_101_ids_are_unique", `
open
prompt go
distinct tool_call /toolCallId 2
distinct tool_call_update /toolCallId 2
-- sse --
data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"","type":"function","function":{"name":"list_dir","arguments":"{\"path\":\".\"}"}},{"index":1,"id":"","type":"function","function":{"name":"list_dir","arguments":"{\"path\":\".\"}"}}]},"finish_reason":"tool_calls"}]}

data: [DONE]

-- reply --
text Done.
`},
		// Hermes announces an edit that will ask without its diff.
		{"hermes_102_an_edit_is_announced_with_its_diff", `
write ws/a.txt "old line\n"
open
call session/set_mode {"sessionId":"$SESSION","modeId":"accept_edits"}
prompt go
order tool_call:pending tool_call_update:in_progress tool_call_update:completed agent_message_chunk response
update tool_call /content/0 {"type":"diff","path":"$WORK/ws/a.txt","oldText":"old line\n","newText":"new line\n"}
update tool_call_update /content/0 {"type":"diff","path":"$WORK/ws/a.txt","oldText":"old line\n","newText":"new line\n"}
file ws/a.txt "new line\n"
-- reply --
call patch {"path": "a.txt", "old_string": "old", "new_string": "new"}
-- reply --
text Done.
`},
		{"hermes_103_a_command_that_fails", `
open
begin go
answer allow_once
await
update tool_call_update /status "failed"
update tool_call_update /content/1/content/text has exit code 2
-- reply --
call terminal {"command": "exit 2"}
-- reply --
text Failed.
`},
		{"hermes_104_a_search", `
write ws/a.go "package a\n\nfunc Needle() {}\n"
open
prompt go
update tool_call /title "search_files: Needle"
update tool_call_update /content/0/content/text has a.go:3: func Needle() {}
update tool_call_update /locations/0 {"path":"$WORK/ws/a.go","line":3}
-- reply --
call search_files {"pattern": "Needle"}
-- reply --
text Found.
`},
		{"hermes_105_an_unknown_tool", `
open
prompt go
update tool_call /rawInput {"depth":2,"where":"here"}
update tool_call /kind "other"
update tool_call_update /status "failed"
update tool_call_update /rawOutput absent
asked /messages/*/content has no_such_tool
-- reply --
call no_such_tool {"where": "here", "depth": 2}
-- reply --
text There is none.
`},
		{"hermes_106_a_place_in_a_file", `
open
prompt go
update tool_call /locations/0 {"path":"$WORK/ws/a.txt","line":42}
-- reply --
call read_file {"path": "a.txt", "offset": 42}
-- reply --
text Not there.
`},
		{"hermes_107_a_plan_with_an_entry_given_up", `
open
prompt go
update plan /entries [{"content":"[cancelled] Look","priority":"medium","status":"completed"},{"content":"Change","priority":"medium","status":"in_progress"}]
-- reply --
call todo {"todos": [{"id": "1", "content": "Look", "status": "cancelled"}, {"id": "2", "content": "Change", "status": "in_progress"}]}
-- reply --
text Planned.
`},
		{"hermes_108_open_calls_fail_with_their_turn", `
open
begin go
until in_progress
notify session/cancel {"sessionId":"$SESSION"}
await
order tool_call:pending tool_call_update:in_progress tool_call_update:failed response
stop
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
update tool_call_update /status "failed"
-- reply --
call terminal {"command": "sleep 60"}
call terminal {"command": "touch second"}
`},
	})
}

func TestConformanceHermes_Provenance(t *testing.T) {
	const provenance = `/result/_meta/hermes/sessionProvenance`
	playCases(t, directLane, []dialogueCase{
		{"hermes_122_a_session_of_its_own", `
hello
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
expect ` + provenance + ` {"acpSessionId":"$SESSION","currentHermesSessionId":"$SESSION","rootHermesSessionId":"$SESSION","parentHermesSessionId":null,"sessionKind":"root","compressionDepth":0}
`},
		{"hermes_123_after_a_compression", compressed + `
update session_info_update /_meta/hermes/sessionProvenance/reason "compression"
update session_info_update /_meta/hermes/sessionProvenance/creatorKind "compression"
update session_info_update /_meta/hermes/sessionProvenance/previousHermesSessionId "$SESSION"
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
expect ` + provenance + `/sessionKind "continuation"
expect ` + provenance + `/parentHermesSessionId "$SESSION"
expect ` + provenance + `/rootHermesSessionId "$SESSION"
expect ` + provenance + `/compressionDepth 1
call session/list {}
expect /result/sessions/0/sessionId "$SESSION"
expect /result/sessions/0/_meta/hermes/sessionProvenance/compressionDepth 1
` + compressedAnswers},
		{"hermes_124_a_fork_of_a_session_that_lives", `
open
prompt hi
call session/list {}
keep PARENT /result/sessions/0/sessionId
call session/fork {"sessionId":"$PARENT","cwd":"$WORK/ws"}
expect ` + provenance + `/sessionKind "root"
expect ` + provenance + `/compressionDepth 0
expect ` + provenance + `/rootHermesSessionId "$PARENT"
-- reply --
text Hello.
`},
		{"hermes_125_meta_has_nothing_else", `
hello
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
expect /result/_meta like \{"hermes":\{"sessionProvenance":\{[^{}]*\}\}\}
`},
		{"hermes_126_after_a_rollover", compressed + `
stop
sql UPDATE sessions SET end_reason = 'turn_boundary_rollover' WHERE end_reason = 'compression'
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
expect ` + provenance + `/sessionKind "continuation"
expect ` + provenance + `/compressionDepth 0
` + compressedAnswers},
		{"hermes_127_a_lineage_that_is_a_circle", `
open
prompt hi
stop
sql UPDATE sessions SET parent_session_id = id
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
expect ` + provenance + `/rootHermesSessionId "$SESSION"
-- reply --
text Hello.
`},
	})
}

// compressed is a session whose conversation was compressed once, with the
// answers of its model.
const (
	compressed = `
open
prompt One
prompt Two
prompt Three
prompt Four
prompt /compress
`
	compressedAnswers = `
-- reply --
text Answer one.
-- reply --
text Answer two.
-- reply --
text Answer three.
-- reply --
text Answer four.
-- reply --
text We counted.
`
)

func TestConformanceHermes_MCP(t *testing.T) {
	const greeter = `{"name":"my-greeter","command":"$SELF","args":[],"env":[{"name":"` + otherProgramEnv + `","value":"greeter"},{"name":"GREETING","value":"from the client"}]}`
	playCases(t, directLane, []dialogueCase{
		{"hermes_128_no_servers", `
open
prompt hi
asked /tools/*/function/name "read_file"
asked /tools/*/function/name unlike mcp_.*
-- reply --
text Hello.
`},
		{"hermes_129_the_environment_of_a_program", `
env OPENAI_API_KEY=secret-of-ours
hello
call session/new {"cwd":"$WORK/ws","mcpServers":[` + greeter + `]}
begin hi
answer allow_once
await
update tool_call /title "my-greeter: greet"
update tool_call_update /content/0/content/text has GREETING=from the client
-- reply --
call mcp_my_greeter_greet {"name": "Ada"}
-- reply --
text Greeted.
`},
		{"hermes_132_a_server_that_fails", `
start
call initialize {"protocolVersion":1,"clientCapabilities":{"session":{"notices":{}}}}
call session/new {"cwd":"$WORK/ws","mcpServers":[{"name":"gone","command":"/nonexistent/server","args":[],"env":[]}]}
expect /result/sessionId present
prompt hi
update notice /title has gone
expect /result/stopReason "end_turn"
-- reply --
text Hello.
`},
	})
}
