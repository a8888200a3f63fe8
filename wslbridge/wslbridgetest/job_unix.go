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
	"sync"
	"sync/atomic"
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

// cutOffAfter is how long output of what a command left running is still waited for.
const cutOffAfter = 200 * time.Millisecond

// runningJob is a command with pipes, in a session of its own.
type runningJob struct {
	*exec.Cmd
	stdin          io.WriteCloser
	stdout, stderr io.ReadCloser

	thread sync.Mutex  // the relay's only one
	moved  atomic.Bool // some output, since it was last asked
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

// relay moves bytes as the real relay does: by one thread, which stops serving stdin while a write to
// stdout blocks. It returns the exit code.
func (r *runningJob) relay(stdin io.Reader, stdout, stderr io.Writer) int {
	go r.feed(stdin)
	var outputs sync.WaitGroup
	outputs.Go(func() { r.forward(r.stdout, stdout) })
	outputs.Go(func() { r.forward(r.stderr, stderr) })
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		outputs.Wait()
	}()
	state, _ := r.Process.Wait()
	r.awaitOutput(drained)
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return int(status) & 0xFF
	}
	return state.ExitCode()
}

// feed gives the command its stdin. Bytes for a command that does not read wait here, while output goes
// on.
func (r *runningJob) feed(stdin io.Reader) {
	defer func() { _ = r.stdin.Close() }()
	buf := make([]byte, relayBufferBytes)
	for {
		n, err := stdin.Read(buf)
		if n > 0 {
			r.thread.Lock()
			r.thread.Unlock() //nolint:staticcheck // it was only waited for
			_, _ = r.stdin.Write(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

func (r *runningJob) forward(from io.Reader, to io.Writer) {
	buf := make([]byte, relayBufferBytes)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			r.write(to, buf[:n])
		}
		if err != nil {
			return
		}
	}
}

func (r *runningJob) write(to io.Writer, p []byte) {
	r.thread.Lock()
	defer r.thread.Unlock()
	if _, err := to.Write(p); err != nil {
		os.Exit(1) //nolint:revive // a wsl.exe whose output nobody reads any more just ends
	}
	r.moved.Store(true)
}

// awaitOutput waits for the rest of the output of a command that has ended. What its children write when
// they have been silent for a while is lost.
func (r *runningJob) awaitOutput(drained <-chan struct{}) {
	for {
		select {
		case <-drained:
			return
		case <-time.After(cutOffAfter):
			if !r.moved.Swap(false) && r.thread.TryLock() {
				return // and nothing is written any more
			}
		}
	}
}
