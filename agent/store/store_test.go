package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hermes-acp/hermes-acp/agent"
)

// DB is what the domain asks for.
var _ agent.Store = (*DB)(nil)

func TestMain(m *testing.M) {
	if helper := os.Getenv(helperEnv); helper != "" {
		os.Exit(runHelper(helper))
	}
	goleak.VerifyTestMain(m)
}

func openIn(t *testing.T, dir string) *DB {
	t.Helper()
	db, err := Open(t.Context(), Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	closeAtEnd(t, db)
	return db
}

func closeAtEnd(t *testing.T, db *DB) {
	t.Helper()
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// newSession makes a session with the given id in /work.
func newSession(t *testing.T, db *DB, id string) {
	t.Helper()
	if err := db.CreateSession(t.Context(), agent.SessionRecord{ID: id, Cwd: "/work"}); err != nil {
		t.Fatal(err)
	}
}

func appendAll(t *testing.T, db *DB, id string, final bool, msgs ...agent.Message) {
	t.Helper()
	if err := db.Append(t.Context(), id, final, msgs...); err != nil {
		t.Fatal(err)
	}
}

func messagesOf(t *testing.T, db *DB, id string) []agent.Message {
	t.Helper()
	msgs, err := db.Messages(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return msgs
}

func user(text string) agent.Message      { return agent.TextMessage(agent.RoleUser, text) }
func assistant(text string) agent.Message { return agent.TextMessage(agent.RoleAssistant, text) }

func calls(ids ...string) agent.Message {
	m := agent.Message{Role: agent.RoleAssistant}
	for _, id := range ids {
		m.ToolCalls = append(m.ToolCalls, agent.ToolCall{ID: id, Name: "read_file", Arguments: `{"path":"a"}`})
	}
	return m
}

func result(id, text string) agent.Message {
	m := agent.TextMessage(agent.RoleTool, text)
	m.ToolCallID, m.ToolName = id, "read_file"
	return m
}

// lines renders messages as "role: text" for comparisons.
func lines(msgs []agent.Message) []string {
	var out []string
	for _, m := range msgs {
		line := string(m.Role) + ": " + m.Text()
		for _, c := range m.ToolCalls {
			line += " call " + c.ID
		}
		if m.ToolCallID != "" {
			line += " for " + m.ToolCallID
		}
		for mark, set := range map[string]bool{" failed": m.Failed, " authored": m.Authored, " interrupted": m.Interrupted} {
			if set {
				line += mark
			}
		}
		out = append(out, line)
	}
	return out
}

// plainly opens the file without the store.
func plainly(t *testing.T, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, FileName)+"?_txlock=immediate&_busy_timeout=5000")
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

// query reads one value from the file with a connection of its own.
func query(t *testing.T, dir, q string) (value string) {
	t.Helper()
	if err := plainly(t, dir).QueryRowContext(t.Context(), q).Scan(&value); err != nil {
		t.Fatal(q, err)
	}
	return value
}

func execute(t *testing.T, dir, q string, args ...any) {
	t.Helper()
	if _, err := plainly(t, dir).ExecContext(t.Context(), q, args...); err != nil {
		t.Fatal(q, err)
	}
}

func TestMessagesRoundTrip(t *testing.T) {
	when := time.Date(2026, 11, 30, 11, 35, 7, 123456000, time.UTC)
	full := []agent.Message{
		user("plain"),
		user(""),
		{Role: agent.RoleUser},
		user("line\nbreak, \x00 byte, \U0001F600, <b>&amp;</b>"),
		user("\x00json:[1]"),
		{Role: agent.RoleUser, Parts: []agent.Part{{Text: "look"}, {ImageURL: "data:image/png;base64,AAAA"}, {Text: "alt", ImageURL: "https://example.com/a.png"}}},
		{Role: agent.RoleUser, Parts: []agent.Part{{Text: "a"}, {Text: "b"}}},
		{
			Role: agent.RoleAssistant, Reasoning: "hm", Parts: []agent.Part{{Text: "I read"}},
			ToolCalls: []agent.ToolCall{{ID: "c1", Name: "read_file", Arguments: `{"path": "a<b"}`}, {ID: "c2", Name: "x", Arguments: "{not json \""}, {ID: "c3", Name: "y"}},
		},
		result("c1", "text"),
		{Role: agent.RoleTool, ToolCallID: "c2", ToolName: "x", Failed: true, Parts: []agent.Part{{Text: "no"}, {ImageURL: "data:image/png;base64,BB"}}},
		result("c3", "done"),
		{Role: agent.RoleAssistant, Authored: true, Parts: []agent.Part{{Text: "closed"}}},
		{Role: agent.RoleAssistant, Interrupted: true, Parts: []agent.Part{{Text: "half an ans"}}},
		{Role: agent.RoleAssistant, Summary: true, Parts: []agent.Part{{Text: "so far"}}},
		{Role: agent.RoleSystem, Parts: []agent.Part{{Text: "rules"}}},
	}
	// A user message is answered before the next one, so that nothing is filled in.
	var msgs []agent.Message
	for i, m := range full {
		m.Time = when.Add(time.Duration(i) * time.Microsecond)
		msgs = append(msgs, m)
		if m.Role == agent.RoleUser {
			msgs = append(msgs, agent.Message{Role: agent.RoleAssistant, Parts: []agent.Part{{Text: "ok"}}, Time: m.Time})
		}
	}

	dir := t.TempDir()
	db := openIn(t, dir)
	newSession(t, db, "s1")
	appendAll(t, db, "s1", false, msgs[:9]...)
	if diff := cmp.Diff(msgs[:9], messagesOf(t, db, "s1")); diff != "" {
		t.Errorf("while the turn runs (-want +got):\n%s", diff)
	}
	appendAll(t, db, "s1", true, msgs[9:]...)
	if diff := cmp.Diff(msgs, messagesOf(t, db, "s1")); diff != "" {
		t.Errorf("after the turn (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(msgs, messagesOf(t, openIn(t, dir), "s1")); diff != "" {
		t.Errorf("after reopening (-want +got):\n%s", diff)
	}
}

func TestInvalidUTF8IsReplaced(t *testing.T) {
	db := openIn(t, t.TempDir())
	newSession(t, db, "s1")
	appendAll(t, db, "s1", true, assistant("a\xffb"))
	if diff := cmp.Diff([]string{"assistant: a\uFFFDb"}, lines(messagesOf(t, db, "s1"))); diff != "" {
		t.Error(diff)
	}
}

func TestSessionRecordRoundTrip(t *testing.T) {
	dir := t.TempDir()
	db := openIn(t, dir)
	created := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want := agent.SessionRecord{
		ID: "s1", Cwd: "/home/u/p", Dirs: []string{"/a", "/b c"}, Mode: agent.ModeAcceptEdits,
		Model: "openrouter:x/y", Effort: "high", Title: "Fix the tests", CreatedAt: created, UpdatedAt: created,
	}
	if err := db.CreateSession(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	check := func(db *DB) {
		t.Helper()
		got, err := db.Session(t.Context(), "s1")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	check(db)
	want.Cwd, want.Dirs, want.Mode, want.Model, want.Effort, want.Title = "/elsewhere", []string{}, agent.ModePlan, "", "", "Other"
	if err := db.UpdateSession(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	check(db)
	check(openIn(t, dir))
	if got := query(t, dir, `SELECT json_extract(model_config, '$.cwd') FROM sessions`); got != "/elsewhere" {
		t.Errorf("Hermes would restore the session in %q", got)
	}
}

func TestUnknownSession(t *testing.T) {
	dir := t.TempDir()
	db := openIn(t, dir)
	newSession(t, db, "cli")
	execute(t, dir, `UPDATE sessions SET source = 'cli'`)
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"Session":          func() error { _, err := db.Session(ctx, "nope"); return err },
		"Session of a CLI": func() error { _, err := db.Session(ctx, "cli"); return err },
		"Messages":         func() error { _, err := db.Messages(ctx, "nope"); return err },
		"UpdateSession":    func() error { return db.UpdateSession(ctx, agent.SessionRecord{ID: "nope"}) },
		"Append":           func() error { return db.Append(ctx, "nope", false, user("x")) },
		"Append, final":    func() error { return db.Append(ctx, "nope", true, user("x")) },
		"EndSession":       func() error { return db.EndSession(ctx, "nope") },
		"SavePartial":      func() error { return db.SavePartial(ctx, "nope", assistant("x")) },
	} {
		if err := call(); !errors.Is(err, agent.ErrUnknownSession) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(dir, "acp-locks")); err != nil || len(left) > 0 {
		t.Errorf("locks left behind: %v %v", left, err)
	}
}

func TestTitlesAreUnique(t *testing.T) {
	db := openIn(t, t.TempDir())
	for _, tt := range []struct{ id, title, want string }{
		{"a", "Fix", "Fix"},
		{"b", " Fix\n", "Fix #2"},
		{"c", "Fix", "Fix #3"},
		{"d", "", ""},
		{"e", "", ""},
	} {
		if err := db.CreateSession(t.Context(), agent.SessionRecord{ID: tt.id, Title: tt.title}); err != nil {
			t.Fatal(err)
		}
		rec, err := db.Session(t.Context(), tt.id)
		if err != nil || rec.Title != tt.want {
			t.Errorf("%s: title %q, %v; want %q", tt.id, rec.Title, err, tt.want)
		}
		if err := db.UpdateSession(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		if again, err := db.Session(t.Context(), tt.id); err != nil || again.Title != tt.want {
			t.Errorf("%s: title %q after an update that kept it, want %q", tt.id, again.Title, tt.want)
		}
	}
}

func TestTitlesAreUniqueWithoutEveryNumber(t *testing.T) {
	db := openIn(t, t.TempDir())
	create := func(id, title string) string {
		t.Helper()
		if err := db.CreateSession(t.Context(), agent.SessionRecord{ID: id, Title: title}); err != nil {
			t.Fatal(err)
		}
		rec, err := db.Session(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return rec.Title
	}
	create("a", "Fix")
	create("b", "Fix")
	create("c", "Fix")
	if err := db.DeleteSession(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	create("d", "Fix #1 of the list")
	create("e", "Fixed")
	if got := create("f", "Fix"); got != "Fix #4" {
		t.Errorf("title %q", got)
	}
}

func TestFilesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	dir := filepath.Join(t.TempDir(), "home")
	db := openIn(t, dir)
	newSession(t, db, "s1")
	appendAll(t, db, "s1", false, user("secret"))
	for name, want := range map[string]os.FileMode{"": 0o700, "state.db": 0o600, "state.db-wal": 0o600, "state.db-shm": 0o600, "acp-locks": 0o700} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %o, want %o", name, got, want)
		}
	}

	open := filepath.Join(t.TempDir(), "open")
	if err := os.MkdirAll(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(open, FileName), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	openIn(t, open)
	if info, err := os.Stat(filepath.Join(open, FileName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a file that others could read has mode %v, %v", info.Mode(), err)
	}

	linked, target := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere.db")
	if err := os.Symlink(target, filepath.Join(linked, FileName)); err != nil {
		t.Fatal(err)
	}
	openIn(t, linked)
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file behind a link has mode %v, %v", info.Mode(), err)
	}
}

func TestOddPaths(t *testing.T) {
	for _, name := range []string{"a b", "50%25 off", "q?x=1&y", "hash#tag", "ünï", "semi;colon'quote"} {
		if runtime.GOOS == "windows" && strings.ContainsAny(name, "?") {
			continue
		}
		dir := filepath.Join(t.TempDir(), name)
		db := openIn(t, dir)
		newSession(t, db, "s1")
		if _, err := os.Stat(filepath.Join(dir, FileName)); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestConcurrentSessions(t *testing.T) {
	db := openIn(t, t.TempDir())
	ids := []string{"a", "b", "c", "d"}
	done := make(chan error)
	for _, id := range ids {
		newSession(t, db, id)
		go func() {
			var err error
			for range 20 {
				err = errors.Join(err, db.Append(t.Context(), id, false, user("q")), db.Append(t.Context(), id, true, assistant("a")))
				_, e := db.Messages(t.Context(), id)
				err = errors.Join(err, e)
			}
			done <- err
		}()
	}
	for range ids {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for _, id := range ids {
		if n := len(messagesOf(t, db, id)); n != 40 {
			t.Errorf("session %s has %d messages, want 40", id, n)
		}
	}
}

func TestCancelledContext(t *testing.T) {
	db := openIn(t, t.TempDir())
	newSession(t, db, "s1")
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("stopped")
	cancel(cause)
	if err := db.Append(ctx, "s1", false, user("x")); !errors.Is(err, cause) && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	appendAll(t, db, "s1", true, user("y"))
}

// TestImagesAreNotIndexed: Hermes' triggers would take seconds for an image.
func TestImagesAreNotIndexed(t *testing.T) {
	dir := t.TempDir()
	db := openIn(t, dir)
	newSession(t, db, "s1")
	image := agent.Message{Role: agent.RoleUser, Parts: []agent.Part{{Text: "look"}, {ImageURL: "data:image/png;base64,walrus"}}}
	appendAll(t, db, "s1", true, image, assistant("ok"))
	if got := query(t, dir, `SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'walrus'`); got != "0" {
		t.Errorf("%s search entries hold the image", got)
	}
	if err := db.ForkSession(t.Context(), "s1", agent.SessionRecord{ID: "f1"}); err != nil {
		t.Fatal(err)
	}
	if got := messagesOf(t, db, "f1")[0].Parts; got[1].ImageURL != "data:image/png;base64,walrus" || got[1].Text != "" {
		t.Errorf("the image in a fork: %+v", got)
	}
}

func TestAfterClose(t *testing.T) {
	db, err := helperDB(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	newSession(t, db, "s1")
	appendAll(t, db, "s1", false, user("q"))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"Append":      db.Append(t.Context(), "s1", true, assistant("a")),
		"SavePartial": db.SavePartial(t.Context(), "s1", assistant("a")),
		"EndSession":  db.EndSession(t.Context(), "s1"),
	} {
		if err == nil {
			t.Errorf("%s works on a closed store", name)
		}
	}
	if _, err := db.Messages(t.Context(), "s1"); err == nil {
		t.Error("Messages works on a closed store")
	}
}
