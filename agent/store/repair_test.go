package store

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hermes-acp/hermes-acp/agent"
)

func TestFillGaps(t *testing.T) {
	const answer = "assistant: " + noAnswer + " authored"
	missing := func(id string) string { return "tool: " + noResult + " for " + id + " failed" }
	for _, tt := range []struct {
		name string
		msgs []agent.Message
		want []string
	}{
		{"nothing", nil, nil},
		{"whole", []agent.Message{user("q"), calls("a"), result("a", "r"), assistant("x")}, []string{"user: q", "assistant:  call a", "tool: r for a", "assistant: x"}},
		{"open user row", []agent.Message{user("q"), user("again"), assistant("x")}, []string{"user: q", answer, "user: again", "assistant: x"}},
		{"user row at the end stays open", []agent.Message{user("q")}, []string{"user: q"}},
		{
			"call without result",
			[]agent.Message{user("q"), calls("a", "b"), result("b", "r"), user("again")},
			[]string{"user: q", "assistant:  call a call b", "tool: r for b", missing("a"), "user: again"},
		},
		{"calls at the end stay open", []agent.Message{user("q"), calls("a")}, []string{"user: q", "assistant:  call a"}},
		{"result without call", []agent.Message{user("q"), result("z", "r"), assistant("x")}, []string{"user: q", "assistant: x"}},
		{"result twice", []agent.Message{calls("a"), result("a", "1"), result("a", "2"), assistant("x")}, []string{"assistant:  call a", "tool: 1 for a", "assistant: x"}},
		{"guidance behind a result", []agent.Message{user("q"), calls("a"), result("a", "1"), user("left"), assistant("x")}, []string{"user: q", "assistant:  call a", "tool: 1 for a", "user: left", "assistant: x"}},
	} {
		if diff := cmp.Diff(tt.want, lines(fillGaps(tt.msgs))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestRepairedHistoryIsValid repairs any mixture of rows: afterwards each call has
// its result right behind it, no prompt is unanswered, and repairing again
// changes nothing.
func TestRepairedHistoryIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		msgs := rapid.SliceOf(rapid.Custom(func(t *rapid.T) agent.Message {
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				return user("q")
			case 1:
				return calls(rapid.SliceOfNDistinct(ids, 1, 3, rapid.ID[string]).Draw(t, "calls")...)
			case 2:
				return result(ids.Draw(t, "id"), "r")
			default:
				return assistant("x")
			}
		})).Draw(t, "messages")
		repaired := fillGaps(msgs)
		repaired = append(repaired, closeHistory(repaired)...)
		var open []string
		for i, m := range repaired {
			if m.Role == agent.RoleTool {
				at := slices.Index(open, m.ToolCallID)
				if at < 0 {
					t.Fatalf("row %d is the result of no call", i)
				}
				open = slices.Delete(open, at, at+1)
				continue
			}
			if len(open) > 0 {
				t.Fatalf("row %d comes before the results of %q", i, open)
			}
			if i > 0 && m.Role == agent.RoleUser && repaired[i-1].Role == agent.RoleUser {
				t.Fatalf("row %d follows an unanswered prompt", i)
			}
			for _, c := range m.ToolCalls {
				open = append(open, c.ID)
			}
		}
		if n := len(repaired); n > 0 && repaired[n-1].Role != agent.RoleAssistant {
			t.Fatal("the history ends on an open row")
		}
		again := fillGaps(repaired)
		again = append(again, closeHistory(again)...)
		if diff := cmp.Diff(repaired, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestHermesLeftATurnOpen(t *testing.T) {
	dir := t.TempDir()
	closed(t, dir)
	execute(t, dir, `INSERT INTO messages (session_id, role, content, tool_calls, timestamp) VALUES ('s1', 'user', 'q', NULL, 1),
		('s1', 'assistant', NULL, '[{"id":"a","type":"function","function":{"name":"read_file","arguments":"{}"}}]', 2)`)
	db := openIn(t, dir)
	want := []string{"user: q", "assistant:  call a", "tool: " + noResult + " for a failed", "assistant: " + noAnswer + " authored"}
	if diff := cmp.Diff(want, lines(messagesOf(t, db, "s1"))); diff != "" {
		t.Errorf("as it is read (-want +got):\n%s", diff)
	}
	if got := query(t, dir, "SELECT count(*) FROM messages"); got != "2" {
		t.Errorf("reading wrote: %s rows", got)
	}
	appendAll(t, db, "s1", true, user("go on"), assistant("yes"))
	want = append(want, "user: go on", "assistant: yes")
	if diff := cmp.Diff(want, lines(messagesOf(t, openIn(t, dir), "s1"))); diff != "" {
		t.Errorf("after another turn (-want +got):\n%s", diff)
	}
}

func TestClosedInTheMiddleOfATurn(t *testing.T) {
	dir := t.TempDir()
	db, err := helperDB(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	newSession(t, db, "s1")
	appendAll(t, db, "s1", false, user("q"))
	if err := errors.Join(db.SavePartial(t.Context(), "s1", assistant("ha")), db.Close()); err != nil {
		t.Fatal(err)
	}
	want := []string{"user: q", "assistant: ha interrupted"}
	if diff := cmp.Diff(want, lines(messagesOf(t, openIn(t, dir), "s1"))); diff != "" {
		t.Error(diff)
	}
}

func TestPartialAnswerIsReplacedByTheWhole(t *testing.T) {
	dir := t.TempDir()
	db := openIn(t, dir)
	newSession(t, db, "s1")
	appendAll(t, db, "s1", false, user("q"))
	for _, text := range []string{"a", "ab", "abc"} {
		if err := db.SavePartial(t.Context(), "s1", assistant(text)); err != nil {
			t.Fatal(err)
		}
		want := []string{"user: q", "assistant: " + text + " interrupted"}
		if diff := cmp.Diff(want, lines(messagesOf(t, db, "s1"))); diff != "" {
			t.Error(diff)
		}
	}
	appendAll(t, db, "s1", true, assistant("abcd"))
	if diff := cmp.Diff([]string{"user: q", "assistant: abcd"}, lines(messagesOf(t, db, "s1"))); diff != "" {
		t.Error(diff)
	}
}

func TestSessionRunsInOneProcess(t *testing.T) {
	dir := t.TempDir()
	here := openIn(t, dir)
	there, err := open(t.Context(), Options{Dir: dir, Log: slog.New(slog.DiscardHandler)}, machine{stat: statFileSystem, busyTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, there)
	newSession(t, here, "s1")
	newSession(t, here, "s2")
	appendAll(t, here, "s1", false, user("q"))

	err = there.Append(t.Context(), "s1", false, user("mine"))
	if !errors.Is(err, agent.ErrSessionRunning) {
		t.Fatalf("a second process wrote into a running session: %v", err)
	}
	if err := there.DeleteSession(t.Context(), "s1"); !errors.Is(err, agent.ErrSessionRunning) {
		t.Errorf("a second process deleted a running session: %v", err)
	}
	if diff := cmp.Diff([]string{"user: q"}, lines(messagesOf(t, there, "s1"))); diff != "" {
		t.Errorf("the running turn as the other process sees it:\n%s", diff)
	}
	appendAll(t, there, "s2", true, user("other"), assistant("session"))
	appendAll(t, here, "s1", true, assistant("a"))
	if err := there.Append(t.Context(), "s1", false, user("mine")); !errors.Is(err, agent.ErrSessionMoved) {
		t.Fatalf("a history that is no longer whole was added to: %v", err)
	}
	messagesOf(t, there, "s1")
	appendAll(t, there, "s1", true, user("mine"), assistant("yours"))
	if err := here.Append(t.Context(), "s1", false, user("q2")); !errors.Is(err, agent.ErrSessionMoved) {
		t.Fatalf("a history that is no longer whole was added to: %v", err)
	}
	want := []string{"user: q", "assistant: a", "user: mine", "assistant: yours"}
	if diff := cmp.Diff(want, lines(messagesOf(t, here, "s1"))); diff != "" {
		t.Error(diff)
	}
	appendAll(t, here, "s1", true, user("q2"), assistant("a2"))
}

// An editor that starts its agent anew comes before the old one is gone.
func TestEndingProcessHandsItsSessionOver(t *testing.T) {
	dir := t.TempDir()
	db := openIn(t, dir)
	child := start(t, "steps", dir, "s1")
	child.next(t)
	time.AfterFunc(200*time.Millisecond, func() { _ = child.cmd.Process.Kill() })
	appendAll(t, db, "s1", false, user("again"))
	want := slices.Concat(turnSteps()[0].left, []string{"user: again"})
	if diff := cmp.Diff(want, lines(messagesOf(t, db, "s1"))); diff != "" {
		t.Error(diff)
	}
}

// While one session is waited for, the others go on, and the wait can be ended.
func TestWaitForASessionHoldsNothing(t *testing.T) {
	dir := t.TempDir()
	here, there := openIn(t, dir), openIn(t, dir)
	newSession(t, here, "s1")
	newSession(t, here, "s2")
	appendAll(t, here, "s1", false, user("q"))
	ctx, cancel := context.WithCancelCause(t.Context())
	failed := make(chan error)
	go func() { failed <- there.Append(ctx, "s1", false, user("mine")) }()
	appendAll(t, there, "s2", true, user("other"), assistant("session"))
	stopped := errors.New("stopped")
	cancel(stopped)
	if err := <-failed; !errors.Is(err, stopped) && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A turn that could not be saved to its end keeps nobody from a session that is
// done with.
func TestEndedSessionIsLetGo(t *testing.T) {
	dir := t.TempDir()
	here, there := openIn(t, dir), openIn(t, dir)
	for _, id := range []string{"s1", "s2"} {
		newSession(t, here, id)
		appendAll(t, here, id, false, user("q"))
	}
	if err := here.EndSession(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	if err := here.DeleteSession(t.Context(), "s2"); err != nil {
		t.Error(err)
	}
	want := []string{"user: q", "assistant: " + noAnswer + " authored"}
	if diff := cmp.Diff(want, lines(messagesOf(t, there, "s1"))); diff != "" {
		t.Error(diff)
	}
	appendAll(t, there, "s1", true, user("on"), assistant("yes"))
}

func TestClockGoesBackwards(t *testing.T) {
	db := openIn(t, t.TempDir())
	newSession(t, db, "s1")
	for i := range 5 {
		q, a := user("q"+strings.Repeat("!", i)), assistant("a")
		q.Time = time.Date(2026, 1, 1, 0, 0, -i, 0, time.UTC)
		a.Time = q.Time.Add(-time.Hour)
		appendAll(t, db, "s1", true, q, a)
	}
	want := []string{"user: q", "assistant: a", "user: q!", "assistant: a", "user: q!!", "assistant: a", "user: q!!!", "assistant: a", "user: q!!!!", "assistant: a"}
	if diff := cmp.Diff(want, lines(messagesOf(t, db, "s1"))); diff != "" {
		t.Error(diff)
	}
}

// One row that cannot be read keeps neither the others nor the session shut.
func TestDamagedRowsShowWhatCanBeRead(t *testing.T) {
	dir := t.TempDir()
	db := openIn(t, dir)
	newSession(t, db, "s1")
	appendAll(t, db, "s1", true, user("q"), assistant("a"), user("q2"), assistant("a2"))
	execute(t, dir, `UPDATE messages SET tool_calls = '[{"id":' WHERE content = 'a'`)
	execute(t, dir, `UPDATE messages SET content = char(0) || 'json:[{' WHERE content = 'a2'`)
	want := []string{"user: q", "assistant: a", "user: q2", "assistant: " + partsPrefix + "[{"}
	if diff := cmp.Diff(want, lines(messagesOf(t, db, "s1"))); diff != "" {
		t.Error(diff)
	}
}
