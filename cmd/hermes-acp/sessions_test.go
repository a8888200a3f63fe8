//go:build !windows

package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent"
	"github.com/hermes-acp/hermes-acp/agent/store"
)

// sessionsHome makes a HERMES_HOME with two conversations and a fork.
func sessionsHome(t *testing.T) (home string) {
	t.Helper()
	local := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = local })
	home = t.TempDir()
	t.Setenv("HERMES_HOME", home)
	db, err := store.Open(t.Context(), store.Options{Dir: home, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	begun := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	minute := func(m agent.Message, n int) agent.Message {
		m.Time = begun.Add(time.Duration(n) * time.Minute)
		return m
	}
	call := agent.Message{Role: agent.RoleAssistant, ToolCalls: []agent.ToolCall{{ID: "c1", Name: "read_file", Arguments: `{"path":"go.mod"}`}}}
	result := agent.TextMessage(agent.RoleTool, "```\nmodule x\n```\n"+strings.Repeat("line\n", 20))
	result.ToolCallID, result.ToolName = "c1", "read_file"
	cut := agent.TextMessage(agent.RoleAssistant, "It is \x1b[31mmodule")
	cut.Interrupted = true
	for _, err := range []error{
		db.CreateSession(ctx, agent.SessionRecord{ID: "aaaa-1", Cwd: "/work/a", Title: "Read\tgo.mod\n", Mode: agent.ModePlan, CreatedAt: begun}),
		db.Append(ctx, "aaaa-1", true, minute(agent.TextMessage(agent.RoleUser, "What module is this?"), 1), minute(call, 2), minute(result, 3), minute(cut, 4)),
		db.RecordAction(ctx, agent.Action{SessionID: "aaaa-1", CallID: "c1", Tool: "read_file", Paths: []string{"/work/a/go.mod"}, Grant: agent.GrantNotNeeded, Started: begun, Ended: begun.Add(time.Second)}),
		db.RecordAction(ctx, agent.Action{SessionID: "aaaa-1", CallID: "c2", Tool: "terminal", Command: "go test", Grant: agent.GrantDenied, Failure: "denied", Started: begun, Ended: begun}),
		db.ForkSession(ctx, "aaaa-1", agent.SessionRecord{ID: "bbbb-1", Cwd: "/work/b", CreatedAt: begun.Add(time.Hour)}),
		db.Append(ctx, "bbbb-1", true, minute(agent.TextMessage(agent.RoleUser, "And now?"), 70), minute(agent.TextMessage(agent.RoleAssistant, "Now this."), 71)),
		db.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// sessions runs a sessions command and returns what it prints.
func sessions(t *testing.T, stdin string, args ...string) (string, error) {
	t.Helper()
	app := newApp()
	var out bytes.Buffer
	app.Writer, app.ErrWriter, app.Reader = &out, &out, strings.NewReader(stdin)
	err := app.RunContext(t.Context(), append([]string{"hermes-acp", "sessions"}, args...))
	return out.String(), err
}

func checkOutput(t *testing.T, want string, args ...string) {
	t.Helper()
	got, err := sessions(t, "", args...)
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), got); diff != "" {
		t.Errorf("%q (-want +got):\n%s", args, diff)
	}
}

func TestSessionsList(t *testing.T) {
	sessionsHome(t)
	checkOutput(t, `
ID      LAST ACTIVE       TITLE                 FOLDER
bbbb-1  2026-11-30 10:11  What module is this?  /work/b
aaaa-1  2026-11-30 09:04  Read go.mod           /work/a
`, "list")
	checkOutput(t, `
ID      LAST ACTIVE       TITLE        FOLDER
aaaa-1  2026-11-30 09:04  Read go.mod  /work/a
`, "list", "--cwd", "/work/a/")
	checkOutput(t, "There are no conversations here yet.\n", "list", "--cwd", "/elsewhere")
	checkOutput(t, `{"id":"bbbb-1","title":"What module is this?","cwd":"/work/b","created_at":"2026-11-30T10:00:00Z","updated_at":"2026-11-30T10:11:00Z","hermes_session_id":"bbbb-1","root_hermes_session_id":"aaaa-1","compression_depth":0}
`, "list", "--json", "--limit", "1")
}

func TestSessionsWithoutStore(t *testing.T) {
	home := filepath.Join(t.TempDir(), "none")
	t.Setenv("HERMES_HOME", home)
	checkOutput(t, "There are no conversations here yet.\n", "list")
	checkOutput(t, "", "rm", "--all")
	if _, err := sessions(t, "", "show", "x"); err == nil || !strings.Contains(err.Error(), "no conversations yet") {
		t.Errorf("show: %v", err)
	}
	if _, err := os.Stat(home); err == nil {
		t.Error("a folder was made only to look into it")
	}
}

func TestSessionsShow(t *testing.T) {
	sessionsHome(t)
	checkOutput(t, `
Read go.mod

id       aaaa-1
folder   /work/a
mode     plan
begun    2026-11-30 09:00
active   2026-11-30 09:04
lineage
  aaaa-1  2026-11-30 09:00, 4 messages  <- this conversation
  └─ bbbb-1  2026-11-30 10:00, 6 messages, fork

── you, 2026-11-30 09:01
What module is this?

── agent, 2026-11-30 09:02
→ read_file {"path":"go.mod"}

── read_file, 2026-11-30 09:03
`+"```\nmodule x\n```"+`
line
line
line
line
line
line
line
line
line
… 11 more lines

── agent, 2026-11-30 09:04
It is [31mmodule
[cut off here]

`, "show", "a")
	checkOutput(t, `
Read go.mod

id       aaaa-1
folder   /work/a
mode     plan
begun    2026-11-30 09:00
active   2026-11-30 09:04
lineage
  aaaa-1  2026-11-30 09:00, 4 messages  <- this conversation
  └─ bbbb-1  2026-11-30 10:00, 6 messages, fork

2026-11-30 09:00  read_file  allowed by: not_needed  done  (1s)
    /work/a/go.mod
2026-11-30 09:00  terminal  allowed by: denied  failed: denied  (0s)
    $ go test
`, "show", "--actions", "aaaa-1")
}

func TestSessionsShow_CompressedConversation(t *testing.T) {
	home := sessionsHome(t)
	db, err := store.Open(t.Context(), store.Options{Dir: home, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Compact(t.Context(), "aaaa-1", []agent.Message{agent.TextMessage(agent.RoleUser, "so far"), agent.TextMessage(agent.RoleAssistant, "ok")}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := sessions(t, "", "show", "aaaa-1")
	if err != nil {
		t.Fatal(err)
	}
	_, tree, _ := strings.Cut(got, "lineage\n")
	tree, _, _ = strings.Cut(tree, "\n\n")
	tree = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}  [0-9-]{10} [0-9:]{5}`).ReplaceAllString(tree, "CHILD")
	want := `  aaaa-1  2026-11-30 09:00, 4 messages, ended: compression
  ├─ bbbb-1  2026-11-30 10:00, 6 messages, fork
  └─ CHILD, 2 messages  <- this conversation`
	if diff := cmp.Diff(want, tree); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSessionsExport(t *testing.T) {
	home := sessionsHome(t)
	out, err := sessions(t, "", "export", "--all")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines for 2 conversations", len(lines))
	}
	var export exportJSON
	if err := json.Unmarshal([]byte(lines[1]), &export); err != nil {
		t.Fatal(err)
	}
	if export.ID != "aaaa-1" || len(export.Segments) != 1 || len(export.Segments[0].Messages) != 4 || len(export.Actions) != 2 || export.Actions[0].AllowedBy != "not_needed" {
		t.Errorf("%+v", export)
	}

	file := filepath.Join(home, "out.md")
	checkOutput(t, "", "export", "--format", "markdown", "-o", file, "bbbb-1")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Session bbbb-1\n", "## you\n\nWhat module is this?\n", "Calls `read_file`:\n\n```json\n{\"path\":\"go.mod\"}\n```\n", "````\n```\nmodule x\n```\nline", "## agent\n\nNow this.\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the export does not hold %q:\n%s", want, text)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the export: %v, %v", info.Mode(), err)
	}
	if _, err := sessions(t, "", "export", "-o", file, "bbbb-1"); err == nil {
		t.Error("a file that exists was overwritten")
	}
}

func TestSessionsErrors(t *testing.T) {
	sessionsHome(t)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"show"}, "give one ID"},
		{[]string{"show", "nope"}, `no conversation "nope"`},
		{[]string{"show", ""}, "names 2 conversations"},
		{[]string{"export"}, "or --all"},
		{[]string{"export", "--all", "aaaa-1"}, "or --all"},
		{[]string{"export", "--format", "pdf", "aaaa-1"}, "json or markdown"},
		{[]string{"rm"}, "or --all"},
		{[]string{"rm", "aaaa-1", "nope"}, `no conversation "nope"`},
		{[]string{"rm", "--all"}, "nothing was removed"},
	} {
		if _, err := sessions(t, "n\n", tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.args, err, tt.want)
		}
	}
	if out, err := sessions(t, "", "list"); err != nil || strings.Count(out, "\n") != 3 {
		t.Errorf("after all that: %s, %v", out, err)
	}
}

func TestSessionsRemove(t *testing.T) {
	sessionsHome(t)
	checkOutput(t, "removed aaaa-1\n", "rm", "aaaa")
	if _, err := sessions(t, "", "show", "aaaa-1"); err == nil {
		t.Error("a removed conversation is shown")
	}
	out, err := sessions(t, "y\n", "rm", "--all")
	if err != nil || !strings.HasSuffix(out, "removed bbbb-1\n") || !strings.Contains(out, "Remove 1 conversations for good?") {
		t.Errorf("%q, %v", out, err)
	}
	checkOutput(t, "There are no conversations here yet.\n", "list")
}
