//go:build !windows

package main

import "testing"

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
