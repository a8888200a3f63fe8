//go:build unix

package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	child := start(t, "fill", dir, fmt.Sprint(2<<20))
	var answered int
	var full bool
	line := child.next(t)
	if _, err := fmt.Sscan(line, &answered, &full); err != nil || !full || answered == 0 {
		t.Fatalf("%q: %v", line, err)
	}
	if !strings.Contains(line, "free some space") {
		t.Errorf("%q does not say what to do", line)
	}
	_ = child.cmd.Wait()

	db := openIn(t, dir)
	msgs := messagesOf(t, db, "s1")
	if len(msgs) < 2*answered {
		t.Errorf("%d messages of %d answered turns", len(msgs), answered)
	}
	appendAll(t, db, "s1", true, user("after"), assistant("more room"))
	if got := query(t, dir, "PRAGMA integrity_check"); got != "ok" {
		t.Error(got)
	}
}

// TestReadOnly opens the store as a user who may not write: this one, or nobody
// when the tests run as root.
func TestReadOnly(t *testing.T) {
	for name, modes := range map[string][2]os.FileMode{
		"file":   {0o444, 0o755},
		"folder": {0o666, 0o555},
		"both":   {0o444, 0o555},
	} {
		t.Run(name, func(t *testing.T) {
			dir := reachable(t)
			closed(t, dir)
			path := filepath.Join(dir, FileName)
			if err := os.Chmod(path, modes[0]); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, modes[1]); err != nil {
				t.Fatal(err)
			}
			cmd := helperCommand(t, "write", dir)
			if os.Geteuid() == 0 {
				cmd.Path = copyForNobody(t, cmd.Path)
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if text := string(out); !strings.HasPrefix(text, "true ") || !strings.Contains(text, path) && !strings.Contains(text, "session new") {
				t.Errorf("got %s", text)
			}
			if aside, _ := filepath.Glob(path + ".corrupt-*"); aside != nil {
				t.Errorf("moved aside: %q", aside)
			}
		})
	}
}

// copyForNobody copies the test binary to where every user can run it.
func copyForNobody(t *testing.T, exe string) string {
	t.Helper()
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(reachable(t), "store.test")
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// reachable is a temporary folder that every user can enter; t.TempDir is not.
func reachable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "store") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700); _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
