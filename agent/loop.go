package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// run is the state of one running turn.
type run struct {
	turn    *Turn
	session *Session
	emit    func(context.Context, Event)
	ws      *Workspace

	store  Store
	model  Model
	effort string
	tools  toolset
	usage  Usage // of all requests so far
}

// newRun collects what the turn works with. Nothing of it changes while the
// turn runs, except the mode.
func newRun(ctx context.Context, t *Turn) (*run, error) {
	s := t.session
	rec, err := s.Record(ctx)
	if err != nil {
		return nil, err
	}
	store, err := s.agent.store(ctx)
	if err != nil {
		return nil, err
	}
	model, err := s.agent.cfg.Models.Model(ctx, rec.Model)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	ws := s.workspaceLocked()
	s.mu.Unlock()
	r := &run{
		turn: t, session: s, emit: t.prompt.Emit, ws: ws,
		store: store, model: model, effort: cmp.Or(rec.Effort, s.agent.cfg.Effort),
	}
	tools, problems := s.toolset(ctx)
	for _, err := range problems {
		r.emit(ctx, Notice{Text: err.Error()})
	}
	r.tools = tools
	return r, nil
}

// legs runs the prompt and every text that joined the turn meanwhile.
func (r *run) legs(ctx context.Context) Outcome {
	parts := r.turn.prompt.Parts
	if attach := r.turn.prompt.Attach; attach != nil {
		parts = attach(ctx, r.openAttachment)
	}
	for {
		// This row takes the session, which another process may be about to give
		// back: a cancel ends the wait for that.
		if err := r.append(ctx, false, Message{Role: RoleUser, Parts: parts}); err != nil {
			if isCancel(ctx, err) {
				return Outcome{Stop: StopCancelled, Usage: r.usage}
			}
			return Outcome{Err: err}
		}
		out := r.leg(ctx)
		if out.Err != nil || out.Stop != StopEndTurn {
			return out
		}
		text, more := r.turn.nextLeg()
		if !more {
			return out
		}
		parts = []Part{{Text: text}}
	}
}

// leg asks the model until it wants no more tools.
func (r *run) leg(ctx context.Context) Outcome {
	overflowed := false
	for range r.session.agent.cfg.MaxRequests {
		for _, text := range r.turn.takeSteers() {
			if err := r.record(ctx, false, TextMessage(RoleUser, text)); err != nil {
				return r.fail(ctx, err)
			}
		}
		r.makeRoom(ctx)
		answer, err := r.ask(ctx)
		if errors.Is(err, ErrContextOverflow) && !overflowed {
			overflowed = true
			_, _, compactErr := r.session.Compact(ctx, r.emit)
			if compactErr == nil {
				continue
			}
			err = errors.Join(err, compactErr)
		}
		if err != nil {
			return r.stopEarly(ctx, answer.Message, err)
		}
		if len(answer.Message.ToolCalls) == 0 {
			return r.finish(ctx, answer)
		}
		if err := r.record(ctx, false, answer.Message); err != nil {
			return r.fail(ctx, err)
		}
		for _, call := range answer.Message.ToolCalls {
			if err := r.record(ctx, false, r.call(ctx, call)); err != nil {
				return r.fail(ctx, err)
			}
		}
		if ctx.Err() != nil {
			return r.cancelled(ctx)
		}
	}
	text := fmt.Sprintf("This turn ended after %d requests to the model. Say \"continue\" to go on.", r.session.agent.cfg.MaxRequests)
	if err := r.close(ctx, text); err != nil {
		return Outcome{Err: err}
	}
	return Outcome{Stop: StopMaxTurnRequests, Usage: r.usage}
}

// ask makes one request to the model and streams its answer to the client. The
// answer's calls have ids that are unique in the session.
func (r *run) ask(ctx context.Context) (Completion, error) {
	history := r.session.History()
	// Made anew for each request: a tool may just have touched a folder with
	// instructions of its own.
	system := TextMessage(RoleSystem, r.session.agent.cfg.SystemPrompt(ctx, r.ws, r.model.Info()))
	var text, thought messageID
	partial := r.savePartials(ctx)
	answer, err := r.model.Stream(ctx, ModelRequest{
		Messages: append([]Message{system}, alternating(history)...),
		Tools:    r.tools.specs,
		Effort:   r.effort,
	}, func(d Delta) {
		switch {
		case d.Text != "":
			partial.add(d.Text)
			r.emit(ctx, TextDelta{MessageID: text.get(), Text: d.Text})
		case d.Reasoning != "":
			r.emit(ctx, ThoughtDelta{MessageID: thought.get(), Text: d.Reasoning})
		case d.Notice != "":
			r.emit(ctx, Notice{Text: d.Notice})
		}
	})
	partial.stop()
	for i, c := range answer.Message.ToolCalls {
		answer.Message.ToolCalls[i].ID = r.session.claimCallID(c.ID)
	}
	r.count(ctx, answer, len(history))
	return answer, err
}

// count adds up what the request used and tells the client the size of the
// conversation.
func (r *run) count(ctx context.Context, answer Completion, rows int) {
	r.usage = r.usage.Add(answer.Usage)
	r.session.mu.Lock()
	r.session.costUSD += answer.Usage.CostUSD
	if used := answer.Usage.Total(); used > 0 {
		r.session.promptTokens, r.session.countedRows = used, rows+1 // the answer is the next row
	}
	r.session.mu.Unlock()
	if window := r.model.Info().ContextWindow; window > 0 {
		r.emit(ctx, UsageChanged{Used: r.session.Size(), Window: window, CostUSD: r.session.CostUSD()})
	}
}

// alternating joins neighbouring rows of the same speaker, which some providers
// refuse: guidance that came during a turn, a summary behind an answer.
func alternating(history []Message) []Message {
	joined := make([]Message, 0, len(history)+1)
	for _, m := range history {
		if n := len(joined); n > 0 && m.Role == joined[n-1].Role && m.Role != RoleTool && len(joined[n-1].ToolCalls) == 0 {
			last := &joined[n-1]
			last.Parts = slices.Concat(last.Parts, m.Parts)
			last.ToolCalls = m.ToolCalls
			continue
		}
		joined = append(joined, m)
	}
	return joined
}

// messageID is made when the first piece of a message comes.
type messageID string

func (m *messageID) get() string {
	if *m == "" {
		*m = messageID(NewID())
	}
	return string(*m)
}

// finish ends a leg whose last answer wants no tools.
func (r *run) finish(ctx context.Context, answer Completion) Outcome {
	if err := r.record(ctx, true, answer.Message); err != nil {
		return Outcome{Err: err}
	}
	if ctx.Err() != nil { // the cancel came with the last words of the answer
		return Outcome{Stop: StopCancelled, Usage: r.usage}
	}
	r.title(ctx)
	out := Outcome{Stop: StopEndTurn, Usage: r.usage}
	switch answer.Finish {
	case FinishLength:
		out.Stop = StopMaxTokens
	case FinishRefusal:
		out.Stop = StopRefusal
	case FinishStop, FinishToolCalls:
	}
	return out
}

// stopEarly ends a turn whose model request did not come to its end: partial is
// what had arrived of the answer.
func (r *run) stopEarly(ctx context.Context, partial Message, cause error) Outcome {
	if partial.Text() != "" {
		partial.Interrupted = true
		partial.ToolCalls = nil // they may be cut short, and none of them ran
		if err := r.record(ctx, false, partial); err != nil {
			return Outcome{Err: errors.Join(cause, err)}
		}
	}
	if isCancel(ctx, cause) {
		return r.cancelled(ctx)
	}
	return r.fail(ctx, cause)
}

func (r *run) cancelled(ctx context.Context) Outcome {
	if err := r.close(ctx, "This turn was cancelled by the user."); err != nil {
		return Outcome{Err: err}
	}
	return Outcome{Stop: StopCancelled, Usage: r.usage}
}

func (r *run) fail(ctx context.Context, cause error) Outcome {
	err := r.close(ctx, "This turn did not complete: "+cause.Error())
	return Outcome{Err: errors.Join(cause, err), Usage: r.usage}
}
