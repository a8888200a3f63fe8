//go:build !windows

package main

import "testing"

// The database is shared with other programs, which may be newer.
func TestDatabaseThatANewerProgramChanged(t *testing.T) {
	playCases(t, directLane, []dialogueCase{
		{"newer_hermes", `
open
prompt hi
stop
sql UPDATE schema_version SET version = 99; ALTER TABLE sessions ADD COLUMN newer TEXT; ALTER TABLE messages ADD COLUMN newer TEXT NOT NULL DEFAULT 'x'
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
order user_message_chunk agent_message_chunk response
prompt again
text "Again."
-- reply --
text Hello.
-- reply --
text Again.
`},
		{"newer_hermes_acp", `
open
prompt hi
stop
sql UPDATE acp_schema SET version = 99
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
expect /error/message has newer hermes-acp
expect /error/message has update hermes-acp
-- reply --
text Hello.
`},
	})
}
