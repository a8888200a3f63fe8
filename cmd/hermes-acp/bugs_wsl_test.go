//go:build linux

package main

import "testing"

// Faults that people reported of agents on Windows and in WSL, by the ids of our list of them (W), those
// that need the whole program: for a client on this machine, and for one on Windows.
func TestBugsOfWindowsAndWSL(t *testing.T) {
	for _, l := range []lane{directLane, bridgeLane()} {
		t.Run(l.name, func(t *testing.T) {
			playCases(t, l, []dialogueCase{
				// anomalyco/opencode#19473: the first command said that bash was missing.
				{"W05_a_folder_that_is_missing", `
hello
call session/new {"cwd":"$WORK/ws/none","mcpServers":[]}
expect /error/code -32602
expect /error/message has none
`},
				// openai/codex#16690: a resumed session had its folder in lower case.
				{"W54_the_folder_as_the_client_spelled_it_last", `
write ws/Harness/a ""
write ws/harness/a ""
hello
call session/new {"cwd":"$WORK/ws/Harness","mcpServers":[]}
keep SESSION /result/sessionId
prompt hi
call session/list {}
expect /result/sessions/0/cwd "$WORK/ws/Harness"
stop
hello
call session/resume {"sessionId":"$SESSION","cwd":"$WORK/ws/harness"}
call session/list {}
expect /result/sessions/0/cwd "$WORK/ws/harness"
stop
hello
call session/resume {"sessionId":"$SESSION","cwd":"$WORK/ws/Harness"}
call session/list {}
expect /result/sessions/0/cwd "$WORK/ws/Harness"
-- reply --
text Hello.
`},
			})
		})
	}
}

// agentclientprotocol/claude-agent-acp#1041: a session is asked for by its folder in another case, which
// on a drive of Windows is the same folder. The client sees the case that it gave.
func TestW53_FoldersOfDrivesAreComparedWithoutCase(t *testing.T) {
	needDrives(t)
	const script = `
write ws/Harness/a ""
hello
call session/new {"cwd":"$WORK/ws/Harness","mcpServers":[]}
keep SESSION /result/sessionId
prompt hi
call session/list {"cwd":"$WORK/ws/harness"}
expect /result/sessions`
	const answers = "\n-- reply --\ntext Hello.\n"
	t.Run("drive", func(t *testing.T) {
		playCase(t, driveLane(), script+`/0/cwd "$WORK/ws/Harness"`+answers, nil)
	})
	t.Run("distro", func(t *testing.T) {
		playCase(t, bridgeLane(), script+` []`+answers, nil)
	})
}
