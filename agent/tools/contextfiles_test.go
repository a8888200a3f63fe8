package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestContextFilesFromTheRepositoryRootDown(t *testing.T) {
	b := newWorkbench(t)
	root := b.ws.Cwd
	for name, content := range map[string]string{
		"repo/.git/HEAD":            "",
		"repo/AGENTS.md":            "root rules\n",
		"repo/CLAUDE.md":            "root rules\n", // the same again is shown once
		"repo/app/.hermes.md":       "app rules\r\n",
		"repo/app/web/AGENTS.md":    "web rules\n",
		"repo/app/web/main.js":      "x\n",
		"repo/app/other/AGENTS.md":  "other rules\n",
		"repo/other/AGENTS.md":      "not above\n",
		"AGENTS.md":                 "outside the repository\n",
		"repo/app/web/.cursorrules": "cursor rules\n",
	} {
		b.write(t, name, content)
	}
	b.ws.Cwd = filepath.Join(root, "repo", "app")

	check := func(want ...string) {
		t.Helper()
		text := b.ContextFiles(b.ws)
		at := -1
		for _, part := range want {
			next := strings.Index(text, part)
			if next <= at || strings.Count(text, part) != 1 {
				t.Errorf("%q is not there once and in its order:\n%s", part, text)
			}
			at = next
		}
		if got := strings.Count(text, "## "); got != len(want) {
			t.Errorf("%d files, want %d:\n%s", got, len(want), text)
		}
	}
	check("root rules", "app rules")
	if _, err := b.call(t, "read_file", args{"path": "web/main.js"}); err != nil {
		t.Fatal(err)
	}
	check("root rules", "app rules", "web rules", "cursor rules")
}

func TestContextFilesAreBounded(t *testing.T) {
	b := newWorkbench(t)
	if got := b.ContextFiles(b.ws); got != "" {
		t.Errorf("without files: %q", got)
	}
	for i, name := range contextNames() {
		b.write(t, name, strings.Repeat(string(rune('a'+i)), 40<<10))
	}
	got := b.ContextFiles(b.ws)
	if len(got) > maxContext+2000 || !strings.Contains(got, "[cut;") || !strings.Contains(got, "left out for its size") {
		t.Errorf("%d bytes", len(got))
	}
}

// A repository must not bring a person's own files into the prompt.
func TestContextFilesDoNotFollowLinksOut(t *testing.T) {
	b := newWorkbench(t)
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.write(t, ".env", "secret")
	for name, to := range map[string]string{"AGENTS.md": outside, "CLAUDE.md": ".env"} {
		if err := os.Symlink(to, b.path(name)); err != nil {
			t.Skip("symbolic links are not available:", err)
		}
	}
	if got := b.ContextFiles(b.ws); got != "" {
		t.Errorf("%q", got)
	}
}
