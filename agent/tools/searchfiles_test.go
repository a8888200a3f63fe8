package tools

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent"
)

func searchBench(t *testing.T) *workbench {
	t.Helper()
	b := newWorkbench(t)
	for name, content := range map[string]string{
		"a.go":               "package a\n\nfunc Foo() {}\n",
		"sub/b.go":           "package b // foo\n",
		"sub/c.txt":          "Foo\r\nbar foo\r\n",
		"sub/deep/.hidden":   "foo\n",
		"utf16.txt":          "\xff\xfef\x00o\x00o\x00\n\x00",
		"latin1.txt":         "foo \xe9\n",
		"binary.bin":         "foo\x00",
		".env":               "foo=secret\n",
		"server.pem":         "foo\n",
		".git/config":        "foo\n",
		".git/info/exclude":  "excluded.txt\n",
		"excluded.txt":       "foo\n",
		".gitignore":         "*.log\n/build/\nnode_modules\n!keep.log\ntmp/**/x.txt\n",
		"x.log":              "foo\n",
		"keep.log":           "foo\n",
		"build/out.txt":      "foo\n",
		"sub/build/in.txt":   "foo\n",
		"node_modules/m.js":  "foo\n",
		"tmp/1/2/x.txt":      "foo\n",
		"sub/.ignore":        "ignored.md\n",
		"sub/ignored.md":     "foo\n",
		"sub/.gitignore":     "!x.log\n",
		"sub/x.log":          "foo\n",
		"weird{}/braces.txt": "nothing\n",
	} {
		b.write(t, name, content)
	}
	return b
}

func TestSearchFiles(t *testing.T) {
	b := searchBench(t)
	for _, tc := range []struct {
		name string
		args args
		want []string
	}{
		{"a literal", args{"pattern": "foo"}, []string{
			"8 in 8 files", "keep.log:1: foo", "latin1.txt:1: foo \ufffd", "sub/b.go:1: package b // foo", "sub/build/in.txt:1: foo",
			"sub/c.txt:2: bar foo", "sub/deep/.hidden:1: foo", "sub/x.log:1: foo", "utf16.txt:1: foo",
		}},
		{"an expression", args{"pattern": `(?i)^foo$`, "path": "sub"}, []string{
			"4 in 4 files", "sub/build/in.txt:1: foo", "sub/c.txt:1: Foo", "sub/deep/.hidden:1: foo", "sub/x.log:1: foo",
		}},
		{"no match across lines", args{"pattern": `a\s+func`}, []string{"No matches."}},
		{"anchors of lines", args{"pattern": `^func \w+\(\)`}, []string{"1 in 1 files", "a.go:3: func Foo() {}"}},
		{"a glob", args{"pattern": "package", "file_glob": "*.go"}, []string{"2 in 2 files", "a.go:1: package a", "sub/b.go:1: package b // foo"}},
		{"a glob for paths", args{"pattern": "package", "file_glob": "sub/**"}, []string{"1 in 1 files", "sub/b.go:1: package b // foo"}},
		{"one file", args{"pattern": "foo", "path": "sub/c.txt"}, []string{"1 in 1 files", "sub/c.txt:2: bar foo"}},
		{"a sensitive file by name", args{"pattern": "foo", "path": ".env"}, []string{"1 in 1 files", ".env:1: foo=secret"}},
		{"files only", args{"pattern": "package", "output_mode": "files_only"}, []string{"2 in 2 files", "a.go", "sub/b.go"}},
		{"count", args{"pattern": "(?i)foo", "output_mode": "count", "path": "sub/c.txt"}, []string{"2 in 1 files", "sub/c.txt: 2"}},
		{"files by name", args{"pattern": "*.go", "target": "files"}, []string{"2 files", "a.go", "sub/b.go"}},
		{"files by path", args{"pattern": "**/deep/*", "target": "files"}, []string{"1 file", "sub/deep/.hidden"}},
		{"a page", args{"pattern": "package", "limit": 1, "offset": 1}, []string{"2 in 2 files; 1 shown from offset 1 on", "sub/b.go:1: package b // foo"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := b.call(t, "search_files", tc.args)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(got.Text, "\n"), "\n")
			if diff := cmp.Diff(tc.want, lines); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestSearchFilesRefuses(t *testing.T) {
	b := searchBench(t)
	for _, tc := range []struct {
		args args
		want string
	}{
		{args{"pattern": "("}, "missing closing )"},
		{args{"pattern": "a)(b"}, "unexpected )"},
		{args{}, "pattern is required"},
		{args{"pattern": "a", "limit": 0}, "limit 0"},
		{args{"pattern": "a", "offset": -1}, "offset -1"},
		{args{"pattern": "a", "target": "dirs"}, "target"},
		{args{"pattern": "a", "output_mode": "x"}, "output_mode"},
		{args{"pattern": "[", "target": "files"}, "does not parse"},
		{args{"pattern": "a", "path": "missing"}, "no such file"},
	} {
		if _, err := b.call(t, "search_files", tc.args); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v: error %v, want one with %q", tc.args, err, tc.want)
		}
	}
}

func TestSearchFilesEndsAtManyMatches(t *testing.T) {
	b := newWorkbench(t)
	for i := range 5 {
		b.write(t, fmt.Sprintf("f%d", i), strings.Repeat("x\n", 5000))
	}
	got, err := b.call(t, "search_files", args{"pattern": "x"})
	if err != nil || !strings.HasPrefix(got.Text, "more than 1") || strings.Count(got.Text, "\n") != defaultSearchLimit+1 {
		t.Errorf("%.80q, error %v", got.Text, err)
	}
}

func TestSearchFilesEndsWhenCancelled(t *testing.T) {
	b := searchBench(t)
	plan, err := b.plan(t, "search_files", args{"pattern": "foo"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := plan.Run(ctx, nil); err == nil {
		t.Errorf("%q", got.Text)
	}
}

func TestListDir(t *testing.T) {
	b := newWorkbench(t)
	b.write(t, "b/x", "")
	b.write(t, "a.txt", "12345")
	if err := os.Symlink("a.txt", b.path("link")); err != nil {
		t.Skip("symbolic links are not available:", err)
	}
	got, err := b.call(t, "list_dir", args{})
	if diff := cmp.Diff("a.txt (5 bytes)\nb/\nlink -> a.txt\n", got.Text); err != nil || diff != "" {
		t.Errorf("error %v (-want +got)\n%s", err, diff)
	}
	for path, want := range map[string]string{"a.txt": "not a folder", "missing": "no such folder"} {
		if _, err := b.call(t, "list_dir", args{"path": path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", path, err)
		}
	}
}

func TestTodo(t *testing.T) {
	b := newWorkbench(t)
	var entries []agent.PlanEntry // as the session keeps them
	b.ws.Entries = func() []agent.PlanEntry { return entries }
	item := func(id, content, status string) map[string]string {
		return map[string]string{"id": id, "content": content, "status": status}
	}
	steps := []struct {
		args args
		want string
	}{
		{args{}, "The list is empty."},
		{args{"todos": []any{item("1", "read", "in_progress"), item("2", "write", "pending")}}, "[in_progress] 1: read\n[pending] 2: write\n"},
		{args{"todos": []any{item("1", "", "completed"), item("3", "test", "pending")}, "merge": true}, "[completed] 1: read\n[pending] 2: write\n[pending] 3: test\n"},
		{args{}, "[completed] 1: read\n[pending] 2: write\n[pending] 3: test\n"},
		{args{"todos": []any{}}, "The list is empty."},
	}
	for i, step := range steps {
		got, err := b.call(t, "todo", step.args)
		if diff := cmp.Diff(step.want, got.Text); err != nil || diff != "" || len(got.Entries) != strings.Count(step.want, "[") {
			t.Errorf("step %d: error %v, %d entries (-want +got)\n%s", i, err, len(got.Entries), diff)
		}
		entries = got.Entries
	}
	for _, bad := range []any{item("", "x", "pending"), item("1", "x", "done"), item("9", " ", "pending")} {
		if _, err := b.call(t, "todo", args{"todos": []any{bad}}); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}

// BenchmarkSearch50000Files searches a tree for a literal that one file holds.
// Compare with `rg -c needle` in the same tree: HERMES_SEARCH_TREE keeps it.
func BenchmarkSearch50000Files(b *testing.B) {
	bench := newWorkbench(b)
	if dir := os.Getenv("HERMES_SEARCH_TREE"); dir != "" {
		bench.ws.Cwd = dir
	}
	text := strings.Repeat("the quick brown fox jumps over the lazy dog\n", 40)
	if _, err := os.Stat(bench.path("d0")); err != nil {
		for i := range 50_000 {
			bench.write(b, fmt.Sprintf("d%d/e%d/f%d.txt", i%50, i/50%20, i), text)
		}
		bench.write(b, "d7/e7/needle.txt", text+"needle\n")
	}
	for b.Loop() {
		got, err := bench.call(b, "search_files", args{"pattern": "needle"})
		if err != nil || !strings.HasPrefix(got.Text, "1 in 1 files") {
			b.Fatal(got.Text, err)
		}
	}
}
