//go:build unix

package tools

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hermes-acp/hermes-acp/agent"
)

func TestWriteThatFailsLeavesTheFileAndNoRest(t *testing.T) {
	dir, err := agent.ResolveLinks(t.TempDir())
	must(t, err)
	target := filepath.Join(dir, "f")
	must(t, os.WriteFile(target, []byte("old"), 0o644))
	var limit syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	small := limit
	small.Cur = 1 << 20 // stands for a full disk
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small))
	err = writeFile(target, oldContent, 0)
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	if !errors.Is(err, syscall.EFBIG) {
		t.Errorf("error %v", err)
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	data, err := os.ReadFile(target)
	if err != nil || string(data) != "old" || len(entries) != 1 {
		t.Errorf("file %q, error %v, %d entries", data, err, len(entries))
	}
}

// A file of another owner keeps it, which a rename would not allow.
func TestOwnerIsKept(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a file away")
	}
	b := newWorkbench(t)
	path := b.write(t, "f", "a\n")
	must(t, os.Chown(path, 1234, 1234))
	if _, err := b.call(t, "patch", args{"path": "f", "old_string": "a", "new_string": "b"}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	must(t, err)
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != 1234 || b.read(t, "f") != "b\n" {
		t.Errorf("owner %+v, content %q", info.Sys(), b.read(t, "f"))
	}
}

// A read-only file is not replaced behind its mode's back.
func TestReadOnlyFileIsRefused(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everything")
	}
	b := newWorkbench(t)
	must(t, os.Chmod(b.write(t, "f", "a\n"), 0o444))
	if _, err := b.call(t, "patch", args{"path": "f", "old_string": "a", "new_string": "b"}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v", err)
	}
}

// New files in a setgid folder get its group, as every new file there.
func TestE21_SetgidFolder(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	b := newWorkbench(t)
	must(t, os.Mkdir(b.path("d"), 0o755))
	must(t, os.Chown(b.path("d"), 0, 1234))
	must(t, os.Chmod(b.path("d"), 0o755|fs.ModeSetgid))
	for _, content := range []string{"new", "again"} {
		if _, err := b.call(t, "write_file", args{"path": "d/f", "content": content}); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(b.path("d/f"))
		must(t, err)
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Gid != 1234 {
			t.Errorf("%s: %+v", content, info.Sys())
		}
	}
}

func TestSearchPassesOverSpecialFiles(t *testing.T) {
	b := newWorkbench(t)
	must(t, syscall.Mkfifo(b.path("fifo"), 0o644))
	must(t, syscall.Mkfifo(b.path(".gitignore"), 0o644))
	must(t, os.Symlink("/dev/zero", b.path(".ignore")))
	b.write(t, "f", "foo\n")
	if got, err := b.call(t, "search_files", args{"pattern": "foo"}); err != nil || !strings.HasPrefix(got.Text, "1 in 1 files") {
		t.Errorf("%q, error %v", got.Text, err)
	}
	if _, err := b.call(t, "search_files", args{"pattern": "foo", "path": "fifo"}); err == nil {
		t.Error("a FIFO was searched")
	}
}
