//go:build !windows

package main

import "testing"

// The ACP rules have numbers of our own, 1 to 102, in the order of the pages of
// the protocol's documentation (docs/protocol/v1). Each that an agent can keep or
// break has a case that is named by its number and drives the real program; every
// line of every case is held to the protocol's schema besides. These have none:
//
//	 5  support stdio: every case is on stdio
//	 9  camelCase keys, snake_case discriminators: the schema
//	83  terminals are released: no terminal of a client is ever made (23)
//	85  a cancel may go on to nested requests: nothing nested but questions (86)
//	100, 101, 102  elicitation: no client is ever asked by one (24)

func TestConformanceACP_Transport(t *testing.T) {
	playCases(t, directLane, []dialogueCase{
		{"acp_001_one_message_a_line", `
open
prompt go
text "one\ntwo\u2028three\r\n\u0000."
-- reply --
text "one\ntwo\u2028three\r\n\x00."
`},
		{"acp_002_stdout_has_only_messages", `
write home/.hermes/config.yaml "model: [broken\n"
write home/.hermes/.env "=what\n"
hello
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
expect /error/message has config.yaml
call session/list {}
expect /result/sessions []
`},
		{"acp_004_ends_when_stdin_closes", `
open
begin go
reach never
stop
order agent_message_chunk response
expect /result/stopReason "cancelled"
-- reply --
text Working
gate never
`},
		{"acp_006_result_or_error", `
start
call initialize {"protocolVersion":1}
expect /jsonrpc "2.0"
expect /result present
expect /error absent
call session/nonsense {}
expect /error/code -32601
expect /error/message has session/nonsense
expect /result absent
`},
		{"acp_007_notifications_are_not_answered", `
hello
notify session/prompt {}
notify session/new {"cwd":"nowhere"}
notify nonsense {}
call session/list {}
order response
`},
		{"acp_008_ids_come_back_as_they_were", `
hello
raw {"jsonrpc":"2.0","id":"7e0c-\u00e9","method":"session/list"}
until "id":"7e0c-\u00e9"
raw {"jsonrpc":"2.0","id":1.50,"method":"session/list"}
until "id":1.50,
raw {"jsonrpc":"2.0","id":9007199254740993,"method":"session/list"}
until "id":9007199254740993,
raw {"jsonrpc":"2.0","id":-0,"method":"session/list"}
until "id":-0,
`},
		{"acp_010_unknown_method", `
hello
call session/shout {}
expect /error/code -32601
call nes/start {}
expect /error/code -32601
call document/didOpen {}
expect /error/code -32601
`},
		{"acp_011_unknown_notification_is_ignored", `
hello
notify session/shout {"sessionId":"x"}
notify _vendor/thing null
notify document/didOpen []
call session/list {}
order response
`},
		{"acp_012_invalid_parameters", `
open
call session/new {"cwd":[],"mcpServers":[]}
expect /error/code -32602
expect /error/message has cwd
call session/new {"cwd":"$WORK/ws","mcpServers":{}}
expect /error/code -32602
call session/set_mode {"sessionId":7,"modeId":"plan"}
expect /error/code -32602
call session/prompt {"sessionId":"$SESSION","prompt":"text"}
expect /error/code -32602
call session/prompt {"sessionId":"$SESSION"}
expect /error/code -32602
call session/prompt {"sessionId":"$SESSION","prompt":[null]}
expect /error/code -32602
`},
		{"acp_013_parse_error", `
hello
raw {"jsonrpc":"2.0","id":5,"method":
until -32700
expect /id null
raw "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"session/list\",\"params\":{\"cursor\":\"\xff\"}}"
until "code":-32
call session/list {}
expect /result/sessions []
`},
		{"acp_096_no_custom_root_fields", `
start
call initialize {"protocolVersion":1}
expect /result/hermes absent
expect /result/_meta/hermes absent
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
expect /result/sessionProvenance absent
expect /result/_meta/hermes/sessionProvenance/acpSessionId "$SESSION"
`},
		{"acp_097_extension_requests_are_answered", `
hello
call _vendor/thing {"x":1}
expect /error/code -32601
call _hermes/unknown []
expect /error present
`},
		{"acp_098_trace_context_is_no_business_of_ours", `
open
call session/prompt {"sessionId":"$SESSION","prompt":[{"type":"text","text":"hi"}],"_meta":{"traceparent":"00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01","tracestate":"a=b","baggage":"k=v"}}
expect /result/stopReason "end_turn"
never traceparent
-- reply --
text Hello.
`},
		{"acp_099_unknown_meta_is_tolerated", `
start
call initialize {"protocolVersion":1,"_meta":{"a":[1,{"b":null}]},"clientCapabilities":{"_meta":{"x":{}},"future":{"y":1}},"future":true}
expect /result/protocolVersion 1
call session/new {"cwd":"$WORK/ws","mcpServers":[],"_meta":null,"future":{}}
expect /result/sessionId present
call session/prompt {"sessionId":"$SESSION","prompt":[{"type":"text","text":"hi","_meta":{"z":1},"annotations":{"priority":1}}]}
expect /result/stopReason "end_turn"
-- reply --
text Hello.
`},
	})
}

func TestConformanceACP_Initialize(t *testing.T) {
	playCases(t, directLane, []dialogueCase{
		{"acp_016_requested_version_if_supported", `
start
call initialize {"protocolVersion":1}
expect /result/protocolVersion 1
`},
		{"acp_017_else_its_own_latest", `
start
call initialize {"protocolVersion":65535}
expect /result/protocolVersion 1
call initialize {"protocolVersion":2}
expect /result/protocolVersion 1
call initialize {"protocolVersion":0}
expect /result/protocolVersion 1
`},
		{"acp_018_says_what_it_can_do", `
start
call initialize {"protocolVersion":1}
expect /result/agentCapabilities/loadSession true
expect /result/agentCapabilities/promptCapabilities {"image":true,"embeddedContext":true}
expect /result/agentCapabilities/mcpCapabilities {"http":true,"sse":true}
expect /result/agentCapabilities/sessionCapabilities {"additionalDirectories":{},"close":{},"delete":{},"fork":{},"list":{},"resume":{}}
expect /result/agentCapabilities/auth {"logout":{}}
`},
		{"acp_019_says_its_name_and_version", `
start
call initialize {"protocolVersion":1}
expect /result/agentInfo/name "hermes-acp"
expect /result/agentInfo/version "` + version + `"
`},
		{"acp_020_what_a_client_does_not_say_it_cannot_do", everyTool(`{"protocolVersion":1}`)},
		{"acp_021_any_combination_of_capabilities", `
start
call initialize {"protocolVersion":1,"clientCapabilities":{}}
expect /result/protocolVersion 1
call initialize {"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true},"terminal":false}}
expect /result/protocolVersion 1
call initialize {"protocolVersion":1,"clientCapabilities":{"fs":{"writeTextFile":true},"terminal":true,"session":{"notices":{}}}}
expect /result/protocolVersion 1
call initialize {"protocolVersion":1,"clientCapabilities":{"fs":null,"terminal":null,"session":null,"elicitation":null,"_meta":null}}
expect /result/protocolVersion 1
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
expect /result/sessionId present
`},
		{"acp_022_never_uses_the_clients_files", everyTool(`{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}}}`)},
		{"acp_023_never_uses_the_clients_terminals", everyTool(`{"protocolVersion":1,"clientCapabilities":{"terminal":true}}`)},
		{"acp_024_never_elicits", everyTool(`{"protocolVersion":1,"clientCapabilities":{"elicitation":{"form":{},"url":{}}}}`)},
		{"acp_025_what_it_advertises_works", `
open
prompt hi
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[],"additionalDirectories":["$WORK/elsewhere"]}
expect /result present
call session/resume {"sessionId":"$SESSION","cwd":"$WORK/ws"}
expect /result present
call session/fork {"sessionId":"$SESSION","cwd":"$WORK/ws"}
expect /result/sessionId present
call session/list {}
expect /result/sessions/1 present
call session/close {"sessionId":"$SESSION"}
expect /result {}
call session/delete {"sessionId":"$SESSION"}
expect /result {}
call logout {}
expect /result {}
-- reply --
text Hello.
`},
		{"acp_026_text_and_links_are_always_taken", `
open
call session/prompt {"sessionId":"$SESSION","prompt":[{"type":"text","text":"what is"},{"type":"resource_link","name":"spec","uri":"https://example.com/spec"}]}
expect /result/stopReason "end_turn"
asked /messages/*/content has https://example.com/spec
-- reply --
text A page.
`},
		{"acp_027_images_and_resources_as_advertised", `
open
call session/prompt {"sessionId":"$SESSION","prompt":[{"type":"image","mimeType":"image/png","data":"aGk="},{"type":"resource","resource":{"uri":"file:///a.txt","text":"embedded words"}}]}
expect /result/stopReason "end_turn"
asked /messages/*/content has data:image/png;base64,aGk=
asked /messages/*/content has embedded words
call session/prompt {"sessionId":"$SESSION","prompt":[{"type":"audio","mimeType":"audio/wav","data":"aGk="}]}
expect /error/code -32602
-- reply --
text An image.
`},
	})
}

// everyTool is a case in which a client with the given params of initialize lets
// the model read, write and run. The checker refuses every call of the client
// that is not advertised; this refuses those that are.
func everyTool(initialize string) string {
	return `
start
call initialize ` + initialize + `
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
write ws/a.txt "old\n"
begin go
answer allow_once
answer allow_once
await
expect /result/stopReason "end_turn"
never "method":"fs/
never "method":"terminal/
never "method":"elicitation/
file ws/a.txt "new\n"
-- reply --
call read_file {"path": "a.txt"}
-- reply --
call write_file {"path": "a.txt", "content": "new\n"}
-- reply --
call terminal {"command": "touch made"}
-- reply --
text Done.
`
}

func TestConformanceACP_Authentication(t *testing.T) {
	playCases(t, directLane, []dialogueCase{
		{"acp_028_methods_have_ids_and_names", `
start
call initialize {"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":true}}}
expect /result/authMethods/0/id "custom"
expect /result/authMethods/0/name "custom runtime credentials"
expect /result/authMethods/0/type absent
expect /result/authMethods/1/id "hermes-setup"
expect /result/authMethods/1/name present
expect /result/authMethods/1/args ["--setup"]
expect /result/authMethods/2 absent
`},
		{"acp_029_terminal_methods_for_those_who_can", `
start
call initialize {"protocolVersion":1}
expect /result/authMethods/0/id present
expect /result/authMethods/*/type absent
call initialize {"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":true}}}
expect /result/authMethods/*/type "terminal"
call initialize {"protocolVersion":1,"clientCapabilities":{"terminal":true,"_meta":{"terminal-auth":true}}}
expect /result/authMethods/1/_meta/terminal-auth/args ["--setup"]
`},
		{"acp_030_unknown_method", `
hello
call authenticate {"methodId":"nope"}
expect /error/code -32602
call authenticate {}
expect /error/code -32602
`},
		{"acp_031_success_is_an_empty_object", `
hello
call authenticate {"methodId":"custom"}
expect /result {}
`},
		{"acp_032_a_session_before_it", `
env OPENAI_BASE_URL
env OPENAI_API_KEY
hello
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
expect /error/code -32000
expect /error/message has hermes-acp --setup
call authenticate {"methodId":"hermes-config"}
expect /error/code -32000
write home/.hermes/config.yaml "model:\n  provider: offline\n"
call authenticate {"methodId":"hermes-config"}
expect /result {}
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
expect /result/sessionId present
`},
		{"acp_033_logout", `
hello
call logout {}
expect /result {}
raw {"jsonrpc":"2.0","id":"again","method":"logout"}
until "id":"again"
expect /result {}
`},
		{"acp_034_after_logout_sessions_need_it_again", `
write home/.hermes/.env "OPENAI_API_KEY=kept\n"
hello
call logout {}
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
expect /error/code -32000
file home/.hermes/.env "OPENAI_API_KEY=kept\n"
call authenticate {"methodId":"custom"}
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
expect /result/sessionId present
`},
	})
}
