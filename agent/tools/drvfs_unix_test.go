//go:build unix

package tools

import (
	"context"
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

// What a repository's configuration names is not run by a command that nobody
// was asked about.
func TestSafeGitDoesNotRunConfiguredPrograms(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	b := newWorkbench(t)
	b.write(t, "evil.sh", "#!/bin/sh\ntouch "+b.path("ran")+"\n")
	must(t, os.Chmod(b.path("evil.sh"), 0o755))
	b.write(t, ".gitattributes", "*.txt diff=evil\n")
	b.write(t, "a.txt", "a\n")
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = b.ws.Cwd
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run("init", "-q")
	run("add", ".")
	run("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
	evil := b.path("evil.sh")
	for _, setting := range [][2]string{
		{"core.fsmonitor", evil},
		{"diff.external", evil},
		{"diff.evil.textconv", evil},
		{"diff.evil.command", evil},
		{"core.pager", evil},
		{"pager.diff", evil},
		{"pager.log", evil},
		{"gpg.program", evil},
		{"log.showSignature", "true"},
	} {
		run("config", setting[0], setting[1])
	}
	b.write(t, ".git/hooks/post-index-change", "#!/bin/sh\ntouch "+b.path("ran")+"\n")
	must(t, os.Chmod(b.path(".git/hooks/post-index-change"), 0o755))
	b.write(t, "a.txt", "b\n")
	for _, line := range []string{"git status", "git diff", "git log -p", "git show HEAD", "git diff --cached", "git ls-files -m"} {
		plan, err := b.plan(t, "terminal", args{"command": line})
		if err != nil || plan.Access.Command.Verdict == 0 {
			t.Fatalf("%s: verdict %v, error %v", line, plan.Access.Command.Verdict, err)
		}
		if got, err := plan.Run(t.Context(), nil); err != nil || got.Failed {
			t.Errorf("%s: %q, error %v", line, got.Text, err)
		}
		if _, err := os.Stat(b.path("ran")); err == nil {
			t.Fatalf("%s ran a configured program", line)
		}
	}
}

// A project's own programs are not run in place of those on the safe list, nor
// is the configuration of a folder that only looks like a repository.
func TestSafeCommandsAreNotTheProjectsOwn(t *testing.T) {
	b := newWorkbench(t)
	b.write(t, "bin/ls", "#!/bin/sh\ntouch "+b.path("ran")+"\n")
	must(t, os.Chmod(b.path("bin/ls"), 0o755))
	b.Toolset = New(Options{Env: func(context.Context) []string {
		return append(os.Environ(), "PATH="+b.path("bin")+":bin:."+":"+os.Getenv("PATH"))
	}})
	for line, want := range map[string]bool{"ls": false, "ls; touch -c x": true} {
		if _, err := b.call(t, "terminal", args{"command": line}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(b.path("ran")); (err == nil) != want {
			t.Errorf("%s: the project's ls ran: %v", line, err == nil)
		}
		_ = os.Remove(b.path("ran")) // for the next line
	}

	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	b.write(t, "evil.sh", "#!/bin/sh\ntouch "+b.path("ran")+"\ncat\n")
	must(t, os.Chmod(b.path("evil.sh"), 0o755))
	b.write(t, "bare/a.txt", "a\n")
	b.write(t, "bare/.gitattributes", "*.txt filter=x\n")
	for _, words := range []string{"init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm x"} {
		cmd := exec.Command("git", strings.Fields(words)...)
		cmd.Dir = b.path("bare")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", words, err, out)
		}
	}
	inside, err := os.ReadDir(b.path("bare/.git"))
	must(t, err)
	for _, entry := range inside {
		must(t, os.Rename(b.path("bare/.git/"+entry.Name()), b.path("bare/"+entry.Name())))
	}
	must(t, os.Remove(b.path("bare/.git")))
	b.write(t, "bare/config", "[core]\nrepositoryformatversion=0\nbare=false\nworktree=.\n[filter \"x\"]\nclean="+b.path("evil.sh")+"\n")
	b.write(t, "bare/a.txt", "b\n")
	if _, err := b.call(t, "terminal", args{"command": "cd bare && git status && git diff"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(b.path("ran")); err == nil {
		t.Error("the configuration of a folder inside the project ran a program")
	}
}
