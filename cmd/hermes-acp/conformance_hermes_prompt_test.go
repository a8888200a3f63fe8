//go:build !windows

package main

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestConformanceHermes_Prompt(t *testing.T) {
	playCases(t, directLane, []dialogueCase{
		// Hermes answers with the stop reason refusal.
		{"hermes_061_an_unknown_session", `
hello
call session/prompt {"sessionId":"unknown","prompt":[{"type":"text","text":"hi"}]}
expect /error/code -32002
`},
		{"hermes_062_a_blank_prompt", `
open
call session/prompt {"sessionId":"$SESSION","prompt":[{"type":"text","text":"   "}]}
order response
expect /result/stopReason "end_turn"
call session/prompt {"sessionId":"$SESSION","prompt":[]}
expect /result/stopReason "end_turn"
call session/list {}
expect /result/sessions []
`},
		{"hermes_064_the_history_is_whole", `
open
prompt First
prompt Second
asked /messages/0/role "system"
asked /messages/1 {"role":"user","content":"First"}
asked /messages/2 {"role":"assistant","content":"One."}
asked /messages/3 {"role":"user","content":"Second"}
asked /messages/4 absent
-- reply --
text One.
-- reply --
text Two.
`},
		{"hermes_065_an_answer_that_does_not_stream_is_shown", `
open
prompt hi
text "Whole."
-- json --
{"choices":[{"index":0,"message":{"role":"assistant","content":"Whole."},"finish_reason":"stop"}]}
`},
		{"hermes_066_a_streamed_answer_comes_once", `
open
prompt hi
text "Hello there."
distinct agent_message_chunk /content/text 2
-- sse --
data: {"choices":[{"index":0,"delta":{"content":"Hello "}}]}

data: {"choices":[{"index":0,"delta":{"content":"there."}}]}

data: {"choices":[{"index":0,"delta":{},"message":{"role":"assistant","content":"Hello there."},"finish_reason":"stop"}]}

data: [DONE]

`},
		{"hermes_068_an_interrupted_wait_is_not_the_models_words", `
open
begin hi
reach never
notify session/cancel {"sessionId":"$SESSION"}
await
order response
expect /result/stopReason "cancelled"
update session_info_update /title absent
-- reply --
gate never
text Hello.
`},
		{"hermes_069_text_of_a_cancelled_turn_is_kept", `
open
begin hi
until Half
notify session/cancel {"sessionId":"$SESSION"}
await
text "Half"
stop
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
text has Half
-- reply --
text Half
gate never
`},
		{"hermes_070_usage", `
open
prompt hi
expect /result/usage {"inputTokens":123,"outputTokens":45,"totalTokens":168,"thoughtTokens":7,"cachedReadTokens":11}
-- sse --
data: {"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":123,"completion_tokens":45,"total_tokens":168,"completion_tokens_details":{"reasoning_tokens":7},"prompt_tokens_details":{"cached_tokens":11}}}

data: [DONE]

`},
		{"hermes_071_commands_know_their_session", `
env HERMES_SESSION_ID=of-somebody-else
open
begin hi
answer allow_once
await
update tool_call_update /content/1/content/text has session is $SESSION
-- reply --
call terminal {"command": "echo session is $HERMES_SESSION_ID"}
-- reply --
text Done.
`},
		{"hermes_072_a_title_after_the_first_exchange", `
open
prompt Explain the parser.
update session_info_update /title "Explain the parser."
prompt And the lexer?
update session_info_update /title absent
-- reply --
text It parses.
-- reply --
text It lexes.
`},
		{"hermes_073_an_answer_of_null", `
open
prompt hi
expect /id 3
prompt Still there?
expect /result/stopReason "end_turn"
text "Yes."
-- sse --
data: {"choices":[{"index":0,"delta":{"content":null},"finish_reason":"stop"}]}

data: [DONE]

-- reply --
text Yes.
`},
		// Hermes answers a second prompt at once, and lets what is queued run
		// after a cancel.
		{"hermes_075_a_cancel_ends_what_waits_too", `
open
begin First
until One
begin Second
notify session/cancel {"sessionId":"$SESSION"}
await
order agent_message_chunk response response
never end_turn
-- reply --
text One
gate never
`},
		{"hermes_076_a_cancel_while_idle_changes_nothing_later", `
open
notify session/cancel {"sessionId":"$SESSION"}
prompt hi
expect /result/stopReason "end_turn"
notify session/cancel {"sessionId":"$SESSION"}
notify session/cancel {"sessionId":"$SESSION"}
prompt hi
expect /result/stopReason "end_turn"
text "Again."
-- reply --
text Hello.
-- reply --
text Again.
`},
	})
}

func TestConformanceHermes_Commands(t *testing.T) {
	const fullWindow = `
write home/.hermes/config.yaml "model:\n  default: test-model\n  context_length: 100000\n"
`
	playCases(t, directLane, []dialogueCase{
		{"hermes_078_help", `
open
prompt /help
text has Available commands:
text has /compress
text has goes to the model
prompt /HELP
text has Available commands:
`},
		{"hermes_079_context", fullWindow + `
open
prompt /context
text has Conversation is empty (no messages yet).
prompt hi
prompt /context
text has Conversation: 2 messages
text has user: 1, assistant: 1, tool: 0, system: 0
text has Model: test-model
text has Context usage: ~25,000 / 100,000 tokens (25.0%)
text has Compression: ~50,000 tokens until threshold (~75,000, 75%).
text has Tip: run /compress
stop
write home/.hermes/config.yaml "model:\n  default: test-model\n  context_length: 30000\ncompression:\n  enabled: false\n"
hello
call session/resume {"sessionId":"$SESSION","cwd":"$WORK/ws"}
prompt /context
text has Automatic compression is off; /compress still compresses.
-- reply --
text Hello.
usage 24990 10
`},
		{"hermes_079_context_when_compression_is_due", fullWindow + `
open
prompt hi
prompt /context
text has Compression: due now (threshold ~75,000, 75%). Run /compress.
-- reply --
text Hello.
usage 81990 10
`},
		{"hermes_080_reset", `
open
prompt hi
prompt /reset
text "Conversation history cleared."
prompt Again
asked /messages/1 {"role":"user","content":"Again"}
asked /messages/2 absent
-- reply --
text Hello.
-- reply --
text Again.
`},
		// Hermes compresses four messages to one. The first exchange stays, and so
		// does what fits of the newest.
		{"hermes_081_compress", `
open
prompt /compress
text "Nothing to compress: the conversation is empty."
prompt One
prompt Two
prompt Three
prompt Four
prompt /compress
text like Context compressed: 8 -> \d messages\n~\d+ -> ~\d+ tokens
call session/list {}
expect /result/sessions/0/sessionId "$SESSION"
expect /result/sessions/1 absent
stop
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
text has We counted.
update agent_message_chunk /_meta/hermes/compactionSummary true
never Answer two
prompt Five
asked /messages/*/content has We counted.
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
-- reply --
text Answer five.
`},
		{"hermes_082_an_unknown_command_is_the_models", `
open
prompt /nonexistent thing
asked /messages/1/content "/nonexistent thing"
-- reply --
text What?
`},
		{"hermes_083_a_command_ends_its_turn", fullWindow + `
open
prompt /version
order agent_message_chunk response
text "Hermes ACP v` + version + `"
expect /result/stopReason "end_turn"
update usage_update /size 100000
`},
		{"hermes_084_usage_after_a_turn", fullWindow + `
open
prompt hi
update usage_update /size 100000
update usage_update /used 25000
-- reply --
text Hello.
usage 24000 1000
`},
		{"hermes_085_the_order_of_commands", `
hello
call session/new {"cwd":"$WORK/ws","mcpServers":[]}
until available_commands_update
update available_commands_update /availableCommands/0/name "help"
update available_commands_update /availableCommands/1/name "model"
update available_commands_update /availableCommands/1/input/hint present
update available_commands_update /availableCommands/2/name "tools"
update available_commands_update /availableCommands/3/name "context"
update available_commands_update /availableCommands/4/name "reset"
update available_commands_update /availableCommands/5/name "compress"
update available_commands_update /availableCommands/6/name "steer"
update available_commands_update /availableCommands/7/name "queue"
update available_commands_update /availableCommands/8/name "version"
`},
	})
}

func TestConformanceHermes_Content(t *testing.T) {
	large := strings.Repeat("x", 600<<10)
	withNull := base64.StdEncoding.EncodeToString([]byte("a\x00b"))
	// The limit is in the middle of the last character that fits.
	split := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 512<<10-1) + "é and more"))
	playCases(t, directLane, []dialogueCase{
		{"hermes_086_an_image_of_nothing", `
open
call session/prompt {"sessionId":"$SESSION","prompt":[{"type":"text","text":"hi"},{"type":"image","mimeType":"image/png","data":""}]}
asked /messages/1/content "hi"
-- reply --
text Hello.
`},
		{"hermes_086_an_image_without_a_type", `
open
call session/prompt {"sessionId":"$SESSION","prompt":[{"type":"image","data":"aGk="},{"type":"image","mimeType":"image/webp","data":"aGk="},{"type":"image","uri":"https://example.com/a.png"}]}
asked /messages/1/content/0/image_url/url "data:image/png;base64,aGk="
asked /messages/1/content/1/image_url/url "data:image/webp;base64,aGk="
asked /messages/1/content/2/image_url/url "https://example.com/a.png"
-- reply --
text Images.
`},
		{"hermes_087_a_large_file_is_cut", `
write ws/large.txt "` + large + `"
open
call session/prompt {"sessionId":"$SESSION","prompt":[{"type":"resource_link","name":"large.txt","uri":"file://$WORK/ws/large.txt"}]}
asked /messages/1/content has truncated to 524288 of 614400 bytes
-- reply --
text Large.
`},
		{"hermes_088_binary_by_its_bytes_and_its_type", `
open
call session/prompt {"sessionId":"$SESSION","prompt":[{"type":"resource","resource":{"uri":"file:///a.bin","blob":"` + withNull + `"}}]}
asked /messages/1/content has [Binary file left out: 3 bytes, type unknown.]
call session/prompt {"sessionId":"$SESSION","prompt":[{"type":"resource","resource":{"uri":"file:///a.txt","mimeType":"text/plain","blob":"` + withNull + `"}}]}
asked /messages/3/content like (.|\n)*a\x00b
-- reply --
text Binary.
-- reply --
text Text.
`},
		{"hermes_089_a_blob_that_is_no_base64", `
open
call session/prompt {"sessionId":"$SESSION","prompt":[{"type":"resource","resource":{"uri":"file:///a.txt","mimeType":"text/plain","blob":"not base64!"}}]}
asked /messages/1/content has not base64!
-- reply --
text Text.
`},
		{"hermes_090_a_path_with_escapes", `
write ws/a-b.txt "escaped\n"
open
call session/prompt {"sessionId":"$SESSION","prompt":[{"type":"resource_link","name":"a","uri":"file://$WORK/ws/a%2Db.txt"}]}
asked /messages/1/content has escaped
-- reply --
text Read.
`},
		{"hermes_091_a_link_that_is_no_file", `
open
call session/prompt {"sessionId":"$SESSION","prompt":[{"type":"resource_link","name":"spec","uri":"https://example.com/spec"}]}
asked /messages/1/content has URI: https://example.com/spec
asked /messages/1/content has Only the address is known
-- reply --
text Not read.
`},
		{"hermes_092_a_cut_is_between_characters", `
open
call session/prompt {"sessionId":"$SESSION","prompt":[{"type":"resource","resource":{"uri":"file:///a.txt","mimeType":"text/plain","blob":"` + split + `"}}]}
asked /messages/1/content like [^é\x{FFFD}Ã]*truncated to 524288 of 524298 bytes[^é\x{FFFD}Ã]*
-- reply --
text Cut.
`},
		{"hermes_093_title_and_name", `
open
call session/prompt {"sessionId":"$SESSION","prompt":[{"type":"resource_link","name":"spec.md","title":"The specification","uri":"https://example.com/spec"}]}
asked /messages/1/content has [Attached file: The specification (spec.md)]
-- reply --
text Not read.
`},
		{"hermes_094_a_command_with_an_image_is_the_models", `
open
call session/prompt {"sessionId":"$SESSION","prompt":[{"type":"text","text":"/help"},{"type":"image","mimeType":"image/png","data":"aGk="}]}
asked /messages/1/content/0/text "/help"
asked /messages/1/content/1/image_url/url "data:image/png;base64,aGk="
-- reply --
text An image.
`},
	})
}
