package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent"
)

func TestCompactionKeepsOneConversation(t *testing.T) {
	for _, inPlace := range []bool{false, true} {
		t.Run(fmt.Sprintf("in place %v", inPlace), func(t *testing.T) {
			dir := t.TempDir()
			db := openIn(t, dir)
			if err := db.CreateSession(t.Context(), agent.SessionRecord{ID: "s1", Cwd: "/work", Title: "Long talk", Mode: agent.ModePlan}); err != nil {
				t.Fatal(err)
			}
			appendAll(t, db, "s1", true, user("walrus"), assistant("a"))
			summary := user("so far")
			summary.Summary = true
			for range 2 {
				if err := db.Compact(t.Context(), "s1", []agent.Message{summary, assistant("ok")}, inPlace); err != nil {
					t.Fatal(err)
				}
			}
			// In the middle of a turn, which goes on behind it.
			appendAll(t, db, "s1", false, user("q2"))
			if err := db.Compact(t.Context(), "s1", []agent.Message{summary, assistant("ok"), user("q2")}, inPlace); err != nil {
				t.Fatal(err)
			}
			appendAll(t, db, "s1", true, assistant("a2"))

			want := []string{"user: so far", "assistant: ok", "user: q2", "assistant: a2"}
			for _, db := range []*DB{db, openIn(t, dir)} {
				msgs := messagesOf(t, db, "s1")
				if diff := cmp.Diff(want, lines(msgs)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if !msgs[0].Summary {
					t.Error("the summary lost its mark")
				}
			}
			rec, err := db.Session(t.Context(), "s1")
			if err != nil || rec.Title != "Long talk" || rec.Mode != agent.ModePlan || rec.Cwd != "/work" {
				t.Errorf("record: %+v, %v", rec, err)
			}
			page, err := db.ListSessions(t.Context(), agent.SessionFilter{})
			if err != nil || len(page.Sessions) != 1 || page.Sessions[0].ID != "s1" || page.Sessions[0].Title != "Long talk" {
				t.Errorf("list: %+v, %v", page, err)
			}
			p, err := db.Provenance(t.Context(), "s1", "s1")
			if err != nil {
				t.Fatal(err)
			}
			depth, kind := 3, agent.KindContinuation
			if inPlace {
				depth, kind = 0, agent.KindRoot
			}
			if p.Root != "s1" || p.CompressionDepth != depth || p.Kind != kind || (p.Reason == "compression") == inPlace {
				t.Errorf("provenance: %+v", p)
			}
			if diff := cmp.Diff(p.Current, page.Sessions[0].Provenance.Current); diff != "" {
				t.Errorf("the list knows another provenance: %s", diff)
			}
			hits, err := db.Search(t.Context(), agent.SearchQuery{Text: "walrus"})
			if err != nil || len(hits) != 1 || hits[0].SessionID != "s1" {
				t.Errorf("what was put away is not found: %+v, %v", hits, err)
			}
			if _, err := db.SetTitle(t.Context(), "s1", "New name"); err != nil {
				t.Error(err)
			}
			if rec, err := db.Session(t.Context(), "s1"); err != nil || rec.Title != "New name" {
				t.Errorf("renamed: %q, %v", rec.Title, err)
			}
			if err := db.DeleteSession(t.Context(), "s1"); err != nil {
				t.Fatal(err)
			}
			for _, table := range []string{"sessions", "messages", "messages_fts", "acp_sessions", "acp_messages", "acp_turn"} {
				if n := query(t, dir, "SELECT count(*) FROM "+table); n != "0" {
					t.Errorf("%s rows are left in %s", n, table)
				}
			}
		})
	}
}

// TestCompactionLetsTheSessionGo compacts between two turns: another process may
// run the session then.
// Hermes keeps in model_config what it needs to go on with a session.
func TestCompactionKeepsTheSettingsOfHermes(t *testing.T) {
	for _, tt := range []struct{ config, want string }{
		{`{"cwd":"/work","provider":"openrouter","_branched_from":"s0"}`, `{"cwd":"/work","provider":"openrouter"}`},
		{`{"cwd":`, ""},
	} {
		dir := t.TempDir()
		db := openIn(t, dir)
		newSession(t, db, "s1")
		appendAll(t, db, "s1", true, user("q"), assistant("a"))
		execute(t, dir, `UPDATE sessions SET model_config = ?`, tt.config)
		if err := db.Compact(t.Context(), "s1", []agent.Message{user("q")}, false); err != nil {
			t.Fatal(err)
		}
		if got := query(t, dir, `SELECT coalesce(model_config, '') FROM sessions WHERE parent_session_id = 's1'`); got != tt.want {
			t.Errorf("after %s the child has %s", tt.config, got)
		}
	}
}

func TestCompactionLetsTheSessionGo(t *testing.T) {
	dir := t.TempDir()
	here, there := openIn(t, dir), openIn(t, dir)
	newSession(t, here, "s1")
	appendAll(t, here, "s1", true, user("q"), assistant("a"))
	if err := here.Compact(t.Context(), "s1", []agent.Message{user("so far"), assistant("ok")}, false); err != nil {
		t.Fatal(err)
	}
	appendAll(t, there, "s1", true, user("q2"), assistant("a2"))
}

func TestForksAreSessionsOfTheirOwn(t *testing.T) {
	dir := t.TempDir()
	db := openIn(t, dir)
	newSession(t, db, "s1")
	failed := result("c", "no")
	failed.Failed = true
	appendAll(t, db, "s1", true, user("q"), calls("c"), failed, assistant("a"))
	appendAll(t, db, "s1", false, user("unfinished"))
	if err := db.ForkSession(t.Context(), "s1", agent.SessionRecord{ID: "f1", Cwd: "/fork", Title: "Fork"}); err != nil {
		t.Fatal(err)
	}
	appendAll(t, db, "f1", true, user("mine"), assistant("yours"))
	want := []string{"user: q", "assistant:  call c", "tool: no for c failed", "assistant: a", "user: mine", "assistant: yours"}
	if diff := cmp.Diff(want, lines(messagesOf(t, db, "f1"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Compaction of the original does not make the fork its continuation.
	appendAll(t, db, "s1", true, assistant("b"))
	if err := db.Compact(t.Context(), "s1", []agent.Message{user("so far"), assistant("ok")}, false); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"user: so far", "assistant: ok"}, lines(messagesOf(t, db, "s1"))); diff != "" {
		t.Errorf("the original (-want +got):\n%s", diff)
	}
	p, err := db.Provenance(t.Context(), "f1", "")
	if err != nil {
		t.Fatal(err)
	}
	wantP := agent.Provenance{SessionID: "f1", Current: "f1", Root: "s1", Parent: "s1", Kind: agent.KindRoot, CompressionDepth: 1}
	if diff := cmp.Diff(wantP, p); diff != "" {
		t.Errorf("provenance (-want +got):\n%s", diff)
	}
	if ids, _ := listIDs(t, db, agent.SessionFilter{}); len(ids) != 2 {
		t.Errorf("listed %q", ids)
	}
	if err := db.DeleteSession(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, lines(messagesOf(t, db, "f1"))); diff != "" {
		t.Errorf("after the original was deleted (-want +got):\n%s", diff)
	}
	if err := db.ForkSession(t.Context(), "nope", agent.SessionRecord{ID: "f2"}); !errors.Is(err, agent.ErrUnknownSession) {
		t.Errorf("fork of nothing: %v", err)
	}
}

func TestD20_BrokenLineageInTheFile(t *testing.T) {
	dir := t.TempDir()
	db := openIn(t, dir)
	for _, id := range []string{"missing", "self", "loop1", "loop2"} {
		newSession(t, db, id)
		appendAll(t, db, id, true, user("q"), assistant("a"))
	}
	execute(t, dir, `PRAGMA foreign_keys = OFF;
		UPDATE sessions SET parent_session_id = 'gone' WHERE id = 'missing';
		UPDATE sessions SET parent_session_id = 'self', end_reason = 'compression', ended_at = 1 WHERE id = 'self';
		UPDATE sessions SET parent_session_id = 'loop2', end_reason = 'compression', ended_at = 1 WHERE id = 'loop1';
		UPDATE sessions SET parent_session_id = 'loop1', end_reason = 'compression', ended_at = 1 WHERE id = 'loop2'`)
	for id, want := range map[string]agent.LineageBreak{"missing": agent.LineageMissing, "self": agent.LineageCycle, "loop1": agent.LineageCycle, "loop2": agent.LineageCycle} {
		p, err := db.Provenance(t.Context(), id, "")
		if err != nil || p.Break != want {
			t.Errorf("%s: %+v, %v", id, p, err)
		}
		if _, err := db.Messages(t.Context(), id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	page, err := db.ListSessions(t.Context(), agent.SessionFilter{})
	if err != nil || len(page.Sessions) != 4 {
		t.Errorf("list: %+v, %v", page, err)
	}
	broken, err := db.BrokenLineages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"session loop1: a session is its own ancestor", "session loop2: a session is its own ancestor",
		"session missing: a parent is missing (gone)", "session self: a session is its own ancestor",
	}
	if diff := cmp.Diff(want, broken); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if damage, err := db.Damage(t.Context()); err != nil || len(damage) > 0 {
		t.Errorf("damage: %q, %v", damage, err)
	}
	if err := db.DeleteSession(t.Context(), "loop1"); err != nil {
		t.Error(err)
	}
}

func TestTranscriptAndFamily(t *testing.T) {
	dir := t.TempDir()
	db := openIn(t, dir)
	newSession(t, db, "s1")
	appendAll(t, db, "s1", true, user("one"), assistant("a"))
	if err := db.Compact(t.Context(), "s1", []agent.Message{user("so far"), assistant("ok")}, true); err != nil {
		t.Fatal(err)
	}
	if err := db.Compact(t.Context(), "s1", []agent.Message{user("still"), assistant("ok")}, false); err != nil {
		t.Fatal(err)
	}
	if err := db.ForkSession(t.Context(), "s1", agent.SessionRecord{ID: "fork", Title: "Fork"}); err != nil {
		t.Fatal(err)
	}
	segments, err := db.Transcript(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range segments {
		got = append(got, "ended by "+s.EndReason)
		for _, m := range s.Messages {
			got = append(got, fmt.Sprintf("%s, put away %v", m.Text(), m.PutAway))
		}
	}
	want := []string{
		"ended by compression", "one, put away true", "a, put away true", "so far, put away false", "ok, put away false",
		"ended by ", "still, put away false", "ok, put away false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, id := range []string{"s1", "fork"} {
		family, err := db.Family(t.Context(), id)
		if err != nil || len(family) != 3 || family[0].ID != "s1" || family[0].Messages != 4 || family[2].Title != "Fork" || !family[2].Branch {
			t.Errorf("family of %s: %+v, %v", id, family, err)
		}
	}
	if _, err := db.Transcript(t.Context(), "nope"); !errors.Is(err, agent.ErrUnknownSession) {
		t.Errorf("transcript of nothing: %v", err)
	}
	if _, err := db.Family(t.Context(), "nope"); !errors.Is(err, agent.ErrUnknownSession) {
		t.Errorf("family of nothing: %v", err)
	}
}

// TestManyRotations follows a conversation that was compacted more often than any
// walk of Hermes goes.
func TestManyRotations(t *testing.T) {
	db := openIn(t, t.TempDir())
	newSession(t, db, "s1")
	for range 120 {
		if err := db.Compact(t.Context(), "s1", []agent.Message{user("so far"), assistant("ok")}, false); err != nil {
			t.Fatal(err)
		}
	}
	appendAll(t, db, "s1", true, user("q"), assistant("a"))
	if n := len(messagesOf(t, db, "s1")); n != 4 {
		t.Errorf("%d messages, want 4", n)
	}
	p, err := db.Provenance(t.Context(), "s1", "")
	if err != nil || p.CompressionDepth != 100 || p.Break != agent.LineageTooLong {
		t.Errorf("%+v, %v", p, err)
	}
	if ids, _ := listIDs(t, db, agent.SessionFilter{}); !slices.Equal(ids, []string{"s1"}) {
		t.Errorf("listed %q", ids)
	}
}
