package store

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent"
)

func TestSearch(t *testing.T) {
	dir := t.TempDir()
	db := openIn(t, dir)
	call := calls("c1")
	call.ToolCalls[0].Arguments = `{"path":"nginx.conf"}`
	conversations := map[string][]agent.Message{
		"web":   {user("where is nginx configured?"), call, result("c1", "server { listen 8080; }"), assistant("In my-app.config.ts, see a<b>c")},
		"chat":  {user("rename chat-send"), assistant("Renamed it, and send chat too")},
		"cjk":   {user("数据库连接失败了"), assistant("请检查配置文件")},
		"quote": {user(`he said "hello world" twice`), assistant("100% of TODO: fix_me")},
	}
	for id, msgs := range conversations {
		newSession(t, db, id)
		appendAll(t, db, id, true, msgs...)
	}
	for _, tt := range []struct {
		text string
		want []string // session: role
	}{
		{"nginx", []string{"web: assistant", "web: user"}},
		{"NGINX configured", []string{"web: user"}},
		{"nginx OR renamed", []string{"chat: assistant", "web: assistant", "web: user"}},
		{"nginx NOT where", []string{"web: assistant"}},
		{"config*", []string{"web: assistant", "web: user"}},
		{"chat-send", []string{"chat: user"}},
		{"chat send", []string{"chat: assistant", "chat: user"}},
		{"my-app.config.ts", []string{"web: assistant"}},
		{`"hello world"`, []string{"quote: user"}},
		{`"hello world`, []string{"quote: user"}},
		{`"world hello"`, nil},
		{"TODO: fix_me", []string{"quote: assistant"}},
		{"NOT nginx AND", []string{"web: assistant", "web: user"}},
		{"AND OR", nil},
		{`"" * ( ) ^ {`, nil},
		{"", nil},
		{"nothing-like-it", nil},
		{"read_file", []string{"web: assistant", "web: tool"}},
		{"数据库", []string{"cjk: user"}},
		{"配置文件", []string{"cjk: assistant"}},
		{"配置", []string{"cjk: assistant"}}, // shorter than a trigram
		{"a<b>c", []string{"web: assistant"}},
		{"content:nginx", nil},
	} {
		hits, err := db.Search(t.Context(), agent.SearchQuery{Text: tt.text})
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		var got []string
		for _, h := range hits {
			got = append(got, h.SessionID+": "+string(h.Role))
		}
		slices.Sort(got)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestSearchHit(t *testing.T) {
	db := openIn(t, t.TempDir())
	if err := db.CreateSession(t.Context(), agent.SessionRecord{ID: "s1", Title: "Talk"}); err != nil {
		t.Fatal(err)
	}
	image := agent.Message{Role: agent.RoleUser, Parts: []agent.Part{{Text: "before"}, {ImageURL: "data:image/png;base64,AAAA"}}}
	appendAll(t, db, "s1", true, at(image, 10), at(assistant("the walrus sleeps"), 10), at(user("after\n"+strings.Repeat("x", 300)), 10), at(assistant("end"), 11))
	hits, err := db.Search(t.Context(), agent.SearchQuery{Text: "walrus"})
	if err != nil {
		t.Fatal(err)
	}
	want := []agent.SearchHit{{
		SessionID: "s1", Title: "Talk", Source: "acp", Role: agent.RoleAssistant, Time: time.Unix(10, 0).UTC(),
		Snippet: "the >>>walrus<<< sleeps", Before: "before [image]", After: "after " + strings.Repeat("x", maxNeighbour-7) + "…",
	}}
	if diff := cmp.Diff(want, hits); diff != "" {
		t.Error(diff)
	}
}

func TestSearchHidesWhatWasTakenBack(t *testing.T) {
	dir := t.TempDir()
	db := openIn(t, dir)
	newSession(t, db, "s1")
	appendAll(t, db, "s1", true, user("walrus one"), assistant("walrus two"), user("walrus three"), assistant("a"))
	execute(t, dir, `UPDATE messages SET active = 0 WHERE content = 'walrus one'; UPDATE messages SET active = 0, compacted = 1 WHERE content = 'walrus two'`)
	hits, err := db.Search(t.Context(), agent.SearchQuery{Text: "walrus", Limit: 5})
	if err != nil || len(hits) != 2 {
		t.Errorf("%+v, %v", hits, err)
	}
	if hits, err = db.Search(t.Context(), agent.SearchQuery{Text: "walrus", Limit: 1}); err != nil || len(hits) != 1 {
		t.Errorf("with a limit of one: %+v, %v", hits, err)
	}
}

// FuzzSearch: no text is a syntax error, with and without an index.
func FuzzSearch(f *testing.F) {
	for _, text := range []string{"a", `"`, `a"b`, "NOT", "a NOT", "(a", "a* *", "content:a", "a^2", "+a", "{x y}:z", "\x00", "NEAR(a b, 3)", "数", "a\xffb", "%_\\"} {
		f.Add(text)
	}
	db, err := helperDB(f.Context(), f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = db.Close() })
	if err := db.CreateSession(f.Context(), agent.SessionRecord{ID: "s1"}); err != nil {
		f.Fatal(err)
	}
	if err := db.Append(f.Context(), "s1", true, user("a b c"), assistant("数据库")); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := db.Search(t.Context(), agent.SearchQuery{Text: text}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if where, args := likeExpression(parseQuery(text)); where != "()" {
			if _, err := selectAll(t.Context(), db.readers, scanText, `SELECT m.role FROM messages m WHERE `+where, args...); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}

// FuzzRow: what is read is what was written, whatever it holds.
func FuzzRow(f *testing.F) {
	f.Add("text", "data:image/png;base64,AA", "c1", "{}", "hm")
	f.Add("\x00json:[]", "", "", "", "")
	f.Add("", "x", "a\"b", "{\"a\":", "\x00")
	f.Fuzz(func(t *testing.T, text, image, id, arguments, reasoning string) {
		valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
		m := agent.Message{
			Role: agent.RoleAssistant, Parts: []agent.Part{{Text: valid(text)}}, Reasoning: valid(reasoning),
			ToolCalls: []agent.ToolCall{{ID: valid(id), Name: "n", Arguments: valid(arguments)}},
			Time:      time.Unix(1, 2000).UTC(),
		}
		if image != "" {
			m.Parts = append(m.Parts, agent.Part{ImageURL: valid(image)})
		}
		r, err := encodeRow(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.message()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m, got); diff != "" {
			t.Error(diff)
		}
	})
}
