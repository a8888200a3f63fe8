//go:build !windows

package main

import "testing"

func TestConformanceHermes_Sessions(t *testing.T) {
	playCases(t, directLane, []dialogueCase{
		{"hermes_017_the_cwd_is_kept", `
open
prompt hi
call session/list {}
expect /result/sessions/0/cwd "$WORK/ws"
-- reply --
text Hello.
`},
		// Hermes has no plan mode and answers with configOptions null; Zed hides
		// modes from agents that have no options, so both are there.
		{"hermes_018_modes", `
hello
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
expect /result/modes/currentModeId "default"
expect /result/modes/availableModes/0/id "default"
expect /result/modes/availableModes/1/id "accept_edits"
expect /result/modes/availableModes/2/id "dont_ask"
expect /result/modes/availableModes/3/id "plan"
expect /result/configOptions/*/category "mode"
`},
		// Hermes names the option edit_approval_policy and answers with an empty
		// list; the protocol asks for the complete one.
		{"hermes_019_an_option_sets_the_mode", `
open
call session/set_config_option {"sessionId":"$SESSION","configId":"mode","value":"accept_edits"}
expect /result/configOptions/1/currentValue "accept_edits"
call session/set_config_option {"sessionId":"$SESSION","configId":"mode","value":"session"}
expect /error/code -32602
`},
		// Hermes takes an unknown mode for default.
		{"hermes_020_set_mode", `
open
call session/set_mode {"sessionId":"$SESSION","modeId":"accept_edits"}
expect /result {}
call session/set_mode {"sessionId":"$SESSION","modeId":"bogus"}
expect /error/code -32602
stop
hello
call session/resume {"sessionId":"$SESSION","cwd":"$WORK/ws"}
expect /result/modes/currentModeId "accept_edits"
`},
		// Hermes stores any option.
		{"hermes_021_an_unknown_option", `
open
call session/set_config_option {"sessionId":"$SESSION","configId":"approval_mode","value":"auto"}
expect /error/code -32602
`},
		{"hermes_022_set_model", `
open
call session/set_model {"sessionId":"$SESSION","modelId":"test-model"}
expect /result {}
until config_option_update
update config_option_update /configOptions/0/currentValue "test-model"
`},
		{"hermes_023_a_model_of_another_provider", otherProvider + `
open
call session/set_model {"sessionId":"$SESSION","modelId":"custom:other:test-model"}
expect /result {}
prompt hi
prompt /model
text "Current model: custom:other:test-model\nProvider: custom:other"
-- reply --
text Hello.
`},
		// Hermes refuses with -32603 while a turn runs.
		{"hermes_024_set_model_while_a_turn_runs", otherProvider + `
start
call initialize {"protocolVersion":1,"clientCapabilities":{"session":{"notices":{}}}}
open
begin hi
reach running
call session/set_model {"sessionId":"$SESSION","modelId":"custom:other:test-model"}
expect /result {}
until next turn
gate running
await
expect /result/stopReason "end_turn"
prompt /model
text has custom:other:test-model
-- reply --
text Hello.
gate running
`},
		{"hermes_025_a_model_that_nobody_serves", `
open
call session/set_model {"sessionId":"$SESSION","modelId":"custom:nobody"}
expect /error/code -32602
call session/set_config_option {"sessionId":"$SESSION","configId":"model","value":"no-such-model"}
expect /error/code -32602
prompt hi
asked /model "test-model"
-- reply --
text Hello.
`},
		// Hermes answers load with null and resume with a session that the client
		// cannot know.
		{"hermes_026_load_of_an_unknown_session", `
hello
call session/load {"sessionId":"bogus","cwd":"$WORK/ws","mcpServers":[]}
expect /error/code -32002
`},
		{"hermes_027_resume_of_an_unknown_session", `
hello
call session/resume {"sessionId":"bogus","cwd":"$WORK/ws"}
expect /error/code -32002
call session/list {}
expect /result/sessions []
`},
		{"hermes_028_cancel", `
open
notify session/cancel {"sessionId":"unknown"}
begin hi
until Working
notify session/cancel {"sessionId":"$SESSION"}
await
expect /result/stopReason "cancelled"
-- reply --
text Working
gate never
`},
		// Hermes answers the fork of an unknown session with an empty id.
		{"hermes_029_forks_are_independent", `
open
prompt First
call session/list {}
keep ORIGINAL /result/sessions/0/sessionId
call session/fork {"sessionId":"$ORIGINAL","cwd":"$WORK/ws"}
prompt Second
asked /messages/*/content "First"
asked /messages/*/content "Second"
call session/load {"sessionId":"$ORIGINAL","cwd":"$WORK/ws","mcpServers":[]}
never Second
update user_message_chunk /content/text "First"
call session/fork {"sessionId":"unknown","cwd":"$WORK/ws"}
expect /error/code -32002
-- reply --
text One.
-- reply --
text Two.
`},
		{"hermes_030_a_page_holds_50", fullPage()},
		{"hermes_031_the_last_page_has_no_cursor", threeSessions + `
call session/list {}
expect /result/sessions/2 present
expect /result/nextCursor absent
` + threeAnswers},
		// A cursor of Hermes is the id of a session; here it is opaque.
		{"hermes_032_the_newest_session_first", threeSessions + `
call session/list {}
expect /result/sessions/0/sessionId "$SESSION"
` + threeAnswers},
		// Hermes answers with an empty page.
		{"hermes_033_an_unknown_cursor", `
hello
call session/list {"cursor":"s1"}
expect /error/code -32602
`},
		// Hermes passes on what is stored, such as "123.0".
		{"hermes_034_times_and_titles", `
open
prompt Fix the parser, please
call session/list {}
expect /result/sessions/0/title "Fix the parser, please"
expect /result/sessions/0/updatedAt like \d{4}-\d\d-\d\dT.*Z
-- reply --
text Fixed.
`},
		{"hermes_035_a_filter_by_cwd", `
open
prompt hi
call session/list {"cwd":"$WORK/elsewhere"}
expect /result/sessions []
call session/list {"cwd":"$WORK/ws"}
expect /result/sessions/0 present
-- reply --
text Hello.
`},
		{"hermes_036_sessions_of_an_earlier_process_are_listed", `
open
prompt hi
stop
hello
call session/list {}
expect /result/sessions/0/sessionId "$SESSION"
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
order user_message_chunk agent_message_chunk response
-- reply --
text Hello.
`},
		{"hermes_037_deleting_twice", `
open
call session/delete {"sessionId":"$SESSION"}
expect /result {}
call session/delete {"sessionId":"$SESSION"}
expect /result {}
`},
		{"hermes_039_sessions_of_other_clients_stay_theirs", `
open
prompt hi
stop
sql INSERT INTO sessions (id, source, started_at) VALUES ('theirs', 'cli', 1); INSERT INTO messages (session_id, role, content, timestamp) VALUES ('theirs', 'user', 'mine', 1)
hello
call session/load {"sessionId":"theirs","cwd":"$WORK/ws","mcpServers":[]}
expect /error/code -32002
call session/list {}
expect /result/sessions/0/sessionId "$SESSION"
expect /result/sessions/1 absent
-- reply --
text Hello.
`},
		{"hermes_041_reasoning_survives_a_restart", `
open
prompt hi
stop
sql UPDATE messages SET reasoning_details = '[{"type":"x"}]', codex_reasoning_items = '[]' WHERE role = 'assistant'
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
update agent_thought_chunk /content/text "Let me think."
prompt Again
expect /result/stopReason "end_turn"
-- reply --
thought Let me think.
text Hello.
-- reply --
text Again.
`},
		{"hermes_043_folders_are_the_same_by_any_link", `
link alias $WORK/ws
open
prompt hi
call session/list {"cwd":"$WORK/alias"}
expect /result/sessions/0/sessionId "$SESSION"
call session/list {"cwd":"$WORK/nonexistent/x/../../ws"}
expect /result/sessions/0/sessionId "$SESSION"
call session/list {"cwd":"$WORK/tmp"}
expect /result/sessions []
-- reply --
text Hello.
`},
	})
}

const (
	otherProvider = `
write home/.hermes/config.yaml "custom_providers:\n- name: other\n  base_url: $MODEL\n  api_key: other-key\n"
`
	threeSessions = `
open
prompt hi
open
prompt hi
open
prompt hi
`
	threeAnswers = `
-- reply --
text One.
-- reply --
text Two.
-- reply --
text Three.
`
)

func TestConformanceHermes_Replay(t *testing.T) {
	playCases(t, directLane, []dialogueCase{
		{"hermes_053_the_person_the_model_and_the_tools", `
write ws/cli.py "import os\n\n\ndef needle():\n"
open
prompt Search.
stop
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
order user_message_chunk agent_message_chunk tool_call:pending tool_call_update:completed agent_message_chunk response
update tool_call /toolCallId "call_1_1"
update tool_call_update /toolCallId "call_1_1"
update tool_call_update /content/0/content/text has cli.py:4: def needle():
never "role":"system"
-- reply --
text Looking.
call search_files {"pattern": "needle"}
-- reply --
text Found.
`},
		{"hermes_054_the_plan_is_there_again", `
open
prompt Plan.
stop
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
order user_message_chunk tool_call:pending tool_call_update:completed plan tool_call:pending tool_call_update:completed plan agent_message_chunk response
update plan /entries [{"content":"Look","priority":"medium","status":"completed"},{"content":"Change","priority":"medium","status":"pending"}]
-- reply --
call todo {"todos": [{"id": "1", "content": "Look", "status": "in_progress"}, {"id": "2", "content": "Change", "status": "pending"}]}
-- reply --
call todo {"todos": [{"id": "1", "status": "completed"}], "merge": true}
-- reply --
text Planned.
`},
		{"hermes_055_thoughts_precede_their_message", `
open
prompt hi
prompt hi
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
order user_message_chunk agent_thought_chunk agent_message_chunk user_message_chunk agent_thought_chunk agent_message_chunk response
update agent_thought_chunk /content/text "One thought."
update agent_thought_chunk /content/text "Another."
-- reply --
thought One thought.
text Hello.
-- sse --
data: {"choices":[{"index":0,"delta":{"reasoning":"Another."}}]}

data: {"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}

data: [DONE]

`},
		{"hermes_056_a_thought_without_a_message", `
open
prompt hi
stop
sql UPDATE messages SET content = NULL, tool_calls = NULL WHERE role = 'assistant'
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
order user_message_chunk agent_thought_chunk response
-- reply --
thought Hm.
text Hello.
`},
		{"hermes_057_a_blank_thought_is_none", `
open
prompt hi
stop
sql UPDATE messages SET reasoning = '  ', reasoning_content = '' || char(10) WHERE role = 'assistant'
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
order user_message_chunk agent_message_chunk response
-- reply --
thought Hm.
text Hello.
`},
		{"hermes_058_a_thought_and_a_call_without_a_message", `
open
prompt hi
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
order user_message_chunk agent_thought_chunk tool_call:pending tool_call_update:completed agent_message_chunk response
-- reply --
thought Hm.
call list_dir {"path": "."}
-- reply --
text Empty.
`},
		{"hermes_059_the_replay_precedes_the_response", `
open
prompt hi
stop
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
order user_message_chunk agent_message_chunk response
-- reply --
text Hello.
`},
		{"hermes_060_a_damaged_row_does_not_keep_a_session_shut", `
open
prompt hi
stop
sql UPDATE messages SET tool_calls = '[{"id":' WHERE role = 'assistant'
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
order user_message_chunk agent_message_chunk response
expect /result present
-- reply --
text Hello.
`},
	})
}
