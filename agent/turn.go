package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
)

// Prompt is what a client asks in one turn, with the two ways back to it.
type Prompt struct {
	Parts []Part
	// Attach, when set, returns the parts instead of Parts, once the turn's place
	// in the line has come: it reads the files that the person attached.
	Attach func(ctx context.Context, open OpenAttachment) []Part
	// Emit delivers an event to the client. It may block while the client is
	// slow, and gives up when ctx is cancelled.
	Emit func(ctx context.Context, e Event)
	// Approver asks the person at this turn's client.
	Approver Approver
	// Command, when set, runs in the turn's place in the line instead of the
	// model: a /command that must not run beside another turn.
	Command func(ctx context.Context) error
}

// Turn is one prompt and everything the agent does about it.
type Turn struct {
	session *Session
	prompt  Prompt
	// first is closed when the turn is the session's first in line.
	first chan struct{}

	// The rest is guarded by session.mu.
	cancelled bool
	cancel    context.CancelCauseFunc // of the running turn
	legs      []leg
	ended     bool // no leg is taken any more
}

// leg is text that joins a turn which already runs.
type leg struct {
	text  string
	steer bool // read before the next model request, not after the turn's end
}

// Enqueue puts a prompt at the end of the session's line. It never blocks, so
// that a caller who reads requests in order keeps that order, and a Cancel right
// behind it counts. Run must be called once for every turn.
func (s *Session) Enqueue(p Prompt) *Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &Turn{session: s, prompt: p, first: make(chan struct{})}
	s.turns = append(s.turns, t)
	if len(s.turns) == 1 {
		close(t.first)
	}
	return t
}

// Cancel ends the turn, whether it runs or waits.
func (t *Turn) Cancel() {
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	t.cancelled = true
	t.legs = nil
	if t.cancel != nil {
		t.cancel(ErrCancelled)
	}
}

// leave takes the turn out of the line and lets the next one run.
func (t *Turn) leave() {
	s := t.session
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.turns, t)
	s.turns = slices.Delete(s.turns, i, i+1)
	if i == 0 && len(s.turns) > 0 {
		close(s.turns[0].first)
	}
}

// start makes Cancel reach ctx, also a Cancel that came before.
func (t *Turn) start(cancel context.CancelCauseFunc) {
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	t.cancel = cancel
	if t.cancelled {
		cancel(ErrCancelled)
	}
}

// Run waits for the turn's place in the line, runs it and says how it ended.
// Everything the turn brought is durable when it returns. A cancelled turn, or
// one whose ctx ends, has the outcome StopCancelled.
func (t *Turn) Run(ctx context.Context) (out Outcome) {
	defer t.leave()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t.start(cancel)

	select {
	case <-t.first:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return Outcome{Stop: StopCancelled}
	}
	if command := t.prompt.Command; command != nil {
		err := command(ctx)
		if ctx.Err() != nil {
			return Outcome{Stop: StopCancelled}
		}
		return Outcome{Stop: StopEndTurn, Err: err}
	}
	r, err := newRun(ctx, t)
	if err != nil && isCancel(ctx, err) {
		return Outcome{Stop: StopCancelled}
	}
	if err != nil {
		return Outcome{Err: err}
	}
	defer func() {
		if p := recover(); p != nil {
			t.session.agent.cfg.Log.ErrorContext(ctx, "panic in a turn", "session_id", t.session.id, "panic", p, "stack", string(debug.Stack()))
			out = r.fail(ctx, fmt.Errorf("internal error: %v", p))
		}
	}()
	return r.legs(WithApprover(ctx, t.prompt.Approver))
}

// takeSteers removes and returns the guidance that came since the last request.
func (t *Turn) takeSteers() []string {
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	var texts []string
	t.legs = slices.DeleteFunc(t.legs, func(l leg) bool {
		if l.steer {
			texts = append(texts, l.text)
		}
		return l.steer
	})
	return texts
}

// nextLeg removes and returns the text the turn goes on with. When there is
// none the turn takes no more, and later steering starts a turn of its own.
func (t *Turn) nextLeg() (string, bool) {
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	if len(t.legs) == 0 {
		t.ended = true
		return "", false
	}
	text := t.legs[0].text
	t.legs = t.legs[1:]
	return text, true
}

// isCancel reports whether err, or the end of ctx, is a cancellation and not a
// failure of its own.
func isCancel(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, ErrCancelled)
}
