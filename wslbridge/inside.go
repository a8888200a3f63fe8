package wslbridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// Choose returns the distro that Run would begin in.
func (l *Launcher) Choose() (Distro, error) {
	distro, _, err := l.Registered.choose(l.Distro, l.WorkDir)
	return distro, err
}

// Provision makes sure that the agent is installed in the distro. What is said meanwhile goes to
// Stderr.
func (l *Launcher) Provision(ctx context.Context, distro Distro) error {
	p, err := l.startHost(distro)
	if err != nil {
		return err
	}
	link := l.startLink(p, distro, io.Discard, l.Stderr)
	select {
	case <-link.hello:
	case <-link.exited:
	case <-ctx.Done():
	}
	link.input.close()
	patience := time.AfterFunc(shutdownPatience, p.kill)
	<-link.ended
	patience.Stop()
	return errors.Join(link.failure, ctx.Err())
}

// RunInside runs the agent's program with args on Stdin, Stdout and Stderr, which may be files of a
// console, and returns its exit code. Call Provision before it: nobody sends a binary here.
func (l *Launcher) RunInside(ctx context.Context, distro Distro, args ...string) (int, error) {
	return l.runInside(ctx, distro, bootstrapArgs(l.storedOnly(), l.Version, args), l.Stdin, l.Stdout, l.Stderr)
}

// Uninstall removes everything that Provision has put into the distro, and nothing else.
func (l *Launcher) Uninstall(ctx context.Context, distro Distro) error {
	script := `rm -rf "$HOME/.local/share/hermes-acp"`
	code, err := l.runInside(ctx, distro, []string{"/bin/sh", "-c", script}, nil, l.Stderr, l.Stderr)
	if err == nil && code != 0 {
		err = fmt.Errorf("uninstall from %s: wsl.exe ended with status %d", distro.Name, code)
	}
	return err
}

// storedOnly is the payload without its content: a bootstrap that does not find the binary reads an
// empty size and fails.
func (l *Launcher) storedOnly() *Payload {
	if l.Payload == nil {
		return nil
	}
	return &Payload{SHA256: l.Payload.SHA256}
}

func (l *Launcher) runInside(ctx context.Context, distro Distro, command []string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	args := append(append(l.selectors(distro), "--exec"), command...)
	cmd := exec.CommandContext(ctx, l.WSL, args...)
	cmd.Env, cmd.Dir = childEnviron(l.Environ, l.EnvNames), l.SystemDir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	shareConsole(cmd)
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if code := exit.ExitCode(); uint32(code) != exitWSL {
			return code, nil
		}
		return 1, diagnose("", exitWSL, distro.Name)
	}
	if err != nil {
		return 1, fmt.Errorf("start wsl.exe: %w; is WSL installed? In PowerShell run: wsl --install", err)
	}
	return 0, nil
}
