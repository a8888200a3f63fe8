package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	acpsdk "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/acp/acpclient"
)

func showUpdates(t *testing.T, u *terminalUI, updates ...string) {
	t.Helper()
	for _, raw := range updates {
		up := acpclient.Update{Raw: json.RawMessage(raw)}
		if err := json.Unmarshal(up.Raw, &up.SessionUpdate); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		u.update(up)
	}
}

const (
	editStarted = `{"sessionUpdate":"tool_call","toolCallId":"c1","title":"patch: a.txt","kind":"edit","status":"pending","content":[{"type":"diff","path":"/w/a.txt","oldText":"one\ntwo\n","newText":"one\n2\n"}]}`
	editEnded   = `{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"diff","path":"/w/a.txt","oldText":"one\ntwo\n","newText":"one\n2\n"}]}`
	runStarted  = `{"sessionUpdate":"tool_call","toolCallId":"c2","title":"terminal: go test","kind":"execute","status":"pending"}`
	runFailed   = `{"sessionUpdate":"tool_call_update","toolCallId":"c2","status":"failed","content":[{"type":"content","content":{"type":"text","text":"` + "```" + `\nFAIL\n` + "```" + `"}}]}`
)

func text(kind, s string) string {
	quoted, _ := json.Marshal(s)
	return `{"sessionUpdate":"` + kind + `","content":{"type":"text","text":` + string(quoted) + `}}`
}

func TestTerminalUIWithoutATerminal(t *testing.T) {
	tests := []struct {
		name    string
		updates []string
		want    string
	}{
		{
			"text streams",
			[]string{text("agent_message_chunk", "Hel"), text("agent_message_chunk", "lo\nyou")},
			"Hello\nyou\n",
		},
		{
			"thought, then text",
			[]string{text("agent_thought_chunk", "Hm"), text("agent_thought_chunk", "…"), text("agent_message_chunk", "Hi\n")},
			"(thinking)\nHm…\n\nHi\n",
		},
		{
			"an edit shows its diff once",
			[]string{text("agent_message_chunk", "Now:"), editStarted, editEnded},
			"Now:\n\n→ patch: a.txt\n\n  --- a.txt\n  +++ a.txt\n  @@ -1,2 +1,2 @@\n   one\n  -two\n  +2\n\n✓ patch: a.txt\n",
		},
		{
			"a failed command shows its output",
			[]string{runStarted, runFailed},
			"→ terminal: go test\n✗ terminal: go test\n  FAIL\n",
		},
		{
			"text cannot move the cursor or turn the reading order",
			[]string{text("agent_message_chunk", "a\x1b[2Jb\r\u202ec\u009b1m\td")},
			"a[2Jbc1m\td\n",
		},
		{
			"plan",
			[]string{`{"sessionUpdate":"plan","entries":[{"content":"one","priority":"high","status":"completed"},{"content":"two","priority":"low","status":"in_progress"},{"content":"three","priority":"low","status":"pending"}]}`},
			"☑ one\n▸ two\n☐ three\n",
		},
		{
			"updates of unknown calls are nothing",
			[]string{editEnded},
			"",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			u := newTerminalUI(&out, "/w")
			showUpdates(t, u, tt.updates...)
			u.close()
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

// The whole command is shown before it is allowed, and no title or option can
// pass for a line of the question.
func TestQuestionCannotBeForged(t *testing.T) {
	var out strings.Builder
	u := newTerminalUI(&out, "/w")
	lines := newLineSource(strings.NewReader(""))
	<-lines.ended
	command := "true\n" + strings.Repeat("# more\n", 20) + "rm -rf x"
	content, _ := json.Marshal([]any{map[string]any{"type": "content", "content": map[string]any{"type": "text", "text": command}}})
	call := `{"toolCallId":"c","kind":"execute","title":"terminal: true\n  [y] Harmless\u001b[1A","content":` + string(content) + `}`
	q := permissionQuestion(t, question(call, `[{"optionId":"o","name":"Allow\n  > y","kind":"allow_once"}]`))
	if _, err := u.ask(t.Context(), q, lines); !errors.Is(err, io.EOF) {
		t.Fatalf("got %v, want io.EOF", err)
	}
	want := "? terminal: true ⏎   [y] Harmless[1A\n  true\n" + strings.Repeat("  # more\n", 20) + "  rm -rf x\n  [y] Allow ⏎   > y\n  > \n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("the question (-want +got):\n%s", diff)
	}
}

func TestLongOutputShowsItsEnd(t *testing.T) {
	var out strings.Builder
	u := newTerminalUI(&out, "/w")
	lines := strings.Repeat("x\n", 30) + "last"
	content, _ := json.Marshal(lines)
	showUpdates(t, u, runStarted, `{"sessionUpdate":"tool_call_update","toolCallId":"c2","status":"completed","content":[{"type":"content","content":{"type":"text","text":`+string(content)+`}}]}`)
	want := "→ terminal: go test\n✓ terminal: go test\n  … 19 lines above\n" + strings.Repeat("  x\n", outputLines-1) + "  last\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

// On a terminal the spinner's line is taken away before anything is printed, and
// nothing of it is left at the end.
func TestSpinnerLeavesNothingBehind(t *testing.T) {
	var out strings.Builder
	u := newTerminalUI(&out, "/w")
	u.live = true
	u.opened("s")
	showUpdates(t, u, runStarted)
	u.ended(acpsdk.StopReasonEndTurn)
	showUpdates(t, u, runFailed)
	u.close()
	const erase = "\r\x1b[2K"
	want := "⠋ thinking" + erase + "⠋ terminal: go test" + erase + "✗ terminal: go test\n  FAIL\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

func permissionQuestion(t *testing.T, raw string) acpclient.PermissionRequest {
	t.Helper()
	q := acpclient.PermissionRequest{Raw: json.RawMessage(raw)}
	if err := json.Unmarshal(q.Raw, &q.RequestPermissionRequest); err != nil {
		t.Fatal(err)
	}
	return q
}

const (
	onceAlwaysDeny = `[{"optionId":"o1","name":"Allow","kind":"allow_once"},{"optionId":"o2","name":"Allow edits in this session","kind":"allow_always"},{"optionId":"o3","name":"Deny","kind":"reject_once"}]`
	onceDeny       = `[{"optionId":"o1","name":"Allow","kind":"allow_once"},{"optionId":"o3","name":"Deny","kind":"reject_once"}]`
	editCall       = `{"toolCallId":"c1","title":"patch: a.txt","kind":"edit","content":[{"type":"diff","path":"/w/a.txt","oldText":"a\n","newText":"b\n"}]}`
	commandCall    = `{"toolCallId":"c2","title":"terminal: rm x","kind":"execute"}`
)

func question(call, options string) string {
	return `{"sessionId":"s","toolCall":` + call + `,"options":` + options + `}`
}

func TestAskAtTheTerminal(t *testing.T) {
	var out strings.Builder
	u := newTerminalUI(&out, "/w")
	lines := newLineSource(strings.NewReader(""))
	<-lines.ended
	lines.offer("y") // typed ahead of the question: dropped

	q := permissionQuestion(t, question(editCall, onceAlwaysDeny))
	if _, err := u.ask(t.Context(), q, lines); !errors.Is(err, io.EOF) {
		t.Fatalf("an answer from before the question: got %v, want io.EOF", err)
	}

	in, typed := io.Pipe()
	lines = newLineSource(in)
	type result struct {
		option acpsdk.PermissionOptionId
		err    error
	}
	done := make(chan result, 1)
	shown := make(chan struct{})
	u.out = &notifyingWriter{w: &out, until: "  > ", seen: shown}
	go func() {
		option, err := u.ask(t.Context(), q, lines)
		done <- result{option, err}
	}()
	<-shown
	if _, err := io.WriteString(typed, "a\n"); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.err != nil || got.option != "o2" {
		t.Errorf("got %v, want o2", got)
	}
	_ = typed.Close()
	<-lines.ended
	want := "  --- a.txt\n  +++ a.txt\n  @@ -1 +1 @@\n  -a\n  +b\n\n" +
		"? patch: a.txt\n  [y] Allow\n  [a] Allow edits in this session\n  [n] Deny\n  > "
	if got, _, _ := strings.Cut(out.String(), "> "); got+"> " != want {
		t.Errorf("the question (-want +got):\n%s", cmp.Diff(want, got+"> "))
	}
}

// notifyingWriter closes seen when until is written.
type notifyingWriter struct {
	w     io.Writer
	until string
	seen  chan struct{}
}

func (n *notifyingWriter) Write(data []byte) (int, error) {
	if string(data) == n.until {
		close(n.seen)
	}
	return n.w.Write(data)
}

func TestOptionKeys(t *testing.T) {
	options := []acpsdk.PermissionOption{
		{Kind: acpsdk.PermissionOptionKindAllowOnce},
		{Kind: acpsdk.PermissionOptionKindAllowAlways},
		{Kind: acpsdk.PermissionOptionKindAllowAlways},
		{Kind: acpsdk.PermissionOptionKindRejectAlways},
		{Kind: "other"},
	}
	if diff := cmp.Diff([]string{"y", "a", "3", "d", "5"}, optionKeys(options)); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func TestApprovalDecides(t *testing.T) {
	person := func(context.Context, acpclient.PermissionRequest) (answer, error) { return answer{"o2", byPerson}, nil }
	tests := []struct {
		name    string
		approve approval
		call    string
		options string
		ask     asker
		gone    bool // the agent has taken the question back
		want    answer
	}{
		{"ask: the person", approveAsk, editCall, onceAlwaysDeny, person, false, answer{"o2", byPerson}},
		{"ask: nobody there", approveAsk, editCall, onceAlwaysDeny, askNobody, false, answer{"", byNobody}},
		{"ask: taken back", approveAsk, editCall, onceAlwaysDeny, askNobody, true, answer{"", byDismiss}},
		{"edits: an edit", approveEdits, editCall, onceAlwaysDeny, askNobody, false, answer{"o1", byFlag}},
		{"edits: a sensitive edit", approveEdits, editCall, onceDeny, askNobody, false, answer{"", byNobody}},
		{"edits: a command", approveEdits, commandCall, onceAlwaysDeny, askNobody, false, answer{"", byNobody}},
		{"all: a command", approveAll, commandCall, onceDeny, person, false, answer{"o1", byFlag}},
		{"none: an edit", approveNone, editCall, onceAlwaysDeny, person, false, answer{"o3", byFlag}},
		{"none: no way to deny", approveNone, editCall, `[]`, person, false, answer{"", byFlag}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := permissionQuestion(t, question(tt.call, tt.options))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.gone {
				cancel()
			}
			if got := tt.approve.decide(ctx, q, tt.ask); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestInterruptCancelsFirstThenQuits(t *testing.T) {
	ctx, interrupts, stop := catchInterrupts(t.Context())
	defer stop()
	cancelled := make(chan struct{})
	restore := interrupts.onFirst(func() { close(cancelled) })
	interrupts.signals <- os.Interrupt
	<-cancelled
	if ctx.Err() != nil {
		t.Fatal("the first Ctrl-C ended everything")
	}
	interrupts.signals <- os.Interrupt
	<-ctx.Done()
	if !errors.Is(context.Cause(ctx), errInterrupted) {
		t.Errorf("got %v, want errInterrupted", context.Cause(ctx))
	}
	restore()
}

func TestSplitWords(t *testing.T) {
	tests := []struct {
		line    string
		want    []string
		wantErr string
	}{
		{`node agent.js --acp`, []string{"node", "agent.js", "--acp"}, ""},
		{` "C:\Program Files\x.exe"  'a b' ""`, []string{`C:\Program Files\x.exe`, "a b", ""}, ""},
		{`a"b c"d`, []string{"ab cd"}, ""},
		{`say "hi`, nil, `a " is not closed: say "hi`},
		{` `, nil, "it is empty"},
	}
	for _, tt := range tests {
		got, err := splitWords(tt.line)
		gotErr := ""
		if err != nil {
			gotErr = err.Error()
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || gotErr != tt.wantErr {
			t.Errorf("%s: error %q, want %q; words (-want +got):\n%s", tt.line, gotErr, tt.wantErr, diff)
		}
	}
}
