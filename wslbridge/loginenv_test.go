//go:build linux

package wslbridge

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writeFile makes a file below dir with its folders.
func writeFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestW25_LoginEnvironmentHasWhatBashrcSets(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed here")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	writeFile(t, filepath.Join(home, ".profile"), "echo Welcome; . ~/.bashrc\n", 0o644)
	writeFile(t, filepath.Join(home, ".bashrc"), "case $- in *i*) ;; *) return ;; esac\nexport PATH=$HOME/.nvm/v/bin:$PATH MULTI='a\nb'\n", 0o644)
	tool := filepath.Join(home, ".nvm/v/bin/fakenode")
	writeFile(t, tool, "#!/bin/sh\n", 0o755)
	login := &LoginEnvironment{Shell: bash, Log: discardLog()}
	if got, err := login.LookPath(t.Context(), "fakenode"); got != tool || err != nil {
		t.Errorf("LookPath = %q, %v", got, err)
	}
	if !slices.Contains(login.Environ(t.Context()), "MULTI=a\nb") {
		t.Error("a variable of two lines is lost")
	}
	if answer, err := login.Ask(t.Context()); answer.Chatter != "Welcome\n" || err != nil {
		t.Errorf("the start files print %q, %v", answer.Chatter, err)
	}
}

func TestLoginEnvironmentOfEveryShell(t *testing.T) {
	for _, shell := range []string{"sh", "dash", "bash", "zsh", "fish", "ksh"} {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skip("not installed here")
			}
			t.Setenv("HOME", t.TempDir())
			t.Setenv("ZZ_LAST", "kept")
			login := &LoginEnvironment{Shell: path, Log: discardLog()}
			environ := login.Environ(t.Context())
			if !slices.Contains(environ, "ZZ_LAST=kept") || lookupEnv(environ, "PATH") == "" {
				t.Errorf("the environment is cut: %q", environ)
			}
		})
	}
}

func TestW26_ProgramsOnWindowsDrivesAreSkipped(t *testing.T) {
	dir := t.TempDir()
	for _, bin := range []string{"mnt/c/nodejs", "usr/bin"} {
		writeFile(t, filepath.Join(dir, bin, "npm"), "#!/bin/sh\n", 0o755)
	}
	writeFile(t, filepath.Join(dir, "mnt/c/nodejs", "only-there"), "#!/bin/sh\n", 0o755)
	t.Setenv("PATH", filepath.Join(dir, "mnt/c/nodejs")+":"+filepath.Join(dir, "usr/bin")+":/usr/bin:/bin")
	login := &LoginEnvironment{
		Shell:   "/no/such/shell", // the process's own environment is used then
		OnDrvfs: func(path string) bool { return strings.HasPrefix(path, filepath.Join(dir, "mnt")) },
		Log:     discardLog(),
	}
	if got, err := login.LookPath(t.Context(), "npm"); got != filepath.Join(dir, "usr/bin/npm") || err != nil {
		t.Errorf("LookPath(npm) = %q, %v", got, err)
	}
	if got, err := login.LookPath(t.Context(), "only-there"); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("LookPath(only-there) = %q, %v", got, err)
	}
}
