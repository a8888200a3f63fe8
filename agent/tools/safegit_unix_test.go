//go:build unix

package tools

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hermes-acp/hermes-acp/agent"
)

// git runs git in dir and returns what it prints.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// makeRepository makes dir a repository with its files in one commit.
func makeRepository(t *testing.T, dir string) {
	t.Helper()
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	git(t, dir, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
}

// addSignedCommit replaces the last commit by one with a signature.
func addSignedCommit(t *testing.T, dir string) {
	t.Helper()
	commit := git(t, dir, "cat-file", "commit", "HEAD")
	signed := strings.Replace(commit, "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n", 1)
	cmd := exec.Command("git", "hash-object", "-t", "commit", "-w", "--stdin")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(signed)
	id, err := cmd.Output()
	must(t, err)
	git(t, dir, "update-ref", "HEAD", strings.TrimSpace(string(id)))
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
	makeRepository(t, b.ws.Cwd)
	addSignedCommit(t, b.ws.Cwd)
	b.write(t, "sub/a.txt", "a\n")
	makeRepository(t, b.path("sub"))
	git(t, b.ws.Cwd, "add", "sub")
	b.write(t, "sub/a.txt", "b\n")
	evil := b.path("evil.sh")
	git(t, b.path("sub"), "config", "diff.external", evil)
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
		{"format.pretty", "%G? %s"},
		{"diff.submodule", "diff"},
	} {
		git(t, b.ws.Cwd, "config", setting[0], setting[1])
	}
	b.write(t, ".git/hooks/post-index-change", "#!/bin/sh\ntouch "+b.path("ran")+"\n")
	must(t, os.Chmod(b.path(".git/hooks/post-index-change"), 0o755))
	b.write(t, "a.txt", "b\n")
	for _, line := range []string{"git status", "git diff", "git log -p", "git show HEAD", "git diff --cached", "git log", "git ls-files -m"} {
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
	makeRepository(t, b.path("bare"))
	inside, err := os.ReadDir(b.path("bare/.git"))
	must(t, err)
	for _, entry := range inside {
		must(t, os.Rename(b.path("bare/.git/"+entry.Name()), b.path("bare/"+entry.Name())))
	}
	must(t, os.Remove(b.path("bare/.git")))
	b.write(t, "bare/config", "[core]\nrepositoryformatversion=0\nbare=false\nworktree=.\n[filter \"x\"]\nclean="+b.path("evil.sh")+"\n")
	b.write(t, "bare/a.txt", "b\n")
	if _, err := b.call(t, "terminal", args{"command": "cd bare && git status && git log -p"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(b.path("ran")); err == nil {
		t.Error("the configuration of a folder inside the project ran a program")
	}
}

// A filter that the repository itself names would run for git status; one that
// the person's configuration names is theirs. Outside a repository git diff
// shows folders, through links too.
func TestGitAsksWhereTheRepositoryMakesItUnsafe(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	b := newWorkbench(t)
	t.Setenv("GIT_CONFIG_GLOBAL", b.write(t, "gitconfig", "[filter \"lfs\"]\nclean = git-lfs clean -- %f\n"))
	b.write(t, "plain/a.txt", "a\n")
	makeRepository(t, b.path("plain"))
	b.write(t, "filtered/a.txt", "a\n")
	makeRepository(t, b.path("filtered"))
	git(t, b.path("filtered"), "config", "filter.x.clean", b.path("evil.sh"))
	b.write(t, "included/a.txt", "a\n")
	makeRepository(t, b.path("included"))
	git(t, b.path("included"), "config", "include.path", b.path("filtered/.git/config"))
	b.write(t, "folder/a.txt", "a\n")
	for _, tc := range []struct {
		dir, line string
		want      agent.Verdict
		reason    string
	}{
		{"plain", "git status && git diff", agent.VerdictSafe, ""},
		{"filtered", "git status", agent.VerdictAsk, "filter.x.clean"},
		{".", "cd plain && git status && cd ../filtered && git diff | cat", agent.VerdictAsk, "filter.x.clean"},
		{"included", "git status", agent.VerdictAsk, "filter.x.clean"},
		{"folder", "git diff a~1/ HEAD~1", agent.VerdictAsk, "no repository"},
		{"folder", "git --version", agent.VerdictSafe, ""},
	} {
		plan, err := b.plan(t, "terminal", args{"command": tc.line, "workdir": tc.dir})
		must(t, err)
		if got := plan.Access.Command; got.Verdict != tc.want || !strings.Contains(got.Reason, tc.reason) {
			t.Errorf("%s in %s: verdict %v, reason %q; want %v, %q", tc.line, tc.dir, got.Verdict, got.Reason, tc.want, tc.reason)
		}
	}
}
