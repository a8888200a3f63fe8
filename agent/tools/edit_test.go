package tools

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPatchReplacesAndKeepsBytes(t *testing.T) {
	for _, tc := range []struct {
		name              string
		before, old, repl string
		all               bool
		want              string
	}{
		{name: "one word", before: "a b c\n", old: "b", repl: "x", want: "a x c\n"},
		{name: "all", before: "a a\na\n", old: "a", repl: "b", all: true, want: "b b\nb\n"},
		{name: "to nothing", before: "a\nb\n", old: "b\n", repl: "", want: "a\n"},
		{name: "E10 new text occurs elsewhere", before: "prod: status = on\nstag: status   = off\n", old: "status   = off", repl: "status = on", want: "prod: status = on\nstag: status = on\n"},
		{name: "E11 LF arguments for a CRLF file", before: "a\r\nb\r\n", old: "a\nb", repl: "a\nc", want: "a\r\nc\r\n"},
		{name: "E12 only the line changes", before: "a = 1\r\nb = 2\r\n", old: "b = 2", repl: "b = 3", want: "a = 1\r\nb = 3\r\n"},
		{name: "E12 mixed line ends stay", before: "a\r\nb\nc\r\nd\n", old: "b\nc\nd", repl: "b\nx\nd", want: "a\r\nb\nx\r\nd\n"},
		{name: "new lines in a CRLF file", before: "a\r\nb\r\n", old: "b", repl: "b\nc\nd", want: "a\r\nb\r\nc\r\nd\r\n"},
		{name: "E14 no byte-order mark added", before: "a\n", old: "a", repl: "b", want: "b\n"},
		{name: "E14 byte-order mark kept", before: "\xef\xbb\xbfa\n", old: "a", repl: "b", want: "\xef\xbb\xbfb\n"},
		{name: "E17 no final newline added", before: "l1\nl2", old: "l1", repl: "x", want: "x\nl2"},
		{name: "E18 final blank line kept", before: "a\nb\n\n", old: "a", repl: "x", want: "x\nb\n\n"},
		{name: "UTF-16 stays UTF-16", before: "\xff\xfea\x00\n\x00", old: "a", repl: "€", want: "\xff\xfe\xac\x20\n\x00"},
		{name: "bytes that are not UTF-8 stay", before: "\xb0\xa1 x\n", old: "x", repl: "y", want: "\xb0\xa1 y\n"},
		{name: "Latin-1 gets Latin-1", before: "\xe9 x\n", old: "x", repl: "ü", want: "\xe9 \xfc\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newWorkbench(t)
			b.write(t, "f", tc.before)
			a := args{"path": "f", "old_string": tc.old, "new_string": tc.repl, "replace_all": tc.all}
			if _, err := b.call(t, "patch", a); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, b.read(t, "f")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			b.holds(t, "f")
		})
	}
}

// An exact replacement that takes the last newline does so, shows it and says
// so (NVIDIA-NeMo/labs-OO-Agents#308).
func TestE20_ReplacingTheLastNewlineIsSaid(t *testing.T) {
	b := newWorkbench(t)
	b.write(t, "f", "a\nb\n")
	plan, err := b.plan(t, "patch", args{"path": "f", "old_string": "b\n", "new_string": "c"})
	if err != nil {
		t.Fatal(err)
	}
	if got := *plan.Access.Edits[0].NewText; got != "a\nc" {
		t.Errorf("proposed %q", got)
	}
	result, err := plan.Run(t.Context(), nil)
	if err != nil || b.read(t, "f") != "a\nc" || !strings.Contains(result.Text, "no newline at its end") {
		t.Errorf("file %q, result %q, error %v", b.read(t, "f"), result.Text, err)
	}
}

func TestPatchRefuses(t *testing.T) {
	for _, tc := range []struct {
		name, before, old, repl string
		want                    string
	}{
		{"no match", "a\n", "b", "c", "could not find"},
		{"two matches", "x\ny\nx\n", "x", "z", "lines 1, 3"},
		{"overlapping matches", "aaa\n", "aa", "b", "more than one"},
		{"nothing to find", "a\n", "", "b", "old_string is empty"},
		{"no change", "a\n", "a", "a", "the same"},
		{"E36 binary", "\x89PNG\x00", "PNG", "x", "binary file (5 bytes)"},
		{"a character Latin-1 lacks", "\xe9 x\n", "x", "€", "Latin-1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newWorkbench(t)
			b.write(t, "f", tc.before)
			if _, err := b.plan(t, "patch", args{"path": "f", "old_string": tc.old, "new_string": tc.repl}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
			if b.read(t, "f") != tc.before {
				t.Error("the file changed")
			}
		})
	}
	b := newWorkbench(t)
	if _, err := b.plan(t, "patch", args{"path": "f", "old_string": "a", "new_string": "b"}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a missing file: error %v", err)
	}
}

// Huge and binary files are refused before a diff is built
// (bug-ops/zeph#1075).
func TestE36_HugeFilesAreRefusedWithTheirSize(t *testing.T) {
	b := newWorkbench(t)
	path := b.write(t, "big.log", "x")
	if err := os.Truncate(path, 50<<20); err != nil {
		t.Fatal(err)
	}
	for tool, a := range map[string]args{
		"patch":      {"path": "big.log", "old_string": "x", "new_string": "y"},
		"write_file": {"path": "big.log", "content": "y"},
	} {
		if _, err := b.plan(t, tool, a); err == nil || !strings.Contains(err.Error(), "50.0 MiB") {
			t.Errorf("%s: error %v", tool, err)
		}
	}
}

// A file that is missing and an empty one are different proposals.
func TestE38_MissingAndEmptyFilesDiffer(t *testing.T) {
	b := newWorkbench(t)
	b.write(t, "empty.txt", "")
	for name, want := range map[string]bool{"new.txt": false, "empty.txt": true} {
		plan, err := b.plan(t, "write_file", args{"path": name, "content": "x"})
		if err != nil {
			t.Fatal(err)
		}
		old := plan.Access.Edits[0].OldText
		if (old != nil) != want || want && *old != "" {
			t.Errorf("%s: old text %v", name, old)
		}
	}
}

func TestWriteFileCreatesFolders(t *testing.T) {
	b := newWorkbench(t)
	if _, err := b.call(t, "write_file", args{"path": "a/b/c.txt", "content": "x\n"}); err != nil {
		t.Fatal(err)
	}
	if got := b.read(t, "a/b/c.txt"); got != "x\n" {
		t.Errorf("file %q", got)
	}
}

func TestWriteFileKeepsLineEndsAndEncoding(t *testing.T) {
	for _, tc := range []struct{ name, before, content, want string }{
		{"CRLF", "a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n"},
		{"mixed", "a\r\nb\nc\r\n", "a\nb\nx\nc\n", "a\r\nb\nx\r\nc\r\n"},
		{"explicit CRLF", "a\nb\n", "a\r\nb\r\n", "a\r\nb\r\n"},
		{"byte-order mark", "\xef\xbb\xbfa\n", "b\n", "\xef\xbb\xbfb\n"},
		{"byte-order mark given twice", "\xef\xbb\xbfa\n", "\ufeffb\n", "\xef\xbb\xbfb\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newWorkbench(t)
			b.write(t, "f", tc.before)
			if _, err := b.call(t, "write_file", args{"path": "f", "content": tc.content}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, b.read(t, "f")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// An approved edit does not overwrite what the person changed while the
// question was open (mario-andreschak/FLUJO#254).
func TestE28_FileChangedWhileApprovalWasOpenIsLeftAlone(t *testing.T) {
	b := newWorkbench(t)
	b.write(t, "f", "a\n")
	for tool, a := range map[string]args{
		"patch":      {"path": "f", "old_string": "a", "new_string": "b"},
		"write_file": {"path": "f", "content": "b\n"},
	} {
		b.write(t, "f", "a\n")
		plan, err := b.plan(t, tool, a)
		if err != nil {
			t.Fatal(err)
		}
		b.write(t, "f", "mine\n")
		if _, err := plan.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "read it again") {
			t.Errorf("%s: error %v", tool, err)
		}
		if got := b.read(t, "f"); got != "mine\n" {
			t.Errorf("%s: file %q", tool, got)
		}
	}
	plan, err := b.plan(t, "write_file", args{"path": "new", "content": "x"})
	if err != nil {
		t.Fatal(err)
	}
	b.write(t, "new", "mine")
	if _, err := plan.Run(t.Context(), nil); err == nil || b.read(t, "new") != "mine" {
		t.Errorf("a file made meanwhile: error %v, content %q", err, b.read(t, "new"))
	}
}

func TestOverwritingAFileChangedSinceItWasReadIsRefused(t *testing.T) {
	b := newWorkbench(t)
	b.write(t, "f", "a\n")
	if _, err := b.call(t, "read_file", args{"path": "f"}); err != nil {
		t.Fatal(err)
	}
	b.write(t, "f", "changed\n")
	if _, err := b.plan(t, "write_file", args{"path": "f", "content": "x"}); err == nil || !strings.Contains(err.Error(), "read it again") {
		t.Fatalf("error %v", err)
	}
	if _, err := b.call(t, "read_file", args{"path": "f"}); err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"x\n", "y\n"} { // its own write counts as known
		if _, err := b.call(t, "write_file", args{"path": "f", "content": content}); err != nil {
			t.Fatal(err)
		}
	}
}
