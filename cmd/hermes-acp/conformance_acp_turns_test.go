//go:build !windows

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestConformanceACP_PromptTurn(t *testing.T) {
	playCases(t, directLane, []dialogueCase{
		{"acp_064_one_response_with_a_stop_reason", `
open
prompt hi
order agent_message_chunk response
expect /result/stopReason "end_turn"
-- reply --
text Hello.
`},
		{"acp_065_updates_precede_the_response", `
open
prompt hi
order agent_thought_chunk agent_message_chunk tool_call:pending tool_call_update:in_progress tool_call_update:completed agent_message_chunk response
text "` + strings.Repeat("x", 200) + `Done."
-- reply --
thought Hm.
` + strings.Repeat("text x\n", 200) + `call list_dir {"path": "."}
-- reply --
text Done.
`},
		{"acp_066_a_cancelled_turn_is_no_error", `
open
begin go
until Working
notify session/cancel {"sessionId":"$SESSION"}
await
expect /result {"stopReason":"cancelled"}
-- reply --
text Working
gate never
`},
		{"acp_067_cancel_stops_model_and_tools", `
open
call session/set_mode {"sessionId":"$SESSION","modeId":"dont_ask"}
begin go
until Working
notify session/cancel {"sessionId":"$SESSION"}
await
expect /result/stopReason "cancelled"
file ws/a.txt absent
prompt What was that?
asked /messages/*/content has Working
never tool_call
-- reply --
text Working
gate never
call write_file {"path": "a.txt", "content": "late"}
-- reply --
text Nothing.
`},
		{"acp_068_an_abort_inside_a_tool_is_a_cancel", `
open
begin go
answer allow_once
until in_progress
notify session/cancel {"sessionId":"$SESSION"}
await
expect /result/stopReason "cancelled"
-- reply --
call terminal {"command": "sleep 60; touch late"}
`},
		{"acp_069_after_a_cancel_updates_precede_the_response", `
open
begin go
answer allow_once
until in_progress
notify session/cancel {"sessionId":"$SESSION"}
await
order tool_call:pending question tool_call_update:in_progress tool_call_update:failed response
-- reply --
call terminal {"command": "sleep 60; touch late"}
`},
		{"acp_070_updates_name_their_session", `
hello
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
keep A /result/sessionId
begin For A?
until one A
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
keep B /result/sessionId
send session/prompt {"sessionId":"$B","prompt":[{"type":"text","text":"For B?"}]}
until "sessionId":"$B","update":{"sessionUpdate":"agent_message_chunk","content":{"text":"one B"
gate a
until "sessionId":"$A","update":{"sessionUpdate":"agent_message_chunk","content":{"text":"two A"
gate b
until "sessionId":"$B","update":{"sessionUpdate":"agent_message_chunk","content":{"text":"two B"
await
-- reply --
text one A
gate a
text two A
-- reply --
text one B
gate b
text two B
`},
		{"acp_071_one_id_a_message", `
open
prompt hi
distinct agent_message_chunk /messageId 2
distinct agent_message_chunk /content/text 3
-- reply --
text one
text two
call list_dir {"path": "."}
-- reply --
text three
`},
		{"acp_072_usage_has_both_numbers", `
write home/.hermes/config.yaml "model:\n  default: test-model\n  context_length: 100000\n"
open
prompt hi
update usage_update /size 100000
update usage_update /used 25000
expect /result/usage {"inputTokens":24990,"outputTokens":10,"totalTokens":25000}
-- reply --
text Hello.
usage 24990 10
`},
		{"acp_073_stop_reasons_mean_what_they_say", `
write home/.hermes/config.yaml "agent:\n  max_turns: 2\n"
open
prompt hi
expect /result/stopReason "max_tokens"
prompt hi
expect /result/stopReason "refusal"
prompt hi
expect /result/stopReason "max_turn_requests"
-- reply --
text Hel
finish length
-- reply --
text I will not.
finish content_filter
-- reply --
call list_dir {"path": "."}
-- reply --
call list_dir {"path": "."}
`},
		{"acp_074_an_unknown_session", `
hello
call session/prompt {"sessionId":"nope","prompt":[{"type":"text","text":"hi"}]}
expect /error/code -32002
notify session/cancel {"sessionId":"nope"}
call session/list {}
order response
`},
		{"acp_084_cancelling_a_request", `
open
notify $/cancel_request {"requestId":999}
begin go
until Working
notify $/cancel_request {"requestId":3}
await
expect /id 3
prompt And now?
expect /result/stopReason "end_turn"
-- reply --
text Working
gate never
-- reply --
text Now.
`},
		{"acp_086_a_cancel_takes_questions_back", `
open
begin go
until session/request_permission
keep ASK /id
notify session/cancel {"sessionId":"$SESSION"}
await
order tool_call:pending question $/cancel_request tool_call_update:failed response
expect /result/stopReason "cancelled"
raw {"jsonrpc":"2.0","id":$ASK,"result":{"outcome":{"outcome":"selected","optionId":"allow_once"}}}
call session/list {}
file ws/a.txt absent
-- reply --
call write_file {"path": "a.txt", "content": "late"}
`},
	})
}

func TestConformanceACP_ToolCalls(t *testing.T) {
	playCases(t, directLane, []dialogueCase{
		{"acp_014_paths_are_absolute", `
write ws/sub/a.txt "old\n"
open
begin go
answer allow_once
await
update tool_call /locations/0/path "$WORK/ws/sub/a.txt"
update tool_call /content/0/path "$WORK/ws/sub/a.txt"
question /params/toolCall/locations/0/path "$WORK/ws/sub/a.txt"
question /params/toolCall/content/0/path "$WORK/ws/sub/a.txt"
-- reply --
call write_file {"path": "./sub/../sub/a.txt", "content": "new\n"}
-- reply --
text Done.
`},
		{"acp_015_lines_count_from_1", `
write ws/a.txt "one\ntwo\nthree\n"
open
prompt Read.
update tool_call /locations/0/line 2
update tool_call_update /content/0/content/text has 2|two
never one
-- reply --
call read_file {"path": "a.txt", "offset": 2}
-- reply --
text Read.
`},
		{"acp_075_ids_are_unique_in_the_session", `
open
prompt First
prompt Second
asked /messages/*/tool_call_id present
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
distinct tool_call /toolCallId 2
-- sse --
data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"same","type":"function","function":{"name":"list_dir","arguments":"{\"path\":\".\"}"}}]},"finish_reason":"tool_calls"}]}

data: [DONE]

-- reply --
text One.
-- sse --
data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"same","type":"function","function":{"name":"list_dir","arguments":"{\"path\":\".\"}"}}]},"finish_reason":"tool_calls"}]}

data: [DONE]

-- reply --
text Two.
`},
		{"acp_076_a_call_is_announced_runs_and_ends", `
open
prompt go
order tool_call:pending tool_call_update:in_progress tool_call_update:completed tool_call:pending tool_call_update:in_progress tool_call_update:failed agent_message_chunk response
-- reply --
call list_dir {"path": "."}
-- reply --
call list_dir {"path": "missing"}
-- reply --
text Done.
`},
		{"acp_077_updates_hold_what_changed", `
open
prompt go
update tool_call_update /title absent
update tool_call_update /kind absent
update tool_call_update /rawInput absent
update tool_call_update /status "in_progress"
-- reply --
call list_dir {"path": "."}
-- reply --
text Done.
`},
		{"acp_078_a_new_file_has_no_old_text", `
write ws/old.txt "old\n"
open
begin go
answer deny
until "status":"failed"
update tool_call /content/0/type "diff"
update tool_call /content/0/newText "new\n"
update tool_call /content/0/oldText absent
answer deny
await
update tool_call /content/0/oldText "old\n"
-- reply --
call write_file {"path": "new.txt", "content": "new\n"}
-- reply --
call write_file {"path": "old.txt", "content": "new\n"}
-- reply --
text Done.
`},
		{"acp_079_options_have_unique_ids_and_kinds", `
open
begin go
answer deny
await
question /params/options/*/optionId "allow_once"
question /params/options/0/kind "allow_once"
question /params/options/1/kind "allow_always"
question /params/options/2/kind "reject_once"
question /params/options/3 absent
-- reply --
call write_file {"path": "a.txt", "content": "b"}
-- reply --
text Done.
`},
		{"acp_080_dismissed_means_no", `
open
begin go
answer -
await
order tool_call:pending question tool_call_update:failed agent_message_chunk response
file ws/a.txt absent
-- reply --
call write_file {"path": "a.txt", "content": "b"}
-- reply --
text Not done.
`},
		{"acp_080_an_unknown_outcome_means_no", `
open
begin go
until session/request_permission
keep ASK /id
raw {"jsonrpc":"2.0","id":$ASK,"result":{"outcome":{"outcome":"granted","optionId":"allow_once"}}}
await
update tool_call_update /status "failed"
file ws/a.txt absent
-- reply --
call write_file {"path": "a.txt", "content": "b"}
-- reply --
text Not done.
`},
		{"acp_081_an_option_never_offered_means_no", `
open
begin go
answer approve_for_session
await
update tool_call_update /content/*/content/text has approve_for_session
asked /messages/*/content has approve_for_session
file ws/a.txt absent
-- reply --
call write_file {"path": "a.txt", "content": "b"}
-- reply --
text Not done.
`},
		{"acp_082_content_is_wrapped", `
write ws/a.txt "hello\n"
open
prompt Read.
update tool_call_update /content/0/type "content"
update tool_call_update /content/0/content/type "text"
-- reply --
call read_file {"path": "a.txt"}
-- reply --
text Read.
`},
		{"acp_087_a_plan_is_complete", `
open
prompt Plan.
update plan /entries [{"content":"Look","priority":"medium","status":"in_progress"},{"content":"Change","priority":"medium","status":"pending"}]
update plan /entries [{"content":"Look","priority":"medium","status":"completed"},{"content":"Change","priority":"medium","status":"pending"}]
-- reply --
call todo {"todos": [{"id": "1", "content": "Look", "status": "in_progress"}, {"id": "2", "content": "Change", "status": "pending"}]}
-- reply --
call todo {"todos": [{"id": "1", "status": "completed"}], "merge": true}
-- reply --
text Planned.
`},
	})
}

// Logs and the program's own words are on stderr, where an editor shows them.
func TestConformanceACP_003_LogsAreOnStderr(t *testing.T) {
	t.Parallel()
	stdout, stderr, err := runProgram(t, nil, `{"jsonrpc":"2.0","id":1,"method":"session/shout"}`+"\n")
	if err != nil || !strings.Contains(stderr, "unknown method") || strings.Count(stdout, "\n") != 1 || strings.Contains(stdout, "serving") {
		t.Errorf("%v\nstdout: %s\nstderr: %s", err, stdout, stderr)
	}
}

// The args of the terminal method enter a dialogue and nothing else, whether a
// client appends them to its command line or puts them in its place. The dialogue
// ends with exit code 0.
func TestConformanceACP_035_SetupIsADialogueOfItsOwn(t *testing.T) {
	for name, args := range map[string][]string{"appended": {"acp", "--setup"}, "replaced": {"--setup"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, err := runProgram(t, nil, "offline\n\n\n", args...)
			if err != nil || !strings.Contains(stderr, "Stored.") || strings.Contains(stdout, "jsonrpc") {
				t.Errorf("%v\nstdout: %s\nstderr: %s", err, stdout, stderr)
			}
		})
	}
}

// runProgram runs the real program with a home of its own and further variables
// until it ends.
func runProgram(t *testing.T, env []string, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	home := t.TempDir()
	cmd := exec.Command(builtProgram(t), args...)
	cmd.Env = append(env, "HOME="+home, "HERMES_HOME="+filepath.Join(home, ".hermes"), "PATH="+os.Getenv("PATH"))
	cmd.Stdin = strings.NewReader(stdin)
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	return out.String(), errOut.String(), err
}
