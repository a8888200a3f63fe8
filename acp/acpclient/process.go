package acpclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// An agent whose input was closed may take exitPatience to end, which is longer
// than the bridge's own steps; after the request to end, killPatience.
const (
	exitPatience = 10 * time.Second
	killPatience = 2 * time.Second
)

// Process is an agent that runs as a child over pipes. On Unix it leads a
// process group of its own, so that a Ctrl-C in the terminal is the client's to
// handle.
type Process struct {
	Stdin  *os.File // the agent's input
	Stdout *os.File // the agent's output; the caller closes it

	cmd    *exec.Cmd
	stderr *tail
	exited chan struct{} // closed when cmd holds how it ended
}

// ExitError says that an agent ended when it should not have, or not well.
type ExitError struct {
	// Status is how it ended: "exit status 1", "signal: killed".
	Status string
	// Stderr holds the last lines that it wrote to its standard error.
	Stderr string
}

func (e *ExitError) Error() string {
	text := "the agent ended: " + e.Status
	if e.Stderr == "" {
		return text
	}
	return text + "\nits last words were:\n" + e.Stderr
}

// StartProcess starts cmd, whose Stdin, Stdout and Stderr must be unset. The
// caller must Stop it.
func StartProcess(cmd *exec.Cmd) (*Process, error) {
	agentIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start agent: %w", err)
	}
	stdout, agentOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start agent: %w", err), agentIn.Close(), stdin.Close())
	}
	p := &Process{Stdin: stdin, Stdout: stdout, cmd: cmd, stderr: &tail{}, exited: make(chan struct{})}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = agentIn, agentOut, p.stderr
	cmd.WaitDelay = killPatience // a process it left behind may hold stderr open
	leadOwnGroup(cmd)
	err = cmd.Start()
	err = errors.Join(err, agentIn.Close(), agentOut.Close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start agent: %w", err), stdin.Close(), stdout.Close())
	}
	go func() {
		defer close(p.exited)
		_ = cmd.Wait() // cmd.ProcessState tells it better
	}()
	return p, nil
}

// Stop closes the agent's input and waits for it to end; one that does not is
// asked to, then killed. When ctx ends that happens at once. The error is an
// *ExitError unless the agent ended by itself with status 0.
func (p *Process) Stop(ctx context.Context) error {
	_ = p.Stdin.Close() // already closed when Stop is called again
	if !p.wait(ctx, exitPatience) {
		p.terminate()
		if !p.wait(context.WithoutCancel(ctx), killPatience) {
			p.Kill()
		}
		<-p.exited
	}
	if p.cmd.ProcessState.Success() {
		return nil
	}
	return p.exitError()
}

// Kill ends the agent, and on Unix what it started, at once.
func (p *Process) Kill() {
	select {
	case <-p.exited:
	default:
		p.killGroup()
	}
}

// Wait returns when the agent has ended.
func (p *Process) Wait() { <-p.exited }

func (p *Process) wait(ctx context.Context, limit time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-ctx.Done():
		return false
	case <-time.After(limit):
		return false
	}
}

// explain returns, for a call that failed because the connection ended, why it
// did.
func (p *Process) explain(ctx context.Context, err error) error {
	if p.wait(ctx, killPatience) {
		return p.exitError()
	}
	return fmt.Errorf("the agent closed its output but goes on running: %w", err)
}

func (p *Process) exitError() *ExitError {
	return &ExitError{Status: p.cmd.ProcessState.String(), Stderr: p.stderr.String()}
}

// tail keeps the last lines of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const (
	tailLines = 12
	tailBytes = 8 << 10
)

func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, data...)
	if excess := len(t.text) - tailBytes; excess > 0 {
		t.text = bytes.Clone(t.text[excess:])
	}
	return len(data), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimRight(string(t.text), "\r\n"), "\n")
	if excess := len(lines) - tailLines; excess > 0 {
		lines = lines[excess:]
	}
	return strings.Join(lines, "\n")
}
