//go:build unix

package wslbridgetest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

func runJob(job Job, _ string, stdin io.Reader, stdout, stderr io.Writer) int {
	cmd, err := startJob(job)
	if err != nil {
		fmt.Fprintf(stderr, "<3>WSL (1) ERROR: CreateProcessEntryCommon:502: execvpe %s failed: %v\n", job.Argv[0], err)
		return 1
	}
	return cmd.relay(stdin, stdout, stderr)
}

// relayBufferBytes is LX_RELAY_BUFFER_SIZE of the real one.
const relayBufferBytes = 4096

// runningJob is a command with pipes, in a session of its own.
type runningJob struct {
	*exec.Cmd
	stdin          io.WriteCloser
	stdout, stderr io.ReadCloser
}

func startJob(job Job) (*runningJob, error) {
	// The parent-death signal comes when the starting thread ends, so that must be the main one's life.
	runtime.LockOSThread()
	job, err := job.withDrives()
	if err != nil {
		return nil, err
	}
	path, err := lookPathIn(job)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, job.Argv[1:]...) //nolint:noctx // ends as wsl.exe's child does, by its pipes
	cmd.Args[0] = job.Argv[0]
	cmd.Env, cmd.Dir = job.Env, job.Dir
	cmd.SysProcAttr = sessionAttributes(!job.Orphan)
	running := &runningJob{Cmd: cmd}
	var errs [3]error
	running.stdin, errs[0] = cmd.StdinPipe()
	running.stdout, errs[1] = cmd.StdoutPipe()
	running.stderr, errs[2] = cmd.StderrPipe()
	if err := errors.Join(append(errs[:], cmd.Start())...); err != nil {
		return nil, err
	}
	return running, nil
}

func lookPathIn(job Job) (string, error) {
	for _, entry := range job.Env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			return lookPath(path, job.Argv[0])
		}
	}
	return job.Argv[0], nil
}

// relay moves bytes as the real relay does: one loop, which stops serving stdin while a write to
// stdout blocks. Bytes for a command that does not read wait in one pending buffer.
func (r *runningJob) relay(stdin io.Reader, stdout, stderr io.Writer) int {
	fromStdin, fromStdout, fromStderr := chunks(stdin), chunks(r.stdout), chunks(r.stderr)
	toCommand := make(chan []byte)
	go func() {
		for p := range toCommand {
			_, _ = r.stdin.Write(p)
		}
		_ = r.stdin.Close()
	}()
	exited := make(chan *os.ProcessState, 1)
	go func() {
		state, _ := r.Process.Wait()
		exited <- state
	}()
	var state *os.ProcessState
	var cutOff <-chan time.Time // output of what the command left running is lost
	for fromStdout != nil || fromStderr != nil {
		select {
		case p, ok := <-fromStdin:
			if !ok {
				close(toCommand)
				fromStdin = nil
				continue
			}
			r.deliver(toCommand, p, &fromStdout, stdout, &fromStderr, stderr)
		case p, ok := <-fromStdout:
			forward(&fromStdout, stdout, p, ok)
		case p, ok := <-fromStderr:
			forward(&fromStderr, stderr, p, ok)
		case state = <-exited:
			cutOff = time.After(200 * time.Millisecond)
		case <-cutOff:
			fromStdout, fromStderr = nil, nil
		}
	}
	if state == nil {
		state = <-exited
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return int(status) & 0xFF
	}
	return state.ExitCode()
}

// deliver holds the pending buffer: output goes on meanwhile, further input waits.
func (r *runningJob) deliver(toCommand chan<- []byte, p []byte, fromStdout *<-chan []byte, stdout io.Writer, fromStderr *<-chan []byte, stderr io.Writer) {
	for {
		select {
		case toCommand <- p:
			return
		case p, ok := <-*fromStdout:
			forward(fromStdout, stdout, p, ok)
		case p, ok := <-*fromStderr:
			forward(fromStderr, stderr, p, ok)
		}
		if *fromStdout == nil && *fromStderr == nil {
			return
		}
	}
}

func forward(from *<-chan []byte, to io.Writer, p []byte, ok bool) {
	if !ok {
		*from = nil
		return
	}
	if _, err := to.Write(p); err != nil {
		os.Exit(1) //nolint:revive // a wsl.exe whose output nobody reads any more just ends
	}
}

func chunks(r io.Reader) <-chan []byte {
	out := make(chan []byte)
	go func() {
		defer close(out)
		for {
			buf := make([]byte, relayBufferBytes)
			n, err := r.Read(buf)
			if n > 0 {
				out <- buf[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}
