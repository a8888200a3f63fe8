package wslbridge

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
)

// process is a started wsl.exe with its pipes, contained so that it cannot outlive this one.
type process struct {
	cmd            *exec.Cmd
	containment    containment
	stdin          *os.File
	stdout, stderr *os.File
}

// maxCommandLine is the longest command line of Windows, in UTF-16 units with the final NUL.
const maxCommandLine = 32767

// ErrCommandLineTooLong is the cause when Windows could not hand the arguments over.
var ErrCommandLineTooLong = errors.New("the arguments are longer than Windows allows")

// commandLineUnits returns at most how many UTF-16 units the quoted command line has.
func commandLineUnits(words []string) int {
	units := 1
	for _, word := range words {
		quotes := strings.Count(word, `"`) + strings.Count(word, `\`)
		units += len(utf16.Encode([]rune(word))) + 2*quotes + len(`"" `)
	}
	return units
}

// startProcess is the only place that starts a process from Windows: hidden, in a process group and
// job of its own, never through a shell.
func startProcess(path string, args, env []string, dir string) (p *process, err error) {
	if units := commandLineUnits(append([]string{path}, args...)); units > maxCommandLine {
		return nil, fmt.Errorf("start %s: %w (%d characters of %d); shorten those behind --", path, ErrCommandLineTooLong, units, maxCommandLine)
	}
	cmd := exec.Command(path, args...) //nolint:noctx // its end is the shutdown ladder's, not a context's
	cmd.Env, cmd.Dir = env, dir
	p = &process{cmd: cmd}
	var theirs [3]*os.File
	var errs [3]error
	theirs[0], p.stdin, errs[0] = os.Pipe()
	p.stdout, theirs[1], errs[1] = os.Pipe()
	p.stderr, theirs[2], errs[2] = os.Pipe()
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
	}()
	if err := errors.Join(errs[:]...); err != nil {
		p.closePipes()
		return nil, fmt.Errorf("start wsl.exe: %w", err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	if p.containment, err = startContained(cmd); err != nil {
		p.closePipes()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return p, nil
}

func (p *process) closePipes() {
	_ = p.stdin.Close()
	_ = p.stdout.Close()
	_ = p.stderr.Close()
}

// wait returns the exit code, for errors of wsl.exe itself exitWSL.
func (p *process) wait() int {
	_ = p.cmd.Wait() // the state says more than the error
	return p.cmd.ProcessState.ExitCode()
}

// kill ends the process and everything that it started on this side.
func (p *process) kill() { p.containment.kill() }

// childInput is the child's stdin, shared by the inbound pump and the heartbeat.
type childInput struct {
	file *os.File

	mu        sync.Mutex
	inLine    bool
	lastWrite time.Time

	closing sync.Once
	closed  chan struct{}
}

func newChildInput(file *os.File) *childInput {
	return &childInput{file: file, lastWrite: time.Now(), closed: make(chan struct{})}
}

func (c *childInput) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.file.Write(p)
	if n > 0 {
		c.inLine = p[n-1] != '\n'
		c.lastWrite = time.Now()
	}
	return n, err
}

// heartbeat writes a blank line unless something was written lately or a frame is under way.
func (c *childInput) heartbeat() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inLine || time.Since(c.lastWrite) < heartbeatInterval/2 {
		return
	}
	_, _ = c.file.Write([]byte{'\n'}) // a child that is gone is noticed elsewhere
}

// close does not wait: on Windows closing waits for a blocked write, which only the end of the child
// ends. closed tells when it is done.
func (c *childInput) close() {
	c.closing.Do(func() {
		go func() {
			defer close(c.closed)
			_ = c.file.Close()
		}()
	})
}
