package wslbridge

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const defaultHelloTimeout = 60 * time.Second // without a sign of life

// ErrNoHello is the cause when nothing came from inside WSL for too long.
var ErrNoHello = errors.New("no answer from inside WSL")

// link is one started wsl.exe with its pumps.
type link struct {
	distro  Distro
	process *process
	input   *childInput
	gate    gate
	frames  frameFilter // takes what follows hello
	log     *slog.Logger

	payload  *Payload
	patience time.Duration // without a sign of life before hello
	silent   *time.Timer

	opened     atomic.Bool // hello has come
	conversing atomic.Bool // and the preamble was sent, so heartbeats may follow
	hello      chan Hello  // gets one, at most
	refused    chan error  // gets one, when the output before hello tells why there will be none
	noise      noise
	stdout     *pump
	stderr     *pump

	exited    chan struct{} // the process is gone
	ended     chan struct{} // and everything that it wrote has been passed on
	heartbeat chan struct{} // the heartbeat has stopped
	exitCode  int           // valid once ended is closed
	failure   error         // why there was no hello; valid once ended is closed
}

// noise is what a child says beside the protocol. It goes to the editor's stderr, and its begin is
// kept to explain a failure.
type noise struct {
	to io.Writer

	mu   sync.Mutex
	said []byte
}

func (n *noise) Write(p []byte) (int, error) {
	n.mu.Lock()
	if room := maxNoiseBytes - len(n.said); room > 0 {
		n.said = append(n.said, p[:min(room, len(p))]...)
	}
	n.mu.Unlock()
	_, err := io.WriteString(n.to, decodeConsoleText(p))
	return len(p), err
}

func (n *noise) text() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return decodeConsoleText(n.said)
}

// startLink begins a conversation with a child that was just started.
func (l *Launcher) startLink(p *process, distro Distro, out, diagnostics io.Writer) *link {
	begun := &link{
		distro: distro, process: p, input: newChildInput(p.stdin), log: l.Log, payload: l.Payload,
		patience: cmp.Or(l.helloTimeout, defaultHelloTimeout),
		hello:    make(chan Hello, 1), refused: make(chan error, 1),
		exited: make(chan struct{}), ended: make(chan struct{}), heartbeat: make(chan struct{}),
	}
	begun.noise.to = diagnostics
	begun.frames = frameFilter{frames: out, noise: &begun.noise}
	begun.gate = gate{noise: &begun.noise, send: begun.sendPayload, failed: func(word string) error {
		return fmt.Errorf("%w in %s: %w", errBootstrap, distro.Name, bootstrapError(word, distro.Name))
	}}
	begun.silent = time.AfterFunc(begun.patience, p.kill)
	begun.stdout = startPump(p.stdout, begun.takeStdout)
	begun.stderr = startPump(p.stderr, begun.takeStderr)
	go begun.await()
	go begun.beat()
	return begun
}

// await collects everything that the child leaves.
func (l *link) await() {
	defer close(l.ended)
	l.exitCode = l.process.wait()
	close(l.exited)
	l.process.kill() // what it left behind on this side
	l.stdout.finish(drainQuiet)
	l.stderr.finish(drainQuiet)
	timedOut := !l.silent.Stop()
	l.input.close()
	<-l.input.closed
	<-l.heartbeat
	if l.opened.Load() {
		return
	}
	select {
	case l.failure = <-l.refused:
		return
	default:
	}
	l.gate.end()
	switch text := l.noise.text(); {
	case timedOut:
		l.failure = fmt.Errorf("%w for %v; %w", ErrNoHello, l.patience, diagnose(text, exitWSL, l.distro.Name))
	default:
		l.failure = diagnose(text, l.exitCode, l.distro.Name)
	}
}

// converse sends the first line.
func (l *link) converse(p Preamble) {
	_, _ = l.input.Write(encodeLine(p)) // a child that is gone is noticed by its end
	l.conversing.Store(true)
}

func (l *link) beat() {
	defer close(l.heartbeat)
	tick := time.NewTicker(heartbeatInterval)
	defer tick.Stop()
	for {
		select {
		case <-l.exited:
			return
		case <-tick.C:
			if l.conversing.Load() {
				l.input.heartbeat()
			}
		}
	}
}

func (l *link) takeStdout(p []byte) error {
	if l.opened.Load() {
		_, err := l.frames.Write(p)
		return err
	}
	l.silent.Reset(l.patience)
	hello, rest, err := l.gate.feed(p)
	if err != nil {
		l.refused <- err
		l.process.kill()
		return err
	}
	if hello == nil {
		return nil
	}
	l.silent.Stop()
	l.opened.Store(true)
	l.hello <- *hello
	_, err = l.frames.Write(rest)
	return err
}

// takeStderr decodes what comes before hello, which may be wsl.exe's, and passes on the agent's own
// words as they are.
func (l *link) takeStderr(p []byte) error {
	if l.opened.Load() {
		_, err := l.noise.to.Write(p)
		return err
	}
	_, err := l.noise.Write(p)
	return err
}

// sendPayload writes the binary to the bootstrap, which reads exactly so many bytes.
func (l *link) sendPayload() error {
	l.log.Info("copying hermes-acp into the distro", "distro", l.distro.Name, "bytes", l.payload.Size)
	fmt.Fprintf(l.noise.to, "hermes-acp: installing itself in %s (%d MB, once)\n", l.distro.Name, l.payload.Size>>20)
	binary, err := l.payload.Open()
	if err != nil {
		return fmt.Errorf("open the Linux binary: %w", err)
	}
	defer func() { _ = binary.Close() }()
	progress := writerFunc(func(p []byte) (int, error) {
		l.silent.Reset(l.patience)
		return l.input.Write(p)
	})
	// A bootstrap that gave up reads no more, and says why on stdout.
	if _, err := io.Copy(progress, binary); err != nil {
		l.log.Warn("copying hermes-acp into the distro stopped", "err", err)
	}
	return nil
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
