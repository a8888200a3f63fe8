package tools

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func v4a(lines ...string) args {
	return args{"mode": "patch", "patch": beginPatch + "\n" + strings.Join(lines, "\n") + "\n" + endPatch}
}

func TestPatchV4AUpdates(t *testing.T) {
	for _, tc := range []struct {
		name, before string
		hunk         []string
		want         string
	}{
		{"one line", "a\nb\nc\n", []string{" a", "-b", "+x", " c"}, "a\nx\nc\n"},
		{"two hunks", "a\nb\nc\nd\n", []string{"@@", "-a", "+x", "@@", "-d", "+y"}, "x\nb\nc\ny\n"},
		{"two hunks out of order", "a\nb\nc\nd\n", []string{"@@", "-d", "+y", "@@", "-a", "+x"}, "x\nb\nc\ny\n"},
		{"insert after context", "a\nb\n", []string{" a", "+x"}, "a\nx\nb\n"},
		{"an anchor decides", "func a\n  x\nfunc b\n  x\n", []string{"@@ func b", "-  x", "+  y"}, "func a\n  x\nfunc b\n  y\n"},
		{"an anchor alone", "func a\nfunc b\n", []string{"@@ func a", "+  x"}, "func a\n  x\nfunc b\n"},
		{"nested anchors", "A\n f\n  x\nB\n f\n  x\n", []string{"@@ B", "@@ f", "-  x", "+  y"}, "A\n f\n  x\nB\n f\n  y\n"},
		{"numbers of a unified diff are passed over", "a\nb\n", []string{"@@ -7,2 +7,2 @@ func x", " a", "-b", "+c"}, "a\nc\n"},
		{"end of file", "x\ny\nx\n", []string{"-x", "+z", endOfFile}, "x\ny\nz\n"},
		{"a blank context line without its blank", "a\n\nb\n", []string{" a", "", "-b", "+c"}, "a\n\nc\n"},
		{"white space differs", "\tif x {\n\t\ty()\n\t}\n", []string{"     if x {", "-        y()", "+        z()"}, "\tif x {\n\t\tz()\n\t}\n"},
		{"E12 mixed line ends stay", "a\r\nb\nc\r\n", []string{" a", "-b", "+x", " c"}, "a\r\nb\nc\r\n"[:3] + "x\nc\r\n"},
		{"CRLF", "a\r\nb\r\n", []string{"-b", "+x", "+y"}, "a\r\nx\r\ny\r\n"},
		{"E16 a line behind an unterminated one", "hello\nworld", []string{"+tail"}, "hello\nworld\ntail\n"},
		{"E16 with context", "hello\nworld", []string{" world", "+tail"}, "hello\nworld\ntail\n"},
		{"E17 an unterminated last line replaced", "l1\nl2", []string{"-l2", "+x"}, "l1\nx"},
		{"E17 no newline added elsewhere", "l1\nl2", []string{"-l1", "+x", " l2"}, "x\nl2"},
		{"E18 final blank line kept", "a\nb\n\n", []string{"-a", "+x"}, "x\nb\n\n"},
		{"into an empty file", "", []string{"+a"}, "a\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newWorkbench(t)
			b.write(t, "f", tc.before)
			if _, err := b.call(t, "patch", v4a(append([]string{"*** Update File: f"}, tc.hunk...)...)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, b.read(t, "f")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestPatchV4ARefusesAndChangesNothing(t *testing.T) {
	for _, tc := range []struct {
		name, before string
		lines        []string
		want         string
	}{
		{"E07 ambiguous", "a=1\nb\na=1\nb\n", []string{"*** Update File: f", "-a=1", "+a=2", " b"}, "2 matches (lines 1, 3)"},
		{"E08 text is absent", "x\n", []string{"*** Update File: f", "@@ -10,1 +10,1 @@", "-absent", "+y"}, `hunk 1 (line 3 of the patch): could not find its lines, the first of which is "absent"`},
		{"the second hunk fails", "a\n", []string{"*** Update File: f", "@@", "-a", "+b", "@@", "-c", "+d"}, "hunk 2 (line 6 of the patch)"},
		{"hunks overlap", "a\nb\nc\n", []string{"*** Update File: f", "@@", " a", "-b", "@@", "-b", "+x"}, "another hunk"},
		{"the anchor is missing", "a\n", []string{"*** Update File: f", "@@ b", "-a", "+x"}, "that @@ names"},
		{"the anchor is ambiguous", "b\na\nb\n", []string{"*** Update File: f", "@@ b", "-a", "+x"}, "2 lines (1, 3)"},
		{"blank lines are no place", "\n\na\n", []string{"*** Update File: f", "-", "+x"}, "could not find"},
		{"nothing changes", "a\n", []string{"*** Update File: f", " a"}, "changes nothing"},
		{"no hunks", "a\n", []string{"*** Update File: f"}, "changes nothing"},
		{"a line without a sign", "a\n", []string{"*** Update File: f", "a"}, "starts neither"},
		{"add what exists", "a\n", []string{"*** Add File: f", "+x"}, "exists already"},
		{"update what is missing", "a\n", []string{"*** Update File: g", "-a", "+x"}, "no such file"},
		{"move onto a file", "a\n", []string{"*** Move File: f -> f2"}, "f2 exists already"},
		{"a file twice", "a\n", []string{"*** Update File: f", "-a", "+b", "*** Delete File: ./f"}, "twice"},
		{"alike in two places behind the anchor", "f\n x \n x \n", []string{"*** Update File: f", "@@ f", "-x", "+y"}, "2 matches (lines 2, 3)"},
		{"no files", "a\n", nil, "names no files"},
		{"an unknown header", "a\n", []string{"*** Rename File: f"}, "not the start of a file"},
		{"the last file fails", "a\n", []string{"*** Update File: f", "-a", "+b", "*** Delete File: g"}, "nothing was changed"},
		{"text behind the end", "a\n", []string{"*** Delete File: f", endPatch, "x"}, "text after"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newWorkbench(t)
			b.write(t, "f", tc.before)
			b.write(t, "f2", "")
			if _, err := b.call(t, "patch", v4a(tc.lines...)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
			if b.read(t, "f") != tc.before {
				t.Error("the file changed")
			}
			b.holds(t, "f", "f2")
		})
	}
	b := newWorkbench(t)
	for _, patch := range []string{"", "hello", beginPatch, beginPatch + "\n*** Add File: f\n+x", "*** Add File: f\n+x\n" + endPatch} {
		if _, err := b.plan(t, "patch", args{"mode": "patch", "patch": patch}); err == nil {
			t.Errorf("%q was accepted", patch)
		}
	}
}

// A patch of several files shows every one of them before any is changed
// (NousResearch/hermes-agent#28120).
func TestE01_MultiFilePatchProposesEveryFile(t *testing.T) {
	b := newWorkbench(t)
	b.write(t, "b.txt", "b\n")
	b.write(t, "c.txt", "c\n")
	must(t, os.Chmod(b.write(t, "run.sh", "r\n"), 0o755))
	plan, err := b.plan(t, "patch", v4a(
		"*** Add File: a.txt", "+x", "*** Delete File: b.txt", "*** Update File: c.txt", "-c", "+d", "*** Move File: run.sh -> bin/run.sh"))
	if err != nil {
		t.Fatal(err)
	}
	type shown struct{ path, old, text string }
	var got []shown
	for _, e := range plan.Access.Edits {
		s := shown{e.Path, "none", "none"}
		if e.OldText != nil {
			s.old = *e.OldText
		}
		if e.NewText != nil {
			s.text = *e.NewText
		}
		got = append(got, s)
		if len(e.Paths) != 5 {
			t.Errorf("%s: the call's paths are %v", e.Path, e.Paths)
		}
	}
	want := []shown{
		{b.path("a.txt"), "none", "x\n"},
		{b.path("b.txt"), "b\n", "none"},
		{b.path("c.txt"), "c\n", "d\n"},
		{b.path("bin/run.sh"), "none", "r\n"},
		{b.path("run.sh"), "r\n", "none"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(shown{})); diff != "" {
		t.Errorf("proposals (-want +got)\n%s", diff)
	}
	b.holds(t, "b.txt", "c.txt", "run.sh")

	if _, err := plan.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	b.holds(t, "a.txt", "c.txt", "bin")
	if info, err := os.Stat(b.path("bin/run.sh")); err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("the moved script: %v, error %v", info.Mode(), err)
	}
}

func TestPatchV4AChangesAllFilesOrNone(t *testing.T) {
	b := newWorkbench(t)
	b.write(t, "a", "a\n")
	b.write(t, "b", "b\n")
	plan, err := b.plan(t, "patch", v4a("*** Update File: a", "-a", "+x", "*** Add File: n", "+n", "*** Update File: b", "-b", "+y"))
	if err != nil {
		t.Fatal(err)
	}
	b.write(t, "b", "changed\n")
	if _, err := plan.Run(t.Context(), nil); err == nil {
		t.Error("it went through")
	}
	b.holds(t, "a", "b")
	if b.read(t, "a") != "a\n" {
		t.Error("the first file changed")
	}
}

func FuzzV4A(f *testing.F) {
	f.Add("a\nb\nc\n", beginPatch+"\n*** Update File: f\n@@ a\n-b\n+x\n c\n"+endPatch)
	f.Add("a\r\nb", beginPatch+"\n*** Update File: f\n b\n+x\n*** End of File\n"+endPatch)
	f.Add("", beginPatch+"\n*** Update File: f\n*** Move to: g\n+x\n"+endPatch)
	f.Add("x", beginPatch+"\n*** Add File: g\n+x\n*** Delete File: f\n*** Move File: a -> b\n"+endPatch)
	f.Fuzz(func(t *testing.T, text, patch string) {
		files, err := parseV4A(patch)
		if err != nil {
			return
		}
		for _, file := range files {
			changed, err := applyHunks(text, file.hunks)
			if err != nil || len(file.hunks) == 0 {
				continue
			}
			// Every line that no hunk names is still there, in its order.
			removed := 0
			for _, h := range file.hunks {
				for _, l := range h.lines {
					if l.op == '-' {
						removed++
					}
				}
			}
			kept := 0
			rest := strings.Split(toLF(changed), "\n")
			for line := range strings.SplitSeq(toLF(text), "\n") {
				for i, l := range rest {
					if l == line {
						kept++
						rest = rest[i+1:]
						break
					}
				}
			}
			if lines := strings.Count(toLF(text), "\n") + 1; kept < lines-removed-1 {
				t.Errorf("%q with %q became %q: %d of %d lines kept, %d removed", text, patch, changed, kept, lines, removed)
			}
		}
	})
}
