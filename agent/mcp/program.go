package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hermes-acp/hermes-acp/agent"
)

// endStep is how long a program may take to end after its stdin was closed, and
// then after it was asked to.
const endStep = 2 * time.Second

// startProgram starts a server that speaks on stdin and stdout.
func startProgram(ctx context.Context, opts Options, spec agent.ToolServer, cwd string, log *slog.Logger) (mcp.Transport, error) {
	path := spec.Command
	if opts.LookPath != nil && !strings.ContainsRune(path, filepath.Separator) {
		found, err := opts.LookPath(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", path, err)
		}
		path = found
	}
	cmd := exec.Command(path, spec.Args...) //nolint:noctx // it outlives ctx, which bounds its start only
	cmd.Dir = programDir(path, cwd)
	cmd.Env = environment(opts.Env(ctx), opts.StripEnv, spec.Env)
	ownGroup(cmd)
	cmd.Stderr = &logLines{log: log}
	// What is left of a pipe when the program has ended belongs to a grandchild
	// that kept it; it is not waited for.
	cmd.WaitDelay = endStep
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	p := &program{cmd: cmd, stdin: stdin, lines: bufio.NewReader(stdout), log: log}
	return &mcp.IOTransport{Reader: p, Writer: stdin, MaxLineLength: 64 << 20}, nil
}

// programDir is where a program starts: the session's cwd, but the folder of the
// program itself for a Windows program with a cwd that Windows cannot name, since
// cmd.exe greets such a cwd with a warning on the very stdout that carries the
// protocol (NousResearch/hermes-agent#8305).
func programDir(path, cwd string) string {
	windows := strings.EqualFold(filepath.Ext(path), ".exe")
	if windows && !strings.HasPrefix(cwd, "/mnt/") {
		return filepath.Dir(path)
	}
	return cwd
}

// program is the stdout of a running server. Lines before and between the
// protocol's frames, such as a shell's greeting, are logged and left out.
type program struct {
	cmd   *exec.Cmd
	stdin io.Closer
	lines *bufio.Reader
	rest  []byte // of the line that is being read
	log   *slog.Logger
}

func (p *program) Read(buf []byte) (int, error) {
	for len(p.rest) == 0 {
		line, err := p.lines.ReadBytes('\n')
		trimmed := bytes.TrimSpace(line)
		if len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
			p.rest = append(trimmed, '\n')
			break
		}
		if len(trimmed) > 0 {
			p.log.Info("mcp server wrote a line that is no message", "bytes", len(trimmed))
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(buf, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// Close ends the program: first by closing its stdin, then by asking, then by
// force, with everything it started in its group.
func (p *program) Close() error {
	_ = p.stdin.Close() // a program that is gone has closed it already
	done := make(chan error, 1)
	go func() { done <- p.cmd.Wait() }()
	for _, end := range []func(*exec.Cmd){func(*exec.Cmd) {}, terminateGroup, killGroup} {
		end(p.cmd)
		select {
		case err := <-done:
			killGroup(p.cmd)
			var exit *exec.ExitError
			if errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) {
				return nil // how it ended does not matter any more
			}
			return err
		case <-time.After(endStep):
		}
	}
	return fmt.Errorf("process %d does not end", p.cmd.Process.Pid)
}

// logLines logs what a server writes to stderr, a line a record.
type logLines struct {
	log  *slog.Logger
	part []byte
}

func (l *logLines) Write(p []byte) (int, error) {
	l.part = append(l.part, p...)
	for {
		i := bytes.IndexByte(l.part, '\n')
		if i < 0 {
			if len(l.part) > 8<<10 {
				l.part = l.part[:0]
			}
			return len(p), nil
		}
		l.log.Debug("mcp server stderr", "line", string(bytes.TrimSpace(l.part[:i])))
		l.part = l.part[i+1:]
	}
}
