package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

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
		r.session.setEntries(result.Entries)
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
