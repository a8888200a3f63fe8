//go:build unix

package tools

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A program on a Windows drive does not hide the Linux one of the same name
// (microsoft/WSL#5251).
func TestW26_ProgramsOnWindowsDrivesComeLast(t *testing.T) {
	onDrvfs := func(p string) bool { return strings.HasPrefix(p, "/mnt/c/") }
	if got, want := nativeFirst("/mnt/c/nodejs:/usr/bin:/mnt/c/x:/bin", onDrvfs), "/usr/bin:/bin:/mnt/c/nodejs:/mnt/c/x"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A checkout of Git for Windows shows nothing as modified for its line ends.
func TestGitInACheckoutOfGitForWindows(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	b := newWorkbench(t)
	root := b.ws.Cwd
	repo := b.path("c/Users/anna/proj")
	b.write(t, "c/Users/anna/proj/a.txt", "one\r\ntwo\r\n")
	must(t, os.MkdirAll(b.path("c/Program Files/Git/etc"), 0o755))
	b.write(t, "c/Program Files/Git/etc/gitconfig", "[core]\n\tautocrlf = true\n")
	for _, args := range [][]string{
		{"init", "-q"},
		{"config", "core.filemode", "false"},
		{"config", "core.symlinks", "false"},
		{"config", "core.ignorecase", "true"},
		{"-c", "core.autocrlf=true", "add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = repo
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+root)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	must(t, os.WriteFile(filepath.Join(repo, "a.txt"), []byte("one\r\ntwo\r\n"), 0o644)) // a new time, so that git looks at it
	// The mount of the drive is found by its letter, so the test's folders above
	// must not have a name of one letter.
	value, file := WindowsAutocrlf(repo)
	if value != "true" || file != b.path("c/Program Files/Git/etc/gitconfig") {
		t.Fatalf("autocrlf %q from %q", value, file)
	}
	status := func(onDrvfs bool) string {
		t.Helper()
		b.opts.OnDrvfs = func(string) bool { return onDrvfs }
		got, err := b.call(t, "terminal", args{"command": "git status --porcelain", "workdir": repo})
		if err != nil {
			t.Fatal(err)
		}
		return got.Text
	}
	if got := status(true); got != "[exit code 0]" {
		t.Errorf("on a Windows drive: %q", got)
	}
	if got := status(false); !strings.Contains(got, " M a.txt") {
		t.Errorf("elsewhere, which shows that the test can fail: %q", got)
	}
}
