package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hermes-acp/hermes-acp/agent"
)

const (
	// termGrace is how long a command may take to end after SIGTERM.
	termGrace = 400 * time.Millisecond
	// killGrace is how long it may take to end after SIGKILL. One that waits
	// for a disk or a Windows drive may take longer, and holds nobody up.
	killGrace = 400 * time.Millisecond
	// outputGrace is how long output may still come after the command itself
	// has ended, from processes that it left behind.
	outputGrace = 200 * time.Millisecond
)

// shellCommand is a command line that runs in a shell, in a session and process
// group of its own.
type shellCommand struct {
	cmd    *exec.Cmd
	output capture
	input  io.WriteCloser // nil when stdin is the null device
	done   chan struct{}  // closed after exit and leftBehind are set

	exit agent.ExitStatus
	// leftBehind says that processes of the group outlived the shell and were
	// killed.
	leftBehind bool
}

// shellOptions says how a line runs beyond its text.
type shellOptions struct {
	dir      string
	env      []string
	input    bool         // stdin is a pipe instead of the null device
	onOutput func([]byte) // called for each piece of output, from one goroutine
}

// startShell starts a line. Whoever calls it waits for done or calls stop; every
// process of the group has ended when done is closed.
func (t *Toolset) startShell(line string, opts shellOptions) (*shellCommand, error) {
	argv := t.shellArgv(line)
	s := &shellCommand{done: make(chan struct{})}
	s.cmd = exec.Command(argv[0], argv[1:]...) //nolint:noctx // stop ends the whole group, a context only the shell
	s.cmd.Dir = opts.dir
	s.cmd.Env = opts.env
	ownSession(s.cmd)

	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("run the command: %w", err)
	}
	s.cmd.Stdout, s.cmd.Stderr = write, write
	if opts.input {
		if s.input, err = s.cmd.StdinPipe(); err != nil {
			return nil, errors.Join(fmt.Errorf("run the command: %w", err), read.Close(), write.Close())
		}
	}
	err = s.cmd.Start()
	err = errors.Join(err, write.Close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("run the command: %w", err), read.Close())
	}
	go s.wait(read, opts.onOutput)
	return s, nil
}

// wait collects the output and the exit status.
func (s *shellCommand) wait(read *os.File, onOutput func([]byte)) {
	defer close(s.done)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		buf := make([]byte, 32<<10)
		for {
			n, err := read.Read(buf)
			if n > 0 {
				_, _ = s.output.Write(buf[:n]) // never fails
				if onOutput != nil {
					onOutput(buf[:n])
				}
			}
			if err != nil {
				return
			}
		}
	}()

	_ = s.cmd.Wait() // its outcome is in ProcessState
	select {
	case <-drained:
	case <-time.After(outputGrace):
	}
	s.leftBehind = killGroup(s.cmd)
	select {
	case <-drained:
	case <-time.After(outputGrace): // a process that left the group holds the pipe
		_ = read.SetReadDeadline(time.Now())
		<-drained
	}
	_ = read.Close()
	s.exit = exitStatus(s.cmd.ProcessState)
}

// stop ends the command: it asks, then kills. It reports whether all has ended;
// if not, it will as soon as the system lets it.
func (s *shellCommand) stop() (ended bool) {
	terminateGroup(s.cmd)
	if s.endsWithin(termGrace) {
		return true
	}
	killGroup(s.cmd)
	return s.endsWithin(killGrace)
}

func (s *shellCommand) endsWithin(grace time.Duration) bool {
	select {
	case <-s.done:
		return true
	case <-time.After(grace):
		return false
	}
}

// shellArgv is the program that runs a line. The shell reads no start file, so
// that the line means what it was parsed as.
func (t *Toolset) shellArgv(line string) []string {
	shell := t.shell()
	if isBash(shell) {
		return []string{shell, "--noprofile", "--norc", "-c", line}
	}
	return []string{shell, "-c", line}
}

// shell returns the absolute path of the shell that runs commands.
func (t *Toolset) shell() string {
	if t.opts.Shell != "" {
		return t.opts.Shell
	}
	if path, err := exec.LookPath("bash"); err == nil && filepath.IsAbs(path) {
		return path
	}
	return "/bin/sh"
}

// classifier parses for the shell that will run the line.
func (t *Toolset) classifier() classifier {
	lang := syntax.LangPOSIX
	if isBash(t.shell()) {
		lang = syntax.LangBash
	}
	return classifier{lang: lang, home: t.opts.Home}
}

func isBash(shell string) bool { return filepath.Base(shell) == "bash" }

// shellOptions returns how a classified line runs.
func (t *Toolset) shellOptions(ctx context.Context, ws *agent.Workspace, line classified) shellOptions {
	dir := line.command.Dir
	env := append(t.commandEnv(ctx, dir), "HERMES_SESSION_ID="+ws.SessionID) // as Hermes tells its commands
	var settings []gitSetting
	if t.opts.OnDrvfs(dir) {
		if value, _ := WindowsAutocrlf(dir); value != "" {
			settings = append(settings, gitSetting{"core.autocrlf", value})
		}
	}
	if line.command.Verdict == agent.VerdictSafe {
		settings = append(settings, safeGitSettings()...)
		env = append(env,
			"GIT_OPTIONAL_LOCKS=0", // no index refresh, so no post-index-change hook
			"GIT_NO_LAZY_FETCH=1",  // no connection for missing objects
			// In GBK or Shift-JIS a backslash may be the second half of a
			// character, and the shell would read another line than the parser.
			"LC_ALL=C.UTF-8",
			"PATH="+t.systemPath(lookup(env, "PATH"), ws))
	}
	return shellOptions{dir: dir, env: withGitSettings(env, settings)}
}

// commandEnv is the environment of a command that runs in dir.
func (t *Toolset) commandEnv(ctx context.Context, dir string) []string {
	env := slices.DeleteFunc(slices.Clone(t.opts.Env(ctx)), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return changesShell(name) || slices.Contains(t.opts.StripEnv, name)
	})
	return append(env, "PATH="+nativeFirst(lookup(env, "PATH"), t.opts.OnDrvfs), "PWD="+dir, "TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0")
}

// systemPath leaves relative folders, and those inside the workspace or the home
// folder, out of a PATH: what runs without a question must be neither a program
// of the project nor a shim that the project's files redirect (asdf, mise).
func (t *Toolset) systemPath(path string, ws *agent.Workspace) string {
	home := agent.Workspace{Cwd: t.opts.Home}
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool {
		target, err := agent.ResolveLinks(dir)
		return !filepath.IsAbs(dir) || err != nil || ws.Contains(target) || t.opts.Home != "" && home.Contains(target)
	})
	return cmp.Or(strings.Join(dirs, string(filepath.ListSeparator)), "/usr/bin:/bin")
}

// changesShell names the variables that make a shell run or mean other things
// than the line it is given: start files, options, exported functions.
func changesShell(name string) bool {
	switch name {
	case "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "CDPATH", "GLOBIGNORE", "BASH_XTRACEFD", "BASH_COMPAT", "POSIXLY_CORRECT":
		return true
	}
	return strings.HasPrefix(name, "BASH_FUNC_")
}
