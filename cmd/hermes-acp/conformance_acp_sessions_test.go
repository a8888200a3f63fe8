//go:build !windows

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestConformanceACP_SessionSetup(t *testing.T) {
	playCases(t, directLane, []dialogueCase{
		{"acp_036_ids_are_unique", `
# The checker refuses an id that is known already.
hello
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
expect /result/sessionId like [0-9a-f-]{36}
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
expect /result/sessionId like [0-9a-f-]{36}
`},
		{"acp_037_cwd_is_absolute", `
hello
call session/new {"cwd":"ws","mcpServers":[]}
expect /error/code -32602
expect /error/message has "ws" is not an absolute path
call session/new {"cwd":"$WORK/missing","mcpServers":[]}
expect /error/code -32602
call session/new {"mcpServers":[]}
expect /error/code -32602
`},
		{"acp_038_cwd_whatever_that_of_the_process", `
open
prompt Where?
update tool_call_update /content/1/content/text has $WORK/ws
-- reply --
call terminal {"command": "pwd"}
-- reply --
text There.
`},
		{"acp_039_relative_paths_resolve_against_cwd", `
write ws/sub/a.txt "inside\n"
write sub/a.txt "outside\n"
open
prompt Read.
update tool_call /locations/0/path "$WORK/ws/sub/a.txt"
update tool_call_update /content/0/content/text has inside
-- reply --
call read_file {"path": "sub/a.txt"}
-- reply --
text Read.
`},
		{"acp_040_additional_directories_are_roots", `
write elsewhere/b.txt "beside\n"
env TMPDIR=$WORK/tmp
hello
call session/new {"cwd":"$WORK/ws","mcpServers":[],"additionalDirectories":["$WORK/elsewhere"]}
prompt Read.
order tool_call:pending tool_call_update:in_progress tool_call_update:completed agent_message_chunk response
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
begin Read.
answer deny
await
order tool_call:pending question tool_call_update:failed agent_message_chunk response
-- reply --
call read_file {"path": "../elsewhere/b.txt"}
-- reply --
text Read.
-- reply --
call read_file {"path": "../elsewhere/b.txt"}
-- reply --
text Not read.
`},
		{"acp_041_additional_directories_are_never_restored", `
write elsewhere/b.txt "beside\n"
hello
call session/new {"cwd":"$WORK/ws","mcpServers":[],"additionalDirectories":["elsewhere"]}
expect /error/code -32602
call session/new {"cwd":"$WORK/ws","mcpServers":[],"additionalDirectories":["$WORK/elsewhere"]}
call session/resume {"sessionId":"$SESSION","cwd":"$WORK/ws"}
begin Read.
answer deny
await
update tool_call_update /status "failed"
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[],"additionalDirectories":[]}
begin Read.
answer deny
await
update tool_call_update /status "failed"
-- reply --
call read_file {"path": "../elsewhere/b.txt"}
-- reply --
text Not read.
-- reply --
call read_file {"path": "../elsewhere/b.txt"}
-- reply --
text Not read either.
`},
		{"acp_042_mcp_servers_on_stdio", `
hello
call session/new {"cwd":"$WORK/ws","mcpServers":[{"name":"greeter","command":"$SELF","args":[],"env":[{"name":"` + otherProgramEnv + `","value":"greeter"}]}]}
begin Greet.
answer allow_once
await
update tool_call /name "mcp_greeter_greet"
update tool_call_update /content/0/content/text has Hello, Ada
call session/new {"cwd":"$WORK/ws","mcpServers":[{"type":"stdio","name":"greeter","command":"$SELF"}]}
expect /result/sessionId present
-- reply --
call mcp_greeter_greet {"name": "Ada"}
-- reply --
text Greeted.
`},
		{"acp_044_all_servers_are_connected", `
hello
call session/new {"cwd":"$WORK/ws","mcpServers":[{"name":"absent","command":"/nonexistent/server","args":[],"env":[]},{"name":"one","command":"$SELF","args":[],"env":[{"name":"` + otherProgramEnv + `","value":"greeter"}]},{"name":"two","command":"$SELF","args":[],"env":[{"name":"` + otherProgramEnv + `","value":"greeter"}]}]}
expect /result/sessionId present
prompt What is there?
asked /tools/*/function/name "mcp_one_greet"
asked /tools/*/function/name "mcp_two_greet"
-- reply --
text Two.
`},
		{"acp_045_load_replays_before_its_response", `
open
prompt First
stop
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
order user_message_chunk agent_thought_chunk agent_message_chunk tool_call:pending tool_call_update:completed agent_message_chunk response
-- reply --
thought Thinking.
text Looking.
call list_dir {"path": "."}
-- reply --
text Nothing there.
`},
		{"acp_046_replayed_messages_have_ids_of_their_own", `
open
prompt First
prompt Second
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
distinct user_message_chunk /messageId 2
distinct agent_message_chunk /messageId 2
-- reply --
text One.
-- reply --
text Two.
`},
		{"acp_047_notices_are_not_replayed", `
start
call initialize {"protocolVersion":1,"clientCapabilities":{"session":{"notices":{}}}}
open
begin First
reach going
call session/set_config_option {"sessionId":"$SESSION","configId":"reasoning_effort","value":"high"}
until notice
gate going
await
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
update notice /title absent
order user_message_chunk agent_message_chunk response
-- reply --
text One.
gate going
`},
		{"acp_048_resume_never_replays", `
open
prompt First
stop
hello
call session/resume {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
order response
prompt Second
asked /messages/*/content "One."
-- reply --
text One.
-- reply --
text Two.
`},
		{"acp_049_close_cancels_what_runs", `
open
begin First
until Working
send session/close {"sessionId":"$SESSION"}
await
order agent_message_chunk response response
call session/list {}
expect /result/sessions/0/sessionId "$SESSION"
-- reply --
text Working.
gate never
`},
		{"acp_050_close_of_an_unknown_session", `
hello
call session/close {"sessionId":"nope"}
expect /error/code -32002
`},
		{"acp_051_unknown_sessions_cannot_be_opened", `
hello
call session/load {"sessionId":"nope","cwd":"$WORK/ws","mcpServers":[]}
expect /error/code -32002
call session/resume {"sessionId":"nope","cwd":"$WORK/ws"}
expect /error/code -32002
call session/fork {"sessionId":"nope","cwd":"$WORK/ws"}
expect /error/code -32002
`},
		{"acp_052_load_with_another_cwd_moves_the_session", `
open
call session/load {"sessionId":"$SESSION","cwd":"$WORK/elsewhere","mcpServers":[]}
prompt Where?
update tool_call_update /content/1/content/text has $WORK/elsewhere
-- reply --
call terminal {"command": "pwd"}
-- reply --
text There.
`},
	})
}

// greeterProgram is an MCP server on stdio.
func greeterProgram() (exitCode int) {
	if err := greeter().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func greeter() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "1"}, nil)
	type greeting struct {
		Name string `json:"name"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "greet", Description: "greets"}, func(_ context.Context, _ *mcp.CallToolRequest, in greeting) (*mcp.CallToolResult, any, error) {
		text := fmt.Sprintf("Hello, %s! GREETING=%s", in.Name, os.Getenv("GREETING"))
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	})
	return server
}

// http and sse are advertised, so they are connected to, with the headers that
// the client gives. Other types are refused.
func TestConformanceACP_043_MCPServersOverHTTP(t *testing.T) {
	t.Parallel()
	get := func(*http.Request) *mcp.Server { return greeter() }
	mux := http.NewServeMux()
	mux.Handle("/http", mcp.NewStreamableHTTPHandler(get, nil))
	mux.Handle("/sse", mcp.NewSSEHandler(get, nil))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer of-tests" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	defer web.Close()
	defer web.CloseClientConnections()
	playCase(t, directLane, `
hello
call session/new {"cwd":"$WORK/ws","mcpServers":[{"type":"carrier-pigeon","name":"x","url":"$URL/http"}]}
expect /error/code -32602
call session/new {"cwd":"$WORK/ws","mcpServers":[{"type":"http","name":"web","url":"$URL/http","headers":[{"name":"Authorization","value":"Bearer of-tests"}]},{"type":"sse","name":"stream","url":"$URL/sse","headers":[{"name":"Authorization","value":"Bearer of-tests"}]}]}
begin Greet.
answer allow_once
answer allow_once
await
update tool_call_update /content/0/content/text has Hello, Ada
update tool_call_update /content/0/content/text has Hello, Bob
-- reply --
call mcp_web_greet {"name": "Ada"}
call mcp_stream_greet {"name": "Bob"}
-- reply --
text Greeted.
`, map[string]string{"$URL": web.URL})
}

func TestConformanceACP_SessionList(t *testing.T) {
	playCases(t, directLane, []dialogueCase{
		{"acp_053_an_empty_list_is_a_list", `
hello
call session/list {}
expect /result/sessions []
open
call session/list {}
expect /result/sessions []
`},
		{"acp_054_cwd_filters", `
open
prompt hi
call session/list {"cwd":"$WORK/ws"}
expect /result/sessions/0/sessionId "$SESSION"
call session/list {"cwd":"$WORK/ws/"}
expect /result/sessions/0/sessionId "$SESSION"
call session/list {"cwd":"$WORK"}
expect /result/sessions []
call session/list {"cwd":"$WORK/w"}
expect /result/sessions []
call session/list {"cwd":null}
expect /result/sessions/0/sessionId "$SESSION"
call session/list {"cwd":"ws"}
expect /error/code -32602
-- reply --
text Hello.
`},
		{"acp_055_cwd_is_absolute", `
hello
call session/new {"cwd":"$WORK/ws/../ws/.","mcpServers":[]}
prompt hi
call session/list {}
expect /result/sessions/0/cwd "$WORK/ws"
-- reply --
text Hello.
`},
		{"acp_056_acp_058_pages_of_50", fullPage()},
		{"acp_057_a_bad_cursor", `
hello
call session/list {"cursor":"bogus"}
expect /error/code -32602
`},
		{"acp_059_times_are_iso_8601", `
open
prompt hi
call session/list {}
expect /result/sessions/0/updatedAt like \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z
-- reply --
text Hello.
`},
		{"acp_060_listing_changes_nothing", `
open
prompt hi
call session/list {}
keep BEFORE /result
call session/list {}
expect /result $BEFORE
stop
hello
call session/list {}
expect /result $BEFORE
-- reply --
text Hello.
`},
		{"acp_061_deleted_sessions_are_not_listed", `
open
prompt hi
call session/delete {"sessionId":"$SESSION"}
expect /result {}
call session/list {}
expect /result/sessions []
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
expect /error/code -32002
-- reply --
text Hello.
`},
		{"acp_062_deleting_what_is_not_there", `
hello
call session/delete {"sessionId":"nope"}
expect /result {}
`},
		{"acp_063_info_updates_hold_what_changed", `
open
prompt Fix the parser.
update session_info_update /title has parser
update session_info_update /updatedAt present
update session_info_update /_meta absent
prompt And now?
update session_info_update /title absent
-- reply --
text Fixed.
-- reply --
text Nothing.
`},
	})
}

// fullPage is a case with one session more than a page holds.
func fullPage() string {
	const sessions = 51
	return strings.Repeat("open\nprompt hi\n", sessions) + `
call session/list {}
expect /result/sessions/49 present
expect /result/sessions/50 absent
expect /result/sessions/0/sessionId "$SESSION"
keep CURSOR /result/nextCursor
call session/list {"cursor":"$CURSOR"}
expect /result/sessions/0 present
expect /result/sessions/1 absent
expect /result/nextCursor absent
` + strings.Repeat("-- reply --\ntext Hello.\n", sessions)
}

func TestConformanceACP_CommandsModesAndOptions(t *testing.T) {
	playCases(t, directLane, []dialogueCase{
		{"acp_088_commands_follow_the_response", `
hello
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
never available_commands_update
until available_commands_update
update available_commands_update /availableCommands/0/name "help"
`},
		{"acp_089_a_command_and_its_argument", `
open
prompt /mode plan
text "Mode: plan"
expect /result/stopReason "end_turn"
prompt  /MODE
text has Current mode: plan
`},
		{"acp_090_only_listed_modes", `
hello
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
expect /result/modes/currentModeId "default"
expect /result/modes/availableModes/*/id "plan"
call session/set_mode {"sessionId":"$SESSION","modeId":"plan"}
expect /result {}
call session/set_mode {"sessionId":"$SESSION","modeId":"yolo"}
expect /error/code -32602
expect /error/message has accept_edits
`},
		{"acp_091_setting_an_option_returns_all", `
open
call session/set_config_option {"sessionId":"$SESSION","configId":"reasoning_effort","value":"high"}
expect /result/configOptions/0/id "model"
expect /result/configOptions/1/id "mode"
expect /result/configOptions/2/id "reasoning_effort"
expect /result/configOptions/2/currentValue "high"
`},
		{"acp_092_options_have_a_value_that_they_offer", `
hello
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
expect /result/configOptions/0/category "model"
expect /result/configOptions/0/currentValue "test-model"
expect /result/configOptions/0/options/*/value "test-model"
expect /result/configOptions/1/category "mode"
expect /result/configOptions/1/currentValue "default"
expect /result/configOptions/1/options/*/value "default"
expect /result/configOptions/2/category "thought_level"
expect /result/configOptions/2/currentValue "default"
expect /result/configOptions/2/options/*/value "default"
`},
		{"acp_093_no_booleans", `
hello
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
expect /result/configOptions/*/type "select"
never "type":"boolean"
call session/set_config_option {"sessionId":"$SESSION","configId":"mode","type":"boolean","value":true}
expect /error/code -32602
`},
		{"acp_094_modes_and_options_in_step", `
open
call session/set_mode {"sessionId":"$SESSION","modeId":"plan"}
until config_option_update
update config_option_update /configOptions/1/currentValue "plan"
call session/set_config_option {"sessionId":"$SESSION","configId":"mode","value":"accept_edits"}
until current_mode_update
update current_mode_update /currentModeId "accept_edits"
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
expect /result/modes/currentModeId "accept_edits"
expect /result/configOptions/1/currentValue "accept_edits"
`},
		{"acp_095_option_updates_are_complete", `
open
call session/set_mode {"sessionId":"$SESSION","modeId":"dont_ask"}
until config_option_update
update config_option_update /configOptions/0/id "model"
update config_option_update /configOptions/1/id "mode"
update config_option_update /configOptions/2/id "reasoning_effort"
`},
	})
}
