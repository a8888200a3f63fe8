//go:build !windows

package main

import (
	"log/slog"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent"
	"github.com/hermes-acp/hermes-acp/agent/llm/llmtest"
	"github.com/hermes-acp/hermes-acp/agent/store"
)

// openHistory opens the database of a dialogue's agent beside it.
func openHistory(t *testing.T, d *dialogue) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Dir: d.getenv("HERMES_HOME"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func (d *dialogue) getenv(name string) string {
	for _, setting := range d.env {
		if value, ok := strings.CutPrefix(setting, name+"="); ok {
			return value
		}
	}
	return ""
}

// shown is what `hermes-acp sessions show` says about the dialogue's session.
func (d *dialogue) shown(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(d.state.program, "sessions", "show", d.session)
	cmd.Env = d.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("sessions show: %v\n%s", err, out)
	}
	return string(out)
}

// A crash in a long turn keeps what was streamed up to a second ago.
func TestKilledWhileAnAnswerStreams(t *testing.T) {
	t.Parallel()
	model := llmtest.Start(t, `
-- reply --
text The first half,
gate never
text the second.
-- reply --
text Done.
`)
	d := startDialogue(t, model)
	d.mustRun(t, "open\nbegin Tell me all.\nuntil The first half")
	db := openHistory(t, d)
	cutOff := func() bool {
		msgs, err := db.Messages(t.Context(), d.session)
		if err != nil {
			t.Fatal(err)
		}
		return msgs[len(msgs)-1].Interrupted
	}
	for begun := time.Now(); !cutOff(); time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > stepPatience {
			t.Fatal("nothing of the answer was kept")
		}
	}
	d.mustRun(t, "kill")

	type row struct {
		Role        agent.Role
		Text        string
		Interrupted bool
	}
	var got []row
	msgs, err := db.Messages(t.Context(), d.session)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range msgs {
		got = append(got, row{m.Role, m.Text(), m.Interrupted})
	}
	want := []row{{agent.RoleUser, "Tell me all.", false}, {agent.RoleAssistant, "The first half,", true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after the kill (-want +got):\n%s", diff)
	}
	if text := d.shown(t); !strings.Contains(text, "The first half,\n[cut off here]") {
		t.Errorf("sessions show says\n%s", text)
	}
	d.mustRun(t, `
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
text "The first half,"
prompt And then?
asked /messages/*/content "The first half,"
expect /result/stopReason "end_turn"
`)
}

// TestD10_KilledBetweenToolAndAnswer: the steps of the turn are there.
func TestD10_KilledBetweenToolAndAnswer(t *testing.T) {
	t.Parallel()
	playCase(t, directLane, `
write ws/a.txt "alpha\n"
open
begin Read it.
reach never
kill
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
update user_message_chunk /content/text "Read it."
update tool_call /locations/0/path "$WORK/ws/a.txt"
update tool_call_update /status "completed"
prompt Well?
asked /messages/*/tool_calls/0/function/name "read_file"
asked /messages/*/content has alpha
expect /result/stopReason "end_turn"
-- reply --
call read_file {"path": "a.txt"}
-- reply --
gate never
text Never said.
-- reply --
text It is alpha.
`, nil)
}

func TestD18_SessionsEndWithTheirClient(t *testing.T) {
	t.Parallel()
	const ended = "ended: user_exit"
	d := startDialogue(t, llmtest.Start(t, `
-- reply --
text Hello.
-- reply --
text Still here.
-- reply --
text Slowly
gate never
`))
	step := func(script string, over bool) {
		t.Helper()
		d.mustRun(t, script)
		if text := d.shown(t); strings.Contains(text, ended) != over {
			t.Errorf("after %q sessions show says\n%s", script, text)
		}
	}
	const load = `
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}`
	step("open\nprompt hi", false)
	step(`call session/close {"sessionId":"$SESSION"}`, true)
	step(load, false)
	step("prompt more", false)
	step("stop", true)
	step("hello"+load, false)
	step("begin on and on\nuntil Slowly\nstop", true)
}

// Two windows have the same conversation: one runs it, the other is told so, and
// goes on with all of it afterwards.
func TestOneProcessRunsASession(t *testing.T) {
	t.Parallel()
	d := startDialogue(t, llmtest.Start(t, `
-- reply --
text One.
-- reply --
text Half of two
gate never
-- reply --
text Three.
`))
	d.mustRun(t, "open\nprompt First\nbegin Second\nuntil Half of two")
	other := newDialogue(d.state, d.work, d.env)
	other.session = d.session
	t.Cleanup(other.abandon)
	other.mustRun(t, `
hello
call session/load {"sessionId":"$SESSION","cwd":"$WORK/ws","mcpServers":[]}
text has One.
prompt Third
expect /error/message has running in another window
call session/delete {"sessionId":"$SESSION"}
expect /error/message has running in another window
`)
	d.mustRun(t, "stop")
	other.mustRun(t, `
prompt Third
expect /result/stopReason "end_turn"
asked /messages/*/content "Half of two"
asked /messages/*/content "Third"
stop
`)
}

func TestTitleByAModel(t *testing.T) {
	t.Parallel()
	playCase(t, directLane, `
write home/.hermes/config.yaml "auxiliary:\n  title_generation:\n    model: test-model\n"
open
prompt Rename parse
update session_info_update /title "From parse to decode"
call session/list {}
expect /result/sessions/0/title "From parse to decode"
-- reply --
text Done.
-- reply --
text From parse to decode
`, nil)
}
