package wslbridge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
)

// Stage puts a [Rewriter] between a client and an agent. It is the one place where paths change:
// the Host runs it, and so does an agent that a Windows editor started inside WSL by itself.
type Stage struct {
	// Trace, when set, is shown every frame as its sender spelled it, and what the stage itself
	// answers. Two goroutines may call it at once.
	Trace func(fromClient bool, frame []byte)

	rewriter *Rewriter
	frames   *frameReader
	toClient *lockedWriter
	maxFrame int
	log      *slog.Logger

	unread  []byte // a frame that was read before the stage began
	inbound []byte // the rewritten frame
	ready   []byte // what the agent has not read of it

	partial  []byte // begin of a frame that the agent has not finished
	skipping bool   // inside a frame of the agent that is over the cap
	batch    []byte
}

// NewStage reads the client's frames from fromClient and writes the agent's to toClient. A frame may
// be maxFrame bytes long, 0 meaning DefaultMaxFrame.
func NewStage(rewriter *Rewriter, fromClient io.Reader, toClient io.Writer, maxFrame int, log *slog.Logger) *Stage {
	if maxFrame == 0 {
		maxFrame = DefaultMaxFrame
	}
	return &Stage{
		rewriter: rewriter,
		frames:   newFrameReader(fromClient, maxFrame),
		toClient: &lockedWriter{w: toClient},
		maxFrame: maxFrame,
		log:      log,
	}
}

// Read is the agent's stdin. Frames that the stage answers itself go to the client instead.
func (s *Stage) Read(p []byte) (int, error) {
	for len(s.ready) == 0 {
		if err := s.nextInbound(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.ready)
	s.ready = s.ready[n:]
	return n, nil
}

func (s *Stage) nextInbound() error {
	frame, err := s.unread, error(nil)
	if s.unread = nil; frame == nil {
		frame, err = s.frames.next()
	}
	switch {
	case errors.Is(err, errFrameTooLong):
		return s.reply(tooLongReply(s.maxFrame))
	case err != nil:
		return err
	}
	s.trace(true, frame)
	out, reply := s.rewriter.Inbound(frame)
	if reply != nil {
		return s.reply(reply)
	}
	if cap(s.inbound) > maxSpareBytes {
		s.inbound = nil
	}
	s.inbound = append(append(s.inbound[:0], out...), '\n')
	s.ready = s.inbound
	return nil
}

func (s *Stage) reply(frame []byte) error {
	s.trace(false, frame)
	_, err := s.toClient.Write(append(bytes.Clone(frame), '\n'))
	return err
}

func (s *Stage) trace(fromClient bool, frame []byte) {
	if s.Trace != nil {
		s.Trace(fromClient, frame)
	}
}

// Write is the agent's stdout. It accepts any pieces and passes on whole frames, all that one call
// completed in one write.
func (s *Stage) Write(p []byte) (int, error) {
	s.batch = s.batch[:0]
	rest := p
	for {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			break
		}
		s.addOutbound(rest[:end])
		rest = rest[end+1:]
	}
	s.keepPartial(rest)
	if len(s.batch) == 0 {
		return len(p), nil
	}
	if _, err := s.toClient.Write(s.batch); err != nil {
		return 0, err
	}
	if cap(s.batch) > maxSpareBytes {
		s.batch = nil
	}
	return len(p), nil
}

func (s *Stage) addOutbound(tail []byte) {
	if s.skipping {
		s.skipping = false
		return
	}
	frame := tail
	if len(s.partial) > 0 {
		s.partial = append(s.partial, tail...)
		frame = s.partial
	}
	if frame = bytes.TrimRight(frame, "\r"); len(bytes.TrimSpace(frame)) > 0 {
		s.trace(false, frame)
		s.batch = append(append(s.batch, s.rewriter.Outbound(frame)...), '\n')
	}
	if s.partial = s.partial[:0]; cap(s.partial) > maxSpareBytes {
		s.partial = nil
	}
}

func (s *Stage) keepPartial(rest []byte) {
	if s.skipping || len(rest) == 0 {
		return
	}
	if len(s.partial)+len(rest) > s.maxFrame {
		s.log.Error("dropped a message of the agent that is too long", "max_bytes", s.maxFrame)
		if id := cutAnswerID(s.partial); id != nil { // a client that waits for it would wait for ever
			reply := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the agent's answer is longer than %d bytes"}}`, id, s.maxFrame)
			s.trace(false, reply)
			s.batch = append(append(s.batch, reply...), '\n')
		}
		s.partial, s.skipping = nil, true
		return
	}
	s.partial = append(s.partial, rest...)
}

// Close passes on a last frame of the agent that has no line end.
func (s *Stage) Close() error {
	if len(s.partial) == 0 {
		return nil
	}
	_, err := s.Write([]byte{'\n'})
	return err
}

type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
