//go:build unix

package tools

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Mode bits survive an edit, and new files follow the umask
// (Digital-Process-Tools/claude-supertool#259).
func TestE21_ModeIsKept(t *testing.T) {
	b := newWorkbench(t)
	for _, mode := range []fs.FileMode{0o755, 0o640, 0o600} {
		path := b.write(t, "run.sh", "a\n")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := b.call(t, "patch", args{"path": "run.sh", "old_string": "a", "new_string": "b"}); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode() != mode {
			t.Errorf("mode %v, want %v; error %v", info.Mode(), mode, err)
		}
	}
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	if _, err := b.call(t, "write_file", args{"path": "new", "content": ""}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(b.path("new")); err != nil || info.Mode() != 0o640 {
		t.Errorf("a new file has mode %v, error %v", info.Mode(), err)
	}
}

// A symbolic link stays one: its target is edited, and the proposal names it
// (coctostan/pi-hashline-readmap#153).
func TestE22_SymlinkIsWrittenThrough(t *testing.T) {
	b := newWorkbench(t)
	b.write(t, "real.txt", "a\n")
	if err := os.Symlink("real.txt", b.path("link")); err != nil {
		t.Fatal(err)
	}
	plan, err := b.plan(t, "patch", args{"path": "link", "old_string": "a", "new_string": "b"})
	if err != nil {
		t.Fatal(err)
	}
	edit := plan.Access.Edits[0]
	if edit.Target != b.path("real.txt") || edit.Path != b.path("real.txt") || edit.Paths[0] != b.path("link") {
		t.Errorf("target %s, shown %s, paths %s", edit.Target, edit.Path, edit.Paths)
	}
	if _, err := plan.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(b.path("link")); err != nil || to != "real.txt" || b.read(t, "real.txt") != "b\n" {
		t.Errorf("link to %q, error %v, target holds %q", to, err, b.read(t, "real.txt"))
	}
}

// A workspace that is opened through a link is shown as the client spells it.
func TestEditBelowALinkedRootIsShownThere(t *testing.T) {
	b := newWorkbench(t)
	b.write(t, "real/a.txt", "a\n")
	must(t, os.Symlink("real", b.path("root")))
	b.ws.Cwd = b.path("root")
	plan, err := b.plan(t, "write_file", args{"path": "a.txt", "content": "b\n"})
	must(t, err)
	if edit := plan.Access.Edits[0]; edit.Path != b.path("a.txt") || edit.Target == edit.Path {
		t.Errorf("shown %s, target %s", edit.Path, edit.Target)
	}
}

// Hard links stay together: such a file is written in place
// (NVIDIA-NeMo/labs-OO-Agents#94).
func TestE23_HardLinksStayTogether(t *testing.T) {
	b := newWorkbench(t)
	if err := os.Link(b.write(t, "a", "longer than before\n"), b.path("b")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.call(t, "write_file", args{"path": "a", "content": "x\n"}); err != nil {
		t.Fatal(err)
	}
	if got := b.read(t, "b"); got != "x\n" {
		t.Errorf("the other name holds %q", got)
	}
}

// A dangling link out of the workspace is an edit outside, and its proposal
// says so (nextlevelbuilder/goclaw#1201).
func TestE24_DanglingLinkNamesItsTarget(t *testing.T) {
	b := newWorkbench(t)
	outside := filepath.Join(t.TempDir(), "x")
	if err := os.Symlink(outside, b.path("new.txt")); err != nil {
		t.Fatal(err)
	}
	plan, err := b.plan(t, "write_file", args{"path": "new.txt", "content": "x"})
	if err != nil {
		t.Fatal(err)
	}
	edit := plan.Access.Edits[0]
	if b.ws.Contains(edit.Target) || filepath.Base(edit.Target) != "x" || edit.Path != edit.Target {
		t.Errorf("target %s, shown %s", edit.Target, edit.Path)
	}
	if _, err := os.Lstat(outside); !os.IsNotExist(err) {
		t.Errorf("planning created %s", outside)
	}
}

// What was swapped for a link while the question was open is not written
// through (Automattic/agents-api#474).
func TestE27_SwapForALinkFailsClosed(t *testing.T) {
	for _, tc := range []struct {
		name string
		swap func(t *testing.T, b *workbench, outside string)
	}{
		{"the file", func(t *testing.T, b *workbench, outside string) {
			t.Helper()
			must(t, os.Remove(b.path("dir/f")))
			must(t, os.Symlink(filepath.Join(outside, "f"), b.path("dir/f")))
		}},
		{"its folder", func(t *testing.T, b *workbench, outside string) {
			t.Helper()
			must(t, os.Rename(b.path("dir"), b.path("gone")))
			must(t, os.Symlink(outside, b.path("dir")))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newWorkbench(t)
			outside := t.TempDir()
			must(t, os.WriteFile(filepath.Join(outside, "f"), []byte("a\n"), 0o644))
			b.write(t, "dir/f", "a\n")
			plan, err := b.plan(t, "patch", args{"path": "dir/f", "old_string": "a", "new_string": "b"})
			if err != nil {
				t.Fatal(err)
			}
			tc.swap(t, b, outside)
			if _, err := plan.Run(t.Context(), nil); err == nil {
				t.Error("the edit went through")
			}
			data, err := os.ReadFile(filepath.Join(outside, "f"))
			if diff := cmp.Diff("a\n", string(data)); err != nil || diff != "" {
				t.Errorf("outside: error %v (-want +got)\n%s", err, diff)
			}
		})
	}
}

// To delete or move a link, or what it leads to: a patch does not say which.
func TestPatchDoesNotDeleteOrMoveThroughALink(t *testing.T) {
	b := newWorkbench(t)
	b.write(t, "real.txt", "a\n")
	must(t, os.Symlink("real.txt", b.path("link")))
	for _, part := range [][]string{
		{"*** Delete File: link"},
		{"*** Move File: link -> moved"},
		{"*** Update File: link", "*** Move to: moved", "-a", "+b"},
	} {
		if _, err := b.call(t, "patch", v4a(part...)); err == nil || !strings.Contains(err.Error(), "is a link to "+b.path("real.txt")) {
			t.Errorf("%s: error %v", part[0], err)
		}
	}
	b.holds(t, "link", "real.txt")
}

// A FIFO never hangs a read, and devices are not files.
func TestSpecialFilesAreRefused(t *testing.T) {
	b := newWorkbench(t)
	must(t, syscall.Mkfifo(b.path("fifo"), 0o644))
	for _, path := range []string{"fifo", "/dev/zero"} {
		for tool, a := range map[string]args{
			"read_file":  {"path": path},
			"write_file": {"path": path, "content": "x"},
			"patch":      {"path": path, "old_string": "a", "new_string": "b"},
		} {
			if _, err := b.call(t, tool, a); err == nil {
				t.Errorf("%s %s went through", tool, path)
			}
		}
	}
}
