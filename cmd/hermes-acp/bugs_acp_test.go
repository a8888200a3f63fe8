//go:build !windows

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hermes-acp/hermes-acp/agent/llm/llmtest"
)

// Faults that people reported of other agents and clients, by the ids of our list
// of them (P: the protocol). Those that bite in one package are tested there; here
// are those that need the whole program, or a real pipe, file or process.
func TestBugsOfTheProtocol(t *testing.T) {
	long := strings.Repeat(" and more", 350) // 800 tokens
	playCases(t, directLane, []dialogueCase{
		// NousResearch/hermes-agent#79196: a client that is lost in a turn leaves a
		// session in which nothing runs any more.
		{"P05_a_session_goes_on_after_its_client_was_lost", `
open
begin hi
answer allow_once
until in_progress
stop
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
prompt Again
expect /result/stopReason "end_turn"
text "Again."
begin And again
until Slowly
notify session/cancel {"sessionId":"$SESSION"}
await
stop
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
prompt Still?
text "Still."
-- reply --
call terminal {"command": "sleep 60; touch late"}
-- reply --
text Again.
-- reply --
text Slowly
gate never
-- reply --
text Still.
`},
		// NousResearch/hermes-agent#108488: each edit waits for a client that never
		// answers.
		{"P08_a_client_that_never_answers_costs_one_timeout", `
write home/.hermes/config.yaml "approvals:\n  timeout: 0.3\n"
open
prompt go
order tool_call:pending question $/cancel_request tool_call_update:failed tool_call:pending tool_call_update:failed agent_message_chunk response
-- reply --
call write_file {"path": "a.txt", "content": "b"}
-- reply --
call write_file {"path": "c.txt", "content": "d"}
-- reply --
text Nobody there.
`},
		// openclaw/acpx#631: an answer that comes after its turn still counts.
		{"P13_an_answer_after_the_turn", `
open
begin go
until session/request_permission
keep ASK /id
notify session/cancel {"sessionId":"$SESSION"}
await
raw {"jsonrpc":"2.0","id":$ASK,"result":{"outcome":{"outcome":"selected","optionId":"allow_once"}}}
prompt Is it there?
file ws/a.txt absent
-- reply --
call write_file {"path": "a.txt", "content": "b"}
-- reply --
text No.
`},
		// NousResearch/hermes-agent#50723: cards stay in progress.
		{"P16_every_card_ends", `
write ws/a.txt "one\ntwo\n"
open
call session/set_mode {"sessionId":"$SESSION","modeId":"accept_edits"}
prompt go
order tool_call:pending tool_call_update:in_progress tool_call_update:completed tool_call:pending tool_call_update:in_progress tool_call_update:completed tool_call:pending tool_call_update:in_progress tool_call_update:completed agent_message_chunk response
-- reply --
call read_file {"path": "a.txt"}
call read_file {"path": "a.txt", "offset": 2}
call patch {"path": "a.txt", "old_string": "two", "new_string": "three"}
-- reply --
text Done.
`},
		// anomalyco/opencode#17505: updates come after their turn's response. The
		// checker refuses those.
		{"P17_five_hundred_pieces_precede_the_response", `
open
prompt go
order agent_message_chunk response
call session/list {}
order response
-- reply --
` + strings.Repeat("text x\n", 500)},
		// NousResearch/hermes-agent#74678: unknown sessions are answered with success.
		{"P22_unknown_sessions_are_errors", `
hello
call session/load {"sessionId":"nope","cwd":"$WORK/ws","mcpServers":[]}
expect /error/code -32002
call session/resume {"sessionId":"nope","cwd":"$WORK/ws"}
expect /error/code -32002
call session/prompt {"sessionId":"nope","prompt":[{"type":"text","text":"hi"}]}
expect /error/code -32002
call session/set_mode {"sessionId":"nope","modeId":"plan"}
expect /error/code -32002
`},
		// MoonshotAI/kimi-cli#831: a line over 64 KiB ends the connection.
		{"P27_long_lines", "\nopen\n" + longLines() + "-- reply --\ntext Seen.\n"},
		// openclaw/acpx#539: a line over the limit ends the agent.
		{"P28_a_line_over_the_limit", `
write home/.hermes/config.yaml "acp:\n  max_line_mib: 1\n"
open
prompt hi
raw ` + strings.Repeat("x", 3<<19) + `
until -32600
call session/list {}
expect /result/sessions/0/sessionId "$SESSION"
stop
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
order user_message_chunk agent_message_chunk response
-- reply --
text Hello.
`},
		// anomalyco/opencode#13634: lines about migrations on stdout.
		{"P32_an_old_database_says_nothing_on_stdout", `
write home/.hermes/made ""
sql CREATE TABLE schema_version (version INTEGER NOT NULL); INSERT INTO schema_version VALUES (5); CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, model_config TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, title TEXT, message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0); CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL)
open
prompt hi
order agent_message_chunk response
call session/list {}
expect /result/sessions/0/sessionId "$SESSION"
-- reply --
text Hello.
`},
		// DeusData/codebase-memory-mcp#511: bytes of another encoding make a line
		// that is no JSON. The checker refuses one that is not UTF-8.
		{"P34_bytes_that_are_no_text", `
write ws/korean.txt "\xb0\xa1\n"
write ws/latin.txt "caf\xe9\n"
open
prompt go
order tool_call:pending tool_call_update:in_progress tool_call_update:completed tool_call:pending tool_call_update:in_progress tool_call_update:completed agent_message_chunk response
-- reply --
call read_file {"path": "korean.txt"}
call read_file {"path": "latin.txt"}
-- reply --
text Read.
`},
		// portpowered/you-agent-factory#1737: JSON that is no object, and params that
		// are none.
		{"P36_json_that_is_no_message", `
start
raw 1
until -32600
raw "\"x\""
until -32600
raw []
until -32600
raw {"jsonrpc":"2.0","id":1,"method":"initialize","params":null}
until -32602
call initialize {"protocolVersion":1}
expect /result/protocolVersion 1
`},
		// openclaw/acpx#140: a version that is a date.
		{"P37_a_version_that_is_a_date", `
start
call initialize {"protocolVersion":"2025-03-26"}
expect /error/code -32602
expect /error/message has 2025-03-26
call initialize {"protocolVersion":1}
expect /result/protocolVersion 1
`},
		// omercnet/vscode-acp#57: versions of the protocol.
		{"P38_versions", `
start
call initialize {"protocolVersion":0}
expect /result/protocolVersion 1
call initialize {"protocolVersion":2}
expect /result/protocolVersion 1
call initialize {"protocolVersion":999}
expect /result/protocolVersion 1
call initialize {"protocolVersion":-1}
expect /result/protocolVersion 1
call initialize {"protocolVersion":1.0}
expect /result/protocolVersion 1
call initialize {}
expect /result/protocolVersion 1
`},
		// sudoprivacy/sudocode#417: a question in one session holds up the others.
		{"P39_a_question_in_one_session_holds_up_no_other", `
open
begin go
until session/request_permission
keep ASK /id
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
prompt hi
text has Hello.
raw {"jsonrpc":"2.0","id":$ASK,"result":{"outcome":{"outcome":"selected","optionId":"deny"}}}
await
-- reply --
call write_file {"path": "a.txt", "content": "b"}
-- reply --
text Hello.
-- reply --
text Denied.
`},
		// octos-org/octos#1573: a second prompt to a busy session is lost.
		{"P40_prompts_are_answered_in_order", "\nopen\n" + strings.Repeat(`
begin First
begin Second
await
order agent_message_chunk response agent_message_chunk response
text "First.Second."
`, 20) + strings.Repeat("-- reply --\ntext First.\n-- reply --\ntext Second.\n", 20)},
		// NousResearch/hermes-agent#13525 (GHSA-qg5c-hvr5-hjgr): the answer to a
		// question of one session decides that of another.
		{"P42_answers_reach_their_own_session", `
hello
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
begin go
until session/request_permission
keep ASK1 /id
call session/new {"cwd":"$WORK/elsewhere","mcpServers":[]}
begin go
until session/request_permission
question /params/sessionId "$SESSION"
keep ASK2 /id
raw {"jsonrpc":"2.0","id":$ASK2,"result":{"outcome":{"outcome":"selected","optionId":"allow_once"}}}
until "status":"in_progress"
raw {"jsonrpc":"2.0","id":$ASK1,"result":{"outcome":{"outcome":"selected","optionId":"deny"}}}
await
file ws/made absent
file elsewhere/made ""
-- reply --
call terminal {"command": "touch made"}
-- reply --
call terminal {"command": "touch made"}
-- reply --
text Done.
-- reply --
text Done.
`},
		// NousResearch/hermes-agent#49226: a compression strands the id that the
		// client has.
		{"P44_the_id_outlives_a_compression", `
write home/.hermes/config.yaml "model:\n  default: test-model\n  context_length: 4000\n"
open
prompt One
prompt Two
prompt Three
prompt Four
asked /messages/*/content has Answer two.
prompt Five
asked /messages/*/content has We counted.
asked /messages/*/content unlike Answer two.*
expect /result/stopReason "end_turn"
update session_info_update /_meta/hermes/sessionProvenance/previousHermesSessionId "$SESSION"
update session_info_update /_meta/hermes/sessionProvenance/acpSessionId "$SESSION"
call session/list {}
expect /result/sessions/0/sessionId "$SESSION"
expect /result/sessions/0/_meta/hermes/sessionProvenance/compressionDepth 1
expect /result/sessions/1 absent
stop
hello
call session/resume {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
expect /result/_meta/hermes/sessionProvenance/parentHermesSessionId "$SESSION"
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
expect /result/_meta/hermes/sessionProvenance/compressionDepth 1
begin Six
until Slowly
notify session/cancel {"sessionId":"$SESSION"}
await
expect /result/stopReason "cancelled"
-- reply --
text Answer one.` + long + `
-- reply --
text Answer two.` + long + `
-- reply --
text Answer three.` + long + `
-- reply --
text Answer four.` + long + `
usage 3900 10
-- reply --
text We counted.
-- reply --
text Answer five.
-- reply --
text Slowly
gate never
`},
		// NousResearch/hermes-agent#76215: what /compress made is gone after a
		// restart.
		{"P45_a_compression_outlives_the_process", compressed + `
stop
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
text has We counted.
prompt Five
asked /messages/*/content has We counted.
asked /messages/*/content unlike Answer two.*
call session/fork {"sessionId":"$SESSION","cwd":"$WORK/ws"}
expect /result/_meta/hermes/sessionProvenance/sessionKind "root"
prompt Six
asked /messages/*/content has We counted.
` + compressedAnswers + `
-- reply --
text Answer five.
-- reply --
text Answer six.
`},
		// anomalyco/opencode#49563: the client's folder is ignored.
		{"P47_a_loaded_session_works_where_the_client_says", `
open
prompt hi
stop
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/elsewhere","mcpServers":[]}
prompt Where?
update tool_call_update /content/1/content/text has $WORK/elsewhere
call session/list {"cwd":"$WORK/elsewhere"}
expect /result/sessions/0/sessionId "$SESSION"
-- reply --
text Hello.
-- reply --
call terminal {"command": "pwd"}
-- reply --
text There.
`},
	})
}

// longLines sends lines around 64 KiB, and an image of 9 MiB.
func longLines() string {
	var script strings.Builder
	for i, size := range []int{1<<16 - 1, 1 << 16, 1<<16 + 1} {
		head, tail := fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d","method":"session/list","params":{"_meta":"`, i), `"}}`
		fmt.Fprintf(&script, "raw %s%s%s\nuntil \"id\":\"%d\"\nexpect /result present\n", head, strings.Repeat("x", size-len(head)-len(tail)), tail, i)
	}
	fmt.Fprintf(&script, `call session/prompt {"sessionId":"$SESSION","prompt":[{"type":"text","text":"What is it?"},{"type":"image","mimeType":"image/png","data":"%s"}]}
expect /result/stopReason "end_turn"
`, strings.Repeat("AAAA", 9<<20/4))
	return script.String()
}

// P30 (xenodium/agent-shell#342): all of a command's output is sent again with
// each new piece of it.
func TestP30_OutputIsSentOnce(t *testing.T) {
	t.Parallel()
	const lines = 35_000
	d := startDialogue(t, llmtest.Start(t, fmt.Sprintf(`
-- reply --
call terminal {"command": "seq 100001 %d"}
-- reply --
text Counted.
`, 100_000+lines)))
	d.mustRun(t, `
start
call initialize {"protocolVersion":1,"clientCapabilities":{"_meta":{"terminal_output":true}}}
open
prompt go
update tool_call_update /_meta/terminal_output/data has 135000
`)
	sent := 0
	for _, line := range d.heard.lines {
		sent += len(line)
	}
	if output := lines * len("100001\n"); sent < output || sent > 3*output {
		t.Errorf("%d bytes of output made %d bytes of updates", output, sent)
	}
}
