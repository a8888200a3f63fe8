package agent

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// todoDouble keeps the plan as the todo tool does.
type todoDouble struct{}

func (todoDouble) Spec() ToolSpec {
	return ToolSpec{Name: TodoTool, Kind: KindOther, Schema: json.RawMessage(`{"type":"object"}`)}
}

func (todoDouble) Plan(_ context.Context, ws *Workspace, args json.RawMessage) (Plan, error) {
	return Plan{Run: func(context.Context, func(Progress)) (Result, error) {
		plan, _ := ApplyTodo(ws.Entries(), string(args))
		return Result{Text: "ok", Entries: plan}, nil
	}}, nil
}

func TestPlanSurvivesARestart(t *testing.T) {
	first := ToolCall{ID: "a", Name: TodoTool, Arguments: `{"todos":[{"id":"1","content":"read","status":"in_progress"},{"id":"2","content":"write","status":"pending"}]}`}
	second := ToolCall{ID: "b", Name: TodoTool, Arguments: `{"merge":true,"todos":[{"id":"1","status":"completed"}]}`}
	b := newBench(t, []Tool{todoDouble{}}, calls(first), says("begun"), calls(second), says("done"))
	b.prompt("go").Run(t.Context())

	b.agent = b.newAgent([]Tool{todoDouble{}})
	b.Session = b.agent.Session(b.ID())
	b.prompt("go on").Run(t.Context())
	var plans [][]PlanEntry
	for _, e := range b.events {
		if e, ok := e.(PlanChanged); ok {
			plans = append(plans, e.Entries)
		}
	}
	want := []PlanEntry{{ID: "1", Content: "read", Status: EntryCompleted}, {ID: "2", Content: "write", Status: EntryPending}}
	if diff := cmp.Diff(want, plans[len(plans)-1]); diff != "" {
		t.Error(diff)
	}
}

func TestPlanOfLeavesFailedCallsOut(t *testing.T) {
	ok := ToolCall{ID: "a", Name: TodoTool, Arguments: `{"todos":[{"id":"1","content":"read","status":"pending"}]}`}
	bad := ToolCall{ID: "b", Name: TodoTool, Arguments: `{"todos":[]}`}
	history := []Message{
		{Role: RoleAssistant, ToolCalls: []ToolCall{ok, bad}},
		toolMessage(ok, "ok", false), toolMessage(bad, "no", true),
	}
	if plan := planOf(history); len(plan) != 1 {
		t.Errorf("plan %v", plan)
	}
}
