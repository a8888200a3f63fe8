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

func TestConformanceHermes_Approvals(t *testing.T) {
	playCases(t, directLane, []dialogueCase{
		// Hermes numbers its questions by themselves; here a question is about the
		// call that was announced, so that there is one card.
		{"hermes_109_a_question_is_about_its_call", `
open
begin go
until session/request_permission
question /params/toolCall/toolCallId "call_1_1"
question /params/options/0/optionId "allow_once"
keep ASK /id
raw {"jsonrpc":"2.0","id":$ASK,"result":{"outcome":{"outcome":"selected","optionId":"deny"}}}
until session/request_permission
question /params/toolCall/toolCallId "call_2_1"
question /params/toolCall/kind "execute"
question /params/toolCall/content/0/content/text "$ touch made"
keep ASK /id
raw {"jsonrpc":"2.0","id":$ASK,"result":{"outcome":{"outcome":"selected","optionId":"deny"}}}
await
file ws/made absent
-- reply --
call write_file {"path": "a.txt", "content": "b"}
-- reply --
call terminal {"command": "touch made"}
-- reply --
text Denied.
`},
		// Hermes offers five options for commands. Some clients merge those of one
		// kind, so there is one of each.
		{"hermes_110_options_of_a_command", `
open
begin go
answer deny
await
question /params/options/0 {"kind":"allow_once","name":"Allow once","optionId":"allow_once"}
question /params/options/1 {"kind":"allow_always","name":"Always allow ` + "`touch made`" + `","optionId":"allow_always"}
question /params/options/2 {"kind":"reject_once","name":"Deny","optionId":"deny"}
question /params/options/3/optionId "deny_always"
question /params/options/4 absent
-- reply --
call terminal {"command": "touch made"}
-- reply --
text Denied.
`},
		// Hermes takes deny_always for deny.
		{"hermes_111_deny_always", `
open
begin go
answer deny_always
await
prompt go
order tool_call:pending tool_call_update:failed agent_message_chunk response
file ws/made absent
-- reply --
call terminal {"command": "touch made"}
-- reply --
text Denied.
-- reply --
call terminal {"command": "touch made"}
-- reply --
text Denied again.
`},
		{"hermes_112_allow_always", `
open
begin go
answer allow_always
await
file ws/made ""
stop
hello
call session/resume {"sessionId":"$SESSION","cwd":"$WORK/ws"}
prompt go
order tool_call:pending tool_call_update:in_progress tool_call_update:completed agent_message_chunk response
begin go
answer deny
await
file ws/other absent
-- reply --
call terminal {"command": "touch made"}
-- reply --
text Made.
-- reply --
call terminal {"command": "touch made"}
-- reply --
text Made again.
-- reply --
call terminal {"command": "touch other"}
-- reply --
text Denied.
`},
		{"hermes_113_dismissed_and_unknown_are_denials", `
open
begin go
answer -
answer approved
await
file ws/one absent
file ws/two absent
-- reply --
call terminal {"command": "touch one"}
-- reply --
call terminal {"command": "touch two"}
-- reply --
text Denied.
`},
		{"hermes_114_no_answer_in_time", `
write home/.hermes/config.yaml "approvals:\n  timeout: 0.2\n"
open
prompt go
order tool_call:pending question $/cancel_request tool_call_update:failed agent_message_chunk response
update tool_call_update /content/1/content/text has time
file ws/made absent
-- reply --
call terminal {"command": "touch made"}
-- reply --
text No answer.
`},
		{"hermes_115_an_answer_that_is_an_error", `
open
begin go
answer !
await
update tool_call_update /status "failed"
file ws/made absent
-- reply --
call terminal {"command": "touch made"}
-- reply --
text Denied.
`},
		{"hermes_116_the_question_of_an_edit", `
write ws/a.txt "old\n"
open
begin go
answer deny
await
question /params/toolCall/kind "edit"
question /params/toolCall/status "pending"
question /params/toolCall/content/0 {"type":"diff","path":"$WORK/ws/a.txt","oldText":"old\n","newText":"new\n"}
question /params/options/0 {"kind":"allow_once","name":"Allow once","optionId":"allow_once"}
question /params/options/2 {"kind":"reject_once","name":"Deny","optionId":"deny"}
file ws/a.txt "old\n"
-- reply --
call write_file {"path": "a.txt", "content": "new\n"}
-- reply --
text Denied.
`},
		{"hermes_117_a_client_that_fails_denies_an_edit", `
write ws/a.txt "old\n"
open
begin go
answer !
await
update tool_call_update /status "failed"
file ws/a.txt "old\n"
-- reply --
call write_file {"path": "a.txt", "content": "new\n"}
-- reply --
text Denied.
`},
		{"hermes_118_a_patch_that_is_denied", `
write ws/a.txt "old\n"
open
begin go
answer deny
await
asked /messages/*/content has denied
file ws/a.txt "old\n"
-- reply --
call patch {"path": "a.txt", "old_string": "old", "new_string": "new"}
-- reply --
text Denied.
`},
		{"hermes_119_accepted_edits", `
open
call session/set_mode {"sessionId":"$SESSION","modeId":"accept_edits"}
begin go
answer deny
answer deny
await
file ws/in.txt "b"
file tmp/in.txt "b"
file ws/.env absent
file elsewhere/out.txt absent
question /params/options/0/optionId "allow_once"
-- reply --
call write_file {"path": "in.txt", "content": "b"}
call write_file {"path": "../tmp/in.txt", "content": "b"}
call write_file {"path": ".env", "content": "b"}
call write_file {"path": "../elsewhere/out.txt", "content": "b"}
-- reply --
text Done.
`},
		{"hermes_119_sensitive_files_ask_in_every_mode", `
open
call session/set_mode {"sessionId":"$SESSION","modeId":"dont_ask"}
begin go
answer deny
await
file elsewhere/out.txt "b"
question /params/options/0/optionId "allow_once"
question /params/options/1/optionId "deny"
question /params/options/2 absent
file ws/.env absent
-- reply --
call write_file {"path": "../elsewhere/out.txt", "content": "b"}
call write_file {"path": ".env", "content": "b"}
-- reply --
text Done.
`},
		{"hermes_120_links_to_sensitive_files", `
write ws/.env "KEY=old\n"
write elsewhere/.ssh/config "old\n"
link ws/plain.txt $WORK/ws/.env
link ws/keys $WORK/elsewhere/.ssh
open
call session/set_mode {"sessionId":"$SESSION","modeId":"dont_ask"}
begin go
answer deny
answer deny
await
file ws/.env "KEY=old\n"
file elsewhere/.ssh/config "old\n"
-- reply --
call write_file {"path": "plain.txt", "content": "KEY=new\n"}
call write_file {"path": "keys/config", "content": "new\n"}
-- reply --
text Denied.
`},
		{"hermes_121_a_patch_with_one_file_outside", `
write ws/a.txt "old\n"
write elsewhere/b.txt "old\n"
open
call session/set_mode {"sessionId":"$SESSION","modeId":"accept_edits"}
begin go
answer deny
await
question /params/toolCall/content/0/path "$WORK/ws/a.txt"
question /params/toolCall/content/1/path "$WORK/elsewhere/b.txt"
file ws/a.txt "old\n"
file elsewhere/b.txt "old\n"
-- reply --
call patch {"mode": "patch", "patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+new\n*** Update File: ../elsewhere/b.txt\n@@\n-old\n+new\n*** End Patch"}
-- reply --
text Denied.
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
