package store

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent"
)

var update = flag.Bool("update", false, "write the fixtures anew")

// hermes runs a command of testdata/hermes.py on a folder, with the Python that
// the python lane names.
func hermes(t *testing.T, command, dir string) []byte {
	t.Helper()
	python := os.Getenv("HERMES_ACP_PYTHON")
	if python == "" {
		t.Skip("HERMES_ACP_PYTHON is not set; scripts/test python sets it to one that has hermes-agent 0.19.0")
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/hermes.py", command, dir)
	cmd.Env = append(os.Environ(), "HERMES_HOME="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("hermes.py %s: %v\n%s", command, err, out)
	}
	return out
}

// hermesView is what Hermes finds in a database.
type hermesView struct {
	Sessions map[string]struct {
		Title     string
		Source    string
		EndReason string `json:"end_reason"`
		Messages  []struct {
			Role       string
			Content    json.RawMessage
			ToolCalls  json.RawMessage `json:"tool_calls"`
			ToolCallID string          `json:"tool_call_id"`
			ToolName   string          `json:"tool_name"`
			Reasoning  string
		}
		Count int
	}
	Found     map[string][]string
	Integrity string
	Version   int
}

func hermesReads(t *testing.T, dir string) (v hermesView) {
	t.Helper()
	if err := json.Unmarshal(hermes(t, "read", dir), &v); err != nil {
		t.Fatal(err)
	}
	if v.Integrity != "ok" || v.Version != 22 {
		t.Errorf("integrity %q, schema version %d", v.Integrity, v.Version)
	}
	return v
}

func (v hermesView) lines(id string) (lines []string) {
	for _, m := range v.Sessions[id].Messages {
		lines = append(lines, fmt.Sprintf("%s %s", m.Role, m.Content))
	}
	return lines
}

func TestHermes_Schema(t *testing.T) {
	dir := t.TempDir()
	hermes(t, "make", dir)
	facts := describe(t, dir)
	if *update {
		if err := os.WriteFile(hermesTables, []byte(strings.Join(facts, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(hermesTables)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(string(want)), "\n"), facts); diff != "" {
		t.Errorf("the package makes other tables than the fixture says (-fixture +package):\n%s", diff)
	}
}

// TestHermes_TheirFile reads a file of the real package, adds to it, and lets the
// package read the result.
func TestHermes_TheirFile(t *testing.T) {
	dir := t.TempDir()
	hermes(t, "make", dir)
	before := describe(t, dir)
	db := openIn(t, dir)

	msgs := messagesOf(t, db, "theirs")
	want := []string{
		"user: where is nginx configured?", "assistant:  call c1", "tool: /etc/nginx/nginx.conf for c1",
		"assistant: In /etc/nginx.", "user: and this?", "assistant: A picture.",
	}
	if diff := cmp.Diff(want, lines(msgs)); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	if msgs[1].Reasoning != "look for it" || msgs[3].Reasoning != "found" || msgs[1].ToolCalls[0].Arguments != `{"pattern": "nginx"}` || msgs[4].Parts[1].ImageURL != "data:image/png;base64,AAAA" {
		t.Errorf("details are lost: %+v", msgs)
	}
	if rec, err := db.Session(t.Context(), "theirs"); err != nil || rec.Cwd != "/srv/web" {
		t.Errorf("%+v, %v", rec, err)
	}
	if ids, _ := listIDs(t, db, agent.SessionFilter{}); !slices.Equal(ids, []string{"theirs"}) {
		t.Errorf("listed %q", ids)
	}
	hits, err := db.Search(t.Context(), agent.SearchQuery{Text: "walrus"})
	if err != nil || len(hits) != 1 || hits[0].SessionID != "cli" || hits[0].Source != "cli" {
		t.Errorf("%+v, %v", hits, err)
	}

	appendAll(t, db, "theirs", true, user("is there a walrus?"), assistant("No walrus."))
	if err := db.Compact(t.Context(), "theirs", []agent.Message{user("so far"), assistant("ok")}, true); err != nil {
		t.Fatal(err)
	}
	appendAll(t, db, "theirs", true, user("more"), assistant("yes"))

	v := hermesReads(t, dir)
	if diff := cmp.Diff([]string{`user "so far"`, `assistant "ok"`, `user "more"`, `assistant "yes"`}, v.lines("theirs")); diff != "" {
		t.Errorf("Hermes reads (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"cli", "theirs", "theirs"}, v.Found["walrus"]); diff != "" {
		t.Errorf("Hermes finds (-want +got):\n%s", diff)
	}
	if v.Sessions["theirs"].Count != 4 {
		t.Errorf("Hermes counts %d messages", v.Sessions["theirs"].Count)
	}
	if diff := cmp.Diff(before, describe(t, dir)); diff != "" {
		t.Errorf("Hermes' tables were altered:\n%s", diff)
	}
}

// TestHermes_OurFile lets the real package read and extend a file that we made.
func TestHermes_OurFile(t *testing.T) {
	dir := t.TempDir()
	db := openIn(t, dir)
	if err := db.CreateSession(t.Context(), agent.SessionRecord{ID: "ours", Cwd: "/work", Title: "Walrus"}); err != nil {
		t.Fatal(err)
	}
	call := calls("c1")
	call.Reasoning = "hm"
	image := agent.Message{Role: agent.RoleUser, Parts: []agent.Part{{Text: "look"}, {ImageURL: "data:image/png;base64,AAAA"}}}
	appendAll(t, db, "ours", true, user("rename chat-send"), call, result("c1", "nginx"), assistant("数据库连接失败了"), image, assistant("seen"))
	newSession(t, db, "rotated")
	appendAll(t, db, "rotated", true, user("before"), assistant("a"))
	if err := db.Compact(t.Context(), "rotated", []agent.Message{user("after"), assistant("b")}, false); err != nil {
		t.Fatal(err)
	}

	v := hermesReads(t, dir)
	want := []string{
		`user "rename chat-send"`, `assistant null`, `tool "nginx"`, `assistant "\u6570\u636e\u5e93\u8fde\u63a5\u5931\u8d25\u4e86"`,
		`user [{"type": "text", "text": "look"}, {"type": "text", "text": "[image]"}]`, `assistant "seen"`,
	}
	if diff := cmp.Diff(want, v.lines("ours")); diff != "" {
		t.Errorf("Hermes reads (-want +got):\n%s", diff)
	}
	s := v.Sessions["ours"]
	if s.Title != "Walrus" || s.Source != "acp" || s.Messages[1].Reasoning != "hm" || s.Messages[2].ToolCallID != "c1" || s.Messages[2].ToolName != "read_file" ||
		!strings.Contains(string(s.Messages[1].ToolCalls), `"name": "read_file"`) {
		t.Errorf("%+v", s)
	}
	if diff := cmp.Diff(map[string][]string{"walrus": {}, "nginx": {"ours"}, "chat-send": {"ours"}, "数据库": {"ours"}}, v.Found); diff != "" {
		t.Errorf("Hermes finds (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`user "after"`, `assistant "b"`}, v.lines("rotated")); diff != "" {
		t.Errorf("Hermes goes on at (-want +got):\n%s", diff)
	}

	hermes(t, "write", dir)
	if msgs := messagesOf(t, db, "written"); len(msgs) != 200 {
		t.Errorf("%d of Hermes' 200 messages", len(msgs))
	}
	if ids, _ := listIDs(t, db, agent.SessionFilter{Limit: 1}); !slices.Equal(ids, []string{"written"}) {
		t.Errorf("top of the list: %q", ids)
	}
}

// TestHermes_WriteTogether lets Hermes and two of us write at the same time.
func TestHermes_WriteTogether(t *testing.T) {
	dir := t.TempDir()
	hermes(t, "make", dir)
	var children []*process
	for i := range 2 {
		children = append(children, start(t, "append", dir, fmt.Sprintf("p%d", i), "200"))
	}
	hermes(t, "write", dir)
	for _, child := range children {
		if output := child.rest(); len(output) > 0 {
			t.Error(output)
		}
		if err := child.cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	v := hermesReads(t, dir)
	for id, want := range map[string]int{"written": 200, "p0": 400, "p1": 400} {
		if got := v.Sessions[id].Count; got != want {
			t.Errorf("session %s has %d messages, want %d", id, got, want)
		}
	}
}
