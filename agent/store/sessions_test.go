package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent"
)

func at(m agent.Message, seconds int) agent.Message {
	m.Time = time.Unix(int64(seconds), 0)
	return m
}

func listIDs(t *testing.T, db *DB, f agent.SessionFilter) (ids []string, next string) {
	t.Helper()
	page, err := db.ListSessions(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range page.Sessions {
		ids = append(ids, s.ID)
	}
	return ids, page.Next
}

func TestListPages(t *testing.T) {
	db := openIn(t, t.TempDir())
	var want []string
	for i := range 55 {
		id := fmt.Sprintf("s%02d", i)
		newSession(t, db, id)
		// Two of each five were active in the same second.
		appendAll(t, db, id, true, at(user("q"), 1000+i*4/5), at(assistant("a"), 1000+i*4/5))
		want = append(want, id)
	}
	newSession(t, db, "empty")
	slices.Reverse(want)

	first, next := listIDs(t, db, agent.SessionFilter{})
	if len(first) != 50 || next == "" {
		t.Fatalf("first page: %d sessions, next %q", len(first), next)
	}
	// A session that moves to the top meanwhile is not shown twice.
	appendAll(t, db, "s01", true, at(user("q"), 2000), at(assistant("a"), 2000))
	second, next := listIDs(t, db, agent.SessionFilter{Cursor: next})
	if next != "" {
		t.Errorf("the last page has a cursor %q", next)
	}
	want = slices.DeleteFunc(want, func(id string) bool { return id == "s01" })
	if diff := cmp.Diff(want, append(first, second...)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if top, _ := listIDs(t, db, agent.SessionFilter{Limit: 1}); !slices.Equal(top, []string{"s01"}) {
		t.Errorf("top of the list: %q", top)
	}
	for _, bad := range []string{"s01", "!", "AAAA", next + "x"} {
		if _, err := db.ListSessions(t.Context(), agent.SessionFilter{Cursor: bad}); !errors.Is(err, agent.ErrBadCursor) {
			t.Errorf("cursor %q: %v", bad, err)
		}
	}
}

func TestListFiltersByCwd(t *testing.T) {
	db := openIn(t, t.TempDir())
	for i, cwd := range []string{"/a", "/b", "/a"} {
		id := fmt.Sprintf("s%d", i)
		if err := db.CreateSession(t.Context(), agent.SessionRecord{ID: id, Cwd: cwd}); err != nil {
			t.Fatal(err)
		}
		appendAll(t, db, id, true, at(user("q"), i+1), at(assistant("a"), i+1))
	}
	in := func(cwd string) func(string) bool { return func(c string) bool { return c == cwd } }
	first, next := listIDs(t, db, agent.SessionFilter{Cwd: in("/a"), Limit: 1})
	second, end := listIDs(t, db, agent.SessionFilter{Cwd: in("/a"), Limit: 1, Cursor: next})
	if diff := cmp.Diff([]string{"s2", "s0", ""}, append(append(first, second...), end)); diff != "" {
		t.Error(diff)
	}
	if none, _ := listIDs(t, db, agent.SessionFilter{Cwd: in("/c")}); none != nil {
		t.Errorf("sessions of no folder: %q", none)
	}
}

func TestListTitles(t *testing.T) {
	db := openIn(t, t.TempDir())
	for i, tt := range []struct{ title, cwd, prompt, want string }{
		{"Mine", "/w", "q", "Mine"},
		{"", "/w", "fix\n  the   tests", "fix the tests"},
		{"", "/home/u/project", "", "project"},
		{"", `C:\work\thing`, "", "thing"},
		{"", "/", "", "New thread"},
		{"", "/w", string(make([]rune, 0)) + "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890", "0123456789012345678901234567890123456789012345678901234567890123456789012345678…"},
	} {
		id := fmt.Sprintf("s%d", i)
		if err := db.CreateSession(t.Context(), agent.SessionRecord{ID: id, Cwd: tt.cwd, Title: tt.title}); err != nil {
			t.Fatal(err)
		}
		appendAll(t, db, id, true, user(tt.prompt), assistant("a"))
		page, err := db.ListSessions(t.Context(), agent.SessionFilter{Limit: 1})
		if err != nil || page.Sessions[0].Title != tt.want {
			t.Errorf("%+v: %+v, %v", tt, page, err)
		}
	}
}

// TestListTakesNews lists what Hermes did to the file meanwhile.
func TestListTakesNews(t *testing.T) {
	dir := t.TempDir()
	db := openIn(t, dir)
	for _, id := range []string{"a", "b"} {
		newSession(t, db, id)
		appendAll(t, db, id, true, at(user("q "+id), 100), at(assistant("a"), 100))
	}
	check := func(want ...string) {
		t.Helper()
		if got, _ := listIDs(t, db, agent.SessionFilter{}); !slices.Equal(got, want) {
			t.Errorf("listed %q, want %q", got, want)
		}
	}
	check("b", "a")
	execute(t, dir, `INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'from Hermes', 200)`)
	check("a", "b")
	execute(t, dir, `INSERT INTO sessions (id, source, model_config, started_at) VALUES ('h', 'acp', '{"cwd":"/h"}', 1), ('c', 'cli', NULL, 1);
		INSERT INTO messages (session_id, role, content, timestamp) VALUES ('h', 'user', 'hello', 300), ('c', 'user', 'cli', 400)`)
	check("h", "a", "b")
	// Our own turns between do not hide what came before them.
	execute(t, dir, `INSERT INTO messages (session_id, role, content, timestamp) VALUES ('b', 'user', 'from Hermes', 500)`)
	newSession(t, db, "d")
	appendAll(t, db, "d", true, at(user("q"), 450), at(assistant("a"), 450))
	check("b", "d", "h", "a")
	execute(t, dir, `DELETE FROM messages WHERE session_id = 'h'; DELETE FROM sessions WHERE id = 'h'`)
	check("b", "d", "a")
}

func TestDeleteLeavesTheRest(t *testing.T) {
	dir := t.TempDir()
	db := openIn(t, dir)
	for _, id := range []string{"s1", "s2"} {
		newSession(t, db, id)
		appendAll(t, db, id, true, user("walrus "+id), assistant("a"))
		if err := db.RecordAction(t.Context(), agent.Action{SessionID: id, CallID: "c"}); err != nil {
			t.Fatal(err)
		}
	}
	execute(t, dir, `INSERT INTO sessions (id, source, parent_session_id, model_config, started_at) VALUES
			('d1', 'subagent', 's1', '{"_delegate_from":"s1"}', 1), ('cli', 'cli', NULL, NULL, 1);
		INSERT INTO messages (session_id, role, content, timestamp) VALUES ('d1', 'user', 'walrus delegated', 1), ('cli', 'user', 'walrus of the CLI', 1)`)
	for _, id := range []string{"s1", "s1", "nope", "cli"} {
		if err := db.DeleteSession(t.Context(), id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	hits, err := db.Search(t.Context(), agent.SearchQuery{Text: "walrus"})
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, h := range hits {
		left = append(left, h.SessionID)
	}
	slices.Sort(left)
	if diff := cmp.Diff([]string{"cli", "s2"}, left); diff != "" {
		t.Errorf("still found (-want +got):\n%s", diff)
	}
	if actions, err := db.Actions(t.Context(), "s1"); err != nil || actions != nil {
		t.Errorf("actions are left: %v, %v", actions, err)
	}
	if actions, err := db.Actions(t.Context(), "s2"); err != nil || len(actions) != 1 {
		t.Errorf("actions of the other session: %v, %v", actions, err)
	}
}

func TestD18_SessionsEnd(t *testing.T) {
	dir := t.TempDir()
	db := openIn(t, dir)
	const ended = `SELECT (ended_at IS NOT NULL) || coalesce(end_reason, '') FROM sessions WHERE id = 's1'`
	check := func(want string) {
		t.Helper()
		if got := query(t, dir, ended); got != want {
			t.Errorf("end mark %q, want %q", got, want)
		}
	}
	newSession(t, db, "s1")
	for range 5 {
		appendAll(t, db, "s1", true, user("q"), assistant("a"))
		check("0")
		for range 2 {
			if err := db.EndSession(t.Context(), "s1"); err != nil {
				t.Fatal(err)
			}
			check("1user_exit")
		}
	}
	rec, err := db.Session(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if err := db.UpdateSession(t.Context(), rec); err != nil { // it is loaded
		t.Fatal(err)
	}
	check("0")
	if err := db.Compact(t.Context(), "s1", []agent.Message{user("so far"), assistant("ok")}, false); err != nil {
		t.Fatal(err)
	}
	check("1compression")
	if err := errors.Join(db.UpdateSession(t.Context(), rec), db.EndSession(t.Context(), "s1")); err != nil {
		t.Fatal(err)
	}
	check("1compression") // the mark that binds the conversation together stays
}

func TestActionsRoundTrip(t *testing.T) {
	dir := t.TempDir()
	db := openIn(t, dir)
	want := []agent.Action{
		{SessionID: "s1", CallID: "c1", Tool: "write_file", Paths: []string{"/a", "/b c"}, Grant: agent.GrantPerson, Started: time.Unix(1, 0).UTC(), Ended: time.Unix(2, 5000).UTC()},
		{SessionID: "s1", CallID: "c2", Tool: "terminal", Paths: []string{}, Command: "go test", Grant: agent.GrantRule, Failure: "exit 1", Started: time.Unix(3, 0).UTC(), Ended: time.Unix(4, 0).UTC()},
	}
	for _, a := range want {
		if err := db.RecordAction(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	got, err := openIn(t, dir).Actions(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRules(t *testing.T) {
	dir := t.TempDir()
	db := openIn(t, dir)
	var _ agent.Rules = db
	for _, r := range []agent.Rule{
		{Dir: "/a", Words: []string{"go", "test"}, Allow: true},
		{Dir: "/a", Words: []string{"go test"}, Allow: true},
		{Dir: "/b", Words: []string{"go", "test"}, Allow: true},
		{Dir: "/a", External: "mcp_x", Allow: true},
		{Dir: "/a", Words: []string{"go", "test"}}, // replaces the first
	} {
		if err := db.AddRule(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	want := []agent.Rule{
		{ID: 1, Dir: "/a", Words: []string{"go", "test"}},
		{ID: 2, Dir: "/a", Words: []string{"go test"}, Allow: true},
		{ID: 4, Dir: "/a", External: "mcp_x", Allow: true},
	}
	got, err := openIn(t, dir).Rules(t.Context(), "/a")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if all, err := db.AllRules(t.Context()); err != nil || len(all) != 4 {
		t.Errorf("all rules: %v, %v", all, err)
	}
	for _, want := range []bool{true, false} {
		if found, err := db.RemoveRule(t.Context(), 2); err != nil || found != want {
			t.Errorf("removed %v, %v; want %v", found, err, want)
		}
	}
	if got, err := db.Rules(t.Context(), "/a"); err != nil || len(got) != 2 {
		t.Errorf("after removal: %v, %v", got, err)
	}
}
