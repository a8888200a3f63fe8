//go:build unix

package wslbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// readAheadBytes is how much the host reads ahead of an agent that does not read, so that it still
// hears heartbeats and the end of its input.
const readAheadBytes = 16 << 20

const (
	ladderStep = time.Second
	watchEvery = time.Second
)

// Causes for which a host ends.
var (
	ErrClientClosed = errors.New("the client closed its end")
	ErrSilent       = errors.New("nothing was heard from the launcher, not even a heartbeat")
	ErrOrphaned     = errors.New("the parent process is gone")
	ErrHungUp       = errors.New("asked to end by a signal")
	ErrAgentStuck   = errors.New("the agent did not end after its input was closed")
)

// Host is the WSL end of the bridge. It serves an agent in-process, or runs one as a command.
type Host struct {
	Version string // of the program, sent in hello
	Home    string // sent in hello

	// Serve runs an ACP agent until r ends or ctx does. Used when Command is empty.
	Serve func(ctx context.Context, r io.Reader, w io.Writer) error

	Command []string                                               // a third-party agent and its arguments
	Environ func(context.Context) []string                         // for Command; nil means the host's own
	LookIn  func(ctx context.Context, name string) (string, error) // finds Command[0]; nil means exec.LookPath

	Rewrite  RewriteConfig                       // Drives and Launcher come from the launcher's first line
	MaxFrame int                                 // bytes; 0 means DefaultMaxFrame
	Trace    func(fromClient bool, frame []byte) // as Stage.Trace; nil records nothing

	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer // of Command
	Log    *slog.Logger

	parentID func() int // tests replace it
}

// Run writes hello, then serves until the agent ends or the client does. The code is what the
// process should exit with; err says why when it is not 0.
func (h *Host) Run(ctx context.Context) (code int, err error) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	// A write to a pipe without a reader must fail, not kill. Ignoring the signal instead would
	// be inherited by every command that the agent runs.
	brokenPipes := make(chan os.Signal, 1)
	signal.Notify(brokenPipes, syscall.SIGPIPE)
	defer signal.Stop(brokenPipes)

	hello := encodeLine(Hello{Bridge: WireVersion, Version: h.Version, Distro: h.Rewrite.Distro, Home: h.Home})
	if _, err := h.Stdout.Write(hello); err != nil {
		return 1, fmt.Errorf("write hello: %w", err)
	}
	return h.relay(ctx)
}

// relay runs the agent between the two ends. Its end has one cause, the first.
func (h *Host) relay(ctx context.Context) (int, error) {
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	stopSignals := context.AfterFunc(ctx, func() { end(ErrHungUp) })
	defer stopSignals()

	ahead := newSpool(readAheadBytes, false)
	defer ahead.giveUp(nil)
	var quiet silence
	go h.readAhead(ahead, &quiet, end)

	watched := make(chan struct{})
	go func() {
		defer close(watched)
		h.watch(life, &quiet, end)
	}()
	defer func() {
		end(nil)
		<-watched
	}()

	agent := h.newAgent(ahead)
	asked, ask := context.WithCancel(context.WithoutCancel(ctx))
	defer ask()
	ended := make(chan agentEnd, 1)
	go func() {
		ended <- agent.run(asked, func() (*Stage, error) { return h.openStage(ahead, end) })
	}()
	select {
	case result := <-ended:
		return result.code, result.err
	case <-life.Done():
	}
	ahead.end()
	return h.endAgent(ask, agent.kill, ended, context.Cause(life))
}

// openStage waits for the launcher's first line.
func (h *Host) openStage(ahead *spool, end context.CancelCauseFunc) (*Stage, error) {
	frames := newFrameReader(&spoolReader{s: ahead}, DefaultMaxFrame)
	first, err := frames.next()
	if err != nil {
		return nil, ErrClientClosed
	}
	preamble, isPreamble, err := parsePreamble(first)
	if err != nil {
		return nil, err
	}
	rewrite := h.Rewrite
	rewrite.Drives, rewrite.Launcher = preamble.Drives, preamble.Command
	stage := NewStage(NewRewriter(rewrite), nil, &endingWriter{w: h.Stdout, end: end}, h.MaxFrame, h.Log)
	stage.Trace, stage.frames = h.Trace, frames
	frames.max = stage.maxFrame
	if !isPreamble {
		stage.unread = append([]byte(nil), first...)
	}
	return stage, nil
}

const preambleMarker = `{"hermes_acp_launcher":`

// parsePreamble reports false for a line that is an ordinary frame, as when a person pipes frames
// into a host started by hand.
func parsePreamble(line []byte) (Preamble, bool, error) {
	if !bytes.HasPrefix(line, []byte(preambleMarker)) {
		return Preamble{}, false, nil
	}
	var p Preamble
	if err := json.Unmarshal(line, &p); err != nil {
		return Preamble{}, true, fmt.Errorf("read the launcher's first line: %w", err)
	}
	return p, true, nil
}

// endAgent climbs the ladder: input closed (done by the caller), asked, killed, given up.
func (h *Host) endAgent(ask, kill func(), ended <-chan agentEnd, cause error) (int, error) {
	start := time.Now()
	step := time.NewTicker(ladderStep)
	defer step.Stop()
	forced := false
	for rung := 1; ; {
		select {
		case result := <-ended:
			switch {
			case !errors.Is(cause, ErrClientClosed):
				return 1, cause
			case forced:
				h.Log.Warn("agent ended only when told", "after", time.Since(start).Round(time.Millisecond))
				return 0, nil
			default:
				return result.code, result.err
			}
		case <-step.C:
			forced = true
			switch rung {
			case 1:
				ask()
			case 2:
				kill()
			default:
				return 1, fmt.Errorf("%w (%w)", ErrAgentStuck, cause)
			}
			rung++
		}
	}
}

func (h *Host) readAhead(ahead *spool, quiet *silence, end context.CancelCauseFunc) {
	buf := make([]byte, pumpBufferBytes)
	for {
		quiet.wait(time.Now())
		n, err := h.Stdin.Read(buf)
		quiet.heard()
		if n > 0 {
			if _, err := ahead.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			end(ErrClientClosed)
			return
		}
	}
}

// watch looks for the two kinds of death that no read or write shows.
func (h *Host) watch(life context.Context, quiet *silence, end context.CancelCauseFunc) {
	parentID := h.parentID
	if parentID == nil {
		parentID = os.Getppid
	}
	parent := parentID()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-life.Done():
			return
		case <-tick.C:
			if quiet.tick(time.Now(), watchEvery) {
				end(ErrSilent)
			}
			if parentID() != parent {
				end(ErrOrphaned)
			}
		}
	}
}

// endingWriter ends the host when the client no longer reads.
type endingWriter struct {
	w   io.Writer
	end context.CancelCauseFunc
}

func (e *endingWriter) Write(p []byte) (int, error) {
	n, err := e.w.Write(p)
	if err != nil {
		e.end(fmt.Errorf("%w: %w", ErrClientClosed, err))
	}
	return n, err
}
