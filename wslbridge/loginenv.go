//go:build unix

package wslbridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	loginShellTimeout = 10 * time.Second
	// The two differ, since some shells put the last word of a command into the environment (as _).
	environmentBegin = "hermes-acp-environment-begin:"
	environmentEnd   = "hermes-acp-environment-end:"
)

// LoginEnvironment is the environment that a person's own shell has. What wsl.exe starts gets
// neither ~/.profile nor ~/.bashrc, so tools installed by nvm, asdf or cargo would be missing
// (openai/codex#13566). The shell is asked once, when the environment is first wanted.
type LoginEnvironment struct {
	Shell   string            // absolute path; "" means $SHELL, then /bin/sh
	OnDrvfs func(string) bool // reports whether a Linux path is on a Windows drive
	Log     *slog.Logger

	once   sync.Once
	answer LoginAnswer
	err    error
}

// LoginAnswer is what a login shell said.
type LoginAnswer struct {
	Environ []string // as os.Environ does
	Chatter string   // what its start files print to stdout
}

// Ask returns the shell's answer. When the shell cannot be asked, the environment in it is this
// process's own.
func (l *LoginEnvironment) Ask(ctx context.Context) (LoginAnswer, error) {
	l.once.Do(func() {
		l.answer, l.err = askLoginShell(ctx, l.shell())
		if l.err != nil {
			l.Log.WarnContext(ctx, "cannot read the environment of the login shell, using this process's own", "shell", l.shell(), "err", l.err)
			l.answer.Environ = os.Environ()
		}
	})
	return l.answer, l.err
}

// Environ returns the variables of Ask.
func (l *LoginEnvironment) Environ(ctx context.Context) []string {
	answer, _ := l.Ask(ctx) // logged
	return answer.Environ
}

func (l *LoginEnvironment) shell() string {
	for _, shell := range []string{l.Shell, os.Getenv("SHELL")} {
		if filepath.IsAbs(shell) {
			return shell
		}
	}
	return "/bin/sh"
}

// LookPath finds a program as exec.LookPath does, on the PATH of the login shell, and leaves out
// hits on Windows drives: npm's own files there are scripts with CRLF line ends (WSL#5251).
func (l *LoginEnvironment) LookPath(ctx context.Context, name string) (string, error) {
	if strings.Contains(name, "/") {
		return exec.LookPath(name)
	}
	for _, dir := range filepath.SplitList(lookupEnv(l.Environ(ctx), "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			continue
		}
		if l.OnDrvfs != nil && l.OnDrvfs(path) {
			l.Log.InfoContext(ctx, "skipped a program on a Windows drive", "path", path)
			continue
		}
		return path, nil
	}
	return "", &fs.PathError{Op: "find", Path: name, Err: exec.ErrNotFound}
}

// askLoginShell runs a login shell that is interactive too, since many .bashrc files return
// early in one that is not. It gets a session of its own, lest it take the terminal.
func askLoginShell(ctx context.Context, shell string) (LoginAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, loginShellTimeout)
	defer cancel()
	script := fmt.Sprintf("printf %%s %s; env -0; printf %%s %s", environmentBegin, environmentEnd)
	cmd := exec.CommandContext(ctx, shell, "-l", "-i", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// Start files that take long may hold locks (pyenv does), which only a signal that they can
	// catch makes them give back.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGHUP) }
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if ctx.Err() != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // whoever is left
	}
	chatter, rest, begun := bytes.Cut(out, []byte(environmentBegin))
	text, _, ended := bytes.Cut(rest, []byte(environmentEnd))
	if !begun || !ended {
		return LoginAnswer{}, errors.Join(errors.New("it printed no environment"), ctx.Err(), err)
	}
	answer := LoginAnswer{Chatter: string(chatter)}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(text), "\x00"), "\x00") {
		if strings.Contains(entry, "=") && !strings.HasPrefix(entry, "SHLVL=") && !strings.HasPrefix(entry, "_=") {
			answer.Environ = append(answer.Environ, entry)
		}
	}
	return answer, nil
}
