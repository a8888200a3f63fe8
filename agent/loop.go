package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
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
	ws, servers := s.workspaceLocked(), s.servers
	s.mu.Unlock()
	r := &run{
		turn: t, session: s, emit: t.prompt.Emit, ws: ws,
		store: store, model: model, effort: cmp.Or(rec.Effort, s.agent.cfg.Effort),
	}
	var extra []Tool
	if servers != nil {
		var problems []error
		extra, problems = servers.Tools(ctx)
		for _, err := range problems {
			r.emit(ctx, Notice{Text: err.Error()})
		}
	}
	r.tools = newToolset(s.agent.cfg.Tools, extra)
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
	if used := answer.Usage.Total(); used > 0 {
		r.session.promptTokens, r.session.countedRows = used, rows+1 // the answer is the next row
	}
	r.session.mu.Unlock()
	if window := r.model.Info().ContextWindow; window > 0 {
		r.emit(ctx, UsageChanged{Used: r.session.Size(), Window: window, CostUSD: r.usage.CostUSD})
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
		*m = messageID(newSessionID())
	}
	return string(*m)
}

// finish ends a leg whose last answer wants no tools.
func (r *run) finish(ctx context.Context, answer Completion) Outcome {
	if err := r.record(ctx, true, answer.Message); err != nil {
		return Outcome{Err: err}
	}
	r.title(ctx)
	out := Outcome{Stop: StopEndTurn, Usage: r.usage}
	switch {
	case ctx.Err() != nil: // the cancel came with the last words of the answer
		out.Stop = StopCancelled
	case answer.Finish == FinishLength:
		out.Stop = StopMaxTokens
	case answer.Finish == FinishRefusal:
		out.Stop = StopRefusal
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

// close makes the history one that a model accepts and that says how the turn
// ended: every call has a result, and no user row stays open. An answer of the
// model that was cut short closes the turn by itself.
func (r *run) close(ctx context.Context, text string) error {
	r.session.mu.Lock()
	missing := unanswered(r.session.history)
	last := Message{}
	if n := len(r.session.history); n > 0 {
		last = r.session.history[n-1]
	}
	r.session.mu.Unlock()

	var rows []Message
	for _, c := range missing {
		rows = append(rows, toolMessage(c, text, true))
	}
	if len(rows) > 0 || last.Role != RoleAssistant {
		closing := TextMessage(RoleAssistant, text)
		closing.Authored = true
		rows = append(rows, closing)
	}
	return r.record(ctx, true, rows...)
}

// unanswered returns the calls at the end of a history that have no result.
func unanswered(history []Message) []ToolCall {
	answered := map[string]bool{}
	for _, m := range slices.Backward(history) {
		switch m.Role {
		case RoleTool:
			answered[m.ToolCallID] = true
		case RoleAssistant:
			return slices.DeleteFunc(slices.Clone(m.ToolCalls), func(c ToolCall) bool { return answered[c.ID] })
		case RoleUser, RoleSystem:
			return nil
		}
	}
	return nil
}

// record appends messages to the history. It works after a cancel too: what
// happened is kept.
func (r *run) record(ctx context.Context, final bool, msgs ...Message) error {
	return r.append(context.WithoutCancel(ctx), final, msgs...)
}

// append appends messages to the history, in the store first.
func (r *run) append(ctx context.Context, final bool, msgs ...Message) error {
	now := time.Now()
	for i := range msgs {
		if msgs[i].Time.IsZero() {
			msgs[i].Time = now
		}
	}
	err := r.store.Append(ctx, r.session.id, final, msgs...)
	if errors.Is(err, ErrSessionMoved) {
		// Another process went on with the conversation; this turn follows it.
		if err = r.session.readHistory(ctx, r.store); err == nil {
			err = r.store.Append(ctx, r.session.id, final, msgs...)
		}
	}
	if err != nil {
		return fmt.Errorf("save the conversation: %w", err)
	}
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	r.session.history = append(r.session.history, msgs...)
	return nil
}

// call runs one tool call from its announcement to its end and returns the
// message for the model.
func (r *run) call(ctx context.Context, tc ToolCall) Message {
	if ctx.Err() != nil {
		return toolMessage(tc, "Not run: the turn was cancelled by the user.", true)
	}
	// Updates about a call are sent after a cancel too: each card gets its end.
	tell := context.WithoutCancel(ctx)
	call, plan, err := r.plan(ctx, tc)
	r.emit(tell, CallStarted{Call: call})

	action := Action{SessionID: r.session.id, CallID: call.ID, Tool: call.Tool, Grant: GrantDenied, Started: time.Now()}
	action.Paths, action.Command = call.Access.targets()
	var result Result
	ended := false
	end := func(err error) {
		ended = true
		r.emit(tell, CallEnded{Call: call, Result: result, Err: err})
		if err != nil {
			action.Failure = err.Error()
		}
		action.Ended = time.Now()
		if err := r.store.RecordAction(tell, action); err != nil {
			r.session.agent.cfg.Log.ErrorContext(ctx, "could not record an action", "session_id", r.session.id, "tool", call.Tool, "error", err)
		}
	}
	defer func() {
		if !ended { // a panic
			end(errors.New("this tool call ended without a result: internal error"))
		}
	}()

	if err == nil {
		action.Grant, err = r.session.approvals.Allow(ctx, call, r.ws, r.session.mode())
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		r.emit(tell, CallRunning{CallID: call.ID})
		result, err = plan.Run(ctx, func(p Progress) { r.emit(ctx, CallOutput{CallID: call.ID, Output: p.Output}) })
	}
	end(err)
	if err != nil {
		return toolMessage(tc, "Error: "+err.Error(), true)
	}
	if result.Entries != nil {
		r.emit(tell, PlanChanged{Entries: result.Entries})
	}
	msg := toolMessage(tc, result.Text, result.Failed)
	for _, url := range result.Images {
		msg.Parts = append(msg.Parts, Part{ImageURL: url})
	}
	return msg
}

// plan finds the tool and lets it say what the call would do.
func (r *run) plan(ctx context.Context, tc ToolCall) (CallInfo, Plan, error) {
	info := CallInfo{ID: tc.ID, Tool: tc.Name, Title: tc.Name, Kind: KindOther, Arguments: tc.Arguments}
	tool, ok := r.tools.byName[tc.Name]
	if !ok {
		return info, Plan{}, fmt.Errorf("there is no tool named %q; the tools are %s", tc.Name, strings.Join(r.tools.names(), ", "))
	}
	info.Known = true
	info.Kind = tool.Spec().Kind
	args := tc.Arguments
	if strings.TrimSpace(args) == "" {
		args = "{}"
	}
	if !json.Valid([]byte(args)) {
		return info, Plan{}, fmt.Errorf("the arguments of %s are not valid JSON, so it was not run; send the whole call again", tc.Name)
	}
	plan, err := tool.Plan(ctx, r.ws, json.RawMessage(args))
	if err != nil {
		return info, Plan{}, err
	}
	if plan.Title != "" {
		info.Title = plan.Title
	}
	info.Locations, info.Access = plan.Locations, plan.Access
	return info, plan, nil
}

func toolMessage(c ToolCall, text string, failed bool) Message {
	m := TextMessage(RoleTool, text)
	m.ToolCallID, m.ToolName, m.Failed = c.ID, c.Name, failed
	return m
}
