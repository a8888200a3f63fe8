//go:build unix

package wslbridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
)

// agent is what a host runs behind the rewrite stage.
type agent interface {
	// run returns when the agent has ended, which ctx asks it to do. open waits for the stage to be
	// ready.
	run(ctx context.Context, open func() (*Stage, error)) agentEnd
	kill() // whatever it takes
}

type agentEnd struct {
	code int
	err  error
}

func (h *Host) newAgent(ahead *spool) agent {
	if len(h.Command) == 0 {
		return servedAgent(h.Serve)
	}
	return &commandAgent{host: h, input: ahead}
}

// servedAgent runs in this process.
type servedAgent func(context.Context, io.Reader, io.Writer) error

func (serve servedAgent) run(ctx context.Context, open func() (*Stage, error)) agentEnd {
	stage, err := open()
	if errors.Is(err, ErrClientClosed) {
		return agentEnd{}
	}
	if err == nil {
		err = serve(ctx, stage, stage)
	}
	if err != nil {
		return agentEnd{code: 1, err: fmt.Errorf("serve: %w", err)}
	}
	return agentEnd{}
}

func (serve servedAgent) kill() {} // the process exits after Host.Run

// commandAgent runs as a process group of its own.
type commandAgent struct {
	host  *Host
	input *spool       // of the stage, given up once the agent has ended
	group atomic.Int64 // process group id; 0 before the start
}

func (a *commandAgent) run(ctx context.Context, open func() (*Stage, error)) agentEnd {
	// The kernel ends the agent with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd, stdin, stdout, err := a.start(ctx)
	if err != nil {
		return agentEnd{code: 1, err: err}
	}
	a.group.Store(int64(cmd.Process.Pid))
	defer context.AfterFunc(ctx, func() { a.signal(syscall.SIGTERM) })()
	stage, err := open()
	if err != nil {
		_ = stdin.Close()
		_ = stdout.Close()
		a.kill()
		_ = cmd.Wait()
		if errors.Is(err, ErrClientClosed) {
			return agentEnd{}
		}
		return agentEnd{code: 1, err: err}
	}
	outbound := startPump(stdout, func(p []byte) error {
		_, err := stage.Write(p)
		return err
	})
	inbound := make(chan struct{})
	go func() {
		defer close(inbound)
		_, _ = io.Copy(stdin, stage)
		_ = stdin.Close()
	}()
	_ = cmd.Wait() // its state says more than this error
	a.kill()       // what it left behind in its group
	outbound.finish(drainQuiet)
	_ = stage.Close()
	a.input.giveUp(nil)
	_ = stdin.Close()
	<-inbound
	return endOf(cmd)
}

func (a *commandAgent) kill() { a.signal(syscall.SIGKILL) }

func (a *commandAgent) signal(s syscall.Signal) {
	if group := a.group.Load(); group != 0 {
		_ = syscall.Kill(-int(group), s) // it fails when nobody is left
	}
}

// endOf turns an exit status into the host's own. wsl.exe takes 67 and 87 for errors of its own and
// reports a death by signal as a raw wait status, so neither may reach it.
func endOf(cmd *exec.Cmd) agentEnd {
	code := cmd.ProcessState.ExitCode()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = 128 + int(status.Signal())
		return agentEnd{code: code, err: fmt.Errorf("%s was ended by signal %d", cmd.Args[0], status.Signal())}
	}
	switch code {
	case 0:
		return agentEnd{}
	case 67, 87:
		return agentEnd{code: 1, err: fmt.Errorf("%s exited with status %d, passed on as 1", cmd.Args[0], code)}
	default:
		return agentEnd{code: code, err: fmt.Errorf("%s exited with status %d", cmd.Args[0], code)}
	}
}

func (a *commandAgent) start(ctx context.Context) (*exec.Cmd, *os.File, *os.File, error) {
	name := a.host.Command[0]
	path, err := a.host.lookPath(ctx, name)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("find the agent %q inside %s: %w; is it on the PATH of a login shell there?", name, a.host.Rewrite.Distro, err)
	}
	cmd := exec.Command(path, a.host.Command[1:]...) //nolint:noctx // its end is the ladder's, not a context's
	cmd.Args[0] = name
	if a.host.Environ != nil {
		cmd.Env = a.host.Environ(ctx)
	}
	cmd.SysProcAttr = agentAttributes()
	cmd.Stderr = a.host.Stderr
	cmd.WaitDelay = drainQuiet
	childIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer func() { _ = childIn.Close() }()
	stdout, childOut, err := os.Pipe()
	if err != nil {
		_ = stdin.Close()
		return nil, nil, nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer func() { _ = childOut.Close() }()
	cmd.Stdin, cmd.Stdout = childIn, childOut
	if err := cmd.Start(); err != nil {
		_ = stdin.Close()
		_ = stdout.Close()
		return nil, nil, nil, fmt.Errorf("start %s: %w", name, err)
	}
	return cmd, stdin, stdout, nil
}

func (h *Host) lookPath(ctx context.Context, name string) (string, error) {
	if h.LookIn != nil {
		return h.LookIn(ctx, name)
	}
	return exec.LookPath(name)
}
