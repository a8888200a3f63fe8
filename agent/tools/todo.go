package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hermes-acp/hermes-acp/agent"
)

const maxTodos = 200

type todoArgs struct {
	Todos []todoItem `json:"todos"`
	Merge flag       `json:"merge"`
}

type todoItem struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	Status  string `json:"status"`
}

func (t *Toolset) todo() agent.Tool {
	return tool[todoArgs]{agent.ToolSpec{
		Name: agent.TodoTool,
		Kind: agent.KindOther,
		Description: "Keep the list of what is to be done, which the person sees. Give todos to replace the list, " +
			"with merge to change and add entries by id; give none to read it. Use it for work of three steps or more, one entry in_progress at a time.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"todos": {
					"type": "array",
					"items": {
						"type": "object",
						"properties": {
							"id": {"type": "string"},
							"content": {"type": "string"},
							"status": {"type": "string", "enum": ["pending", "in_progress", "completed", "cancelled"]}
						},
						"required": ["id", "content", "status"],
						"additionalProperties": false
					}
				},
				"merge": {"type": "boolean", "default": false}
			},
			"additionalProperties": false
		}`),
	}, t.planTodo}
}

func (t *Toolset) planTodo(_ context.Context, ws *agent.Workspace, args todoArgs, _ json.RawMessage) (agent.Plan, error) {
	title := "todo: read"
	if args.Todos != nil {
		title = "todo: update"
	}
	entries, err := todoEntries(args.Todos)
	if err != nil {
		return agent.Plan{}, err
	}
	return agent.Plan{Title: title, Run: func(context.Context, func(agent.Progress)) (agent.Result, error) {
		list, err := updatedTodo(ws.Entries(), entries, args.Todos != nil && !bool(args.Merge))
		if err != nil {
			return agent.Result{}, err
		}
		return agent.Result{Text: showTodo(list), Entries: list}, nil
	}}, nil
}

func todoEntries(items []todoItem) ([]agent.PlanEntry, error) {
	entries := make([]agent.PlanEntry, 0, len(items))
	seen := map[string]bool{}
	for i, item := range items {
		status := agent.EntryStatus(item.Status)
		switch status {
		case "", agent.EntryPending, agent.EntryInProgress, agent.EntryCompleted, agent.EntryCancelled:
		default:
			return nil, fmt.Errorf("todo %d: status %q: it is pending, in_progress, completed or cancelled", i+1, item.Status)
		}
		if item.ID == "" {
			return nil, fmt.Errorf("todo %d: id is required", i+1)
		}
		if seen[item.ID] {
			return nil, fmt.Errorf("todo %d: the id %q is used twice", i+1, item.ID)
		}
		seen[item.ID] = true
		entries = append(entries, agent.PlanEntry{ID: item.ID, Content: item.Content, Status: status})
	}
	return entries, nil
}

// updatedTodo is the list with entries in place of it, or merged into it.
func updatedTodo(list, entries []agent.PlanEntry, replace bool) ([]agent.PlanEntry, error) {
	if replace {
		list = nil
	}
	list = agent.MergePlan(list, entries)
	for _, e := range list {
		if strings.TrimSpace(e.Content) == "" {
			return nil, fmt.Errorf("todo %q: content is required", e.ID)
		}
	}
	if len(list) > maxTodos {
		return nil, fmt.Errorf("the list would have %d entries; at most %d", len(list), maxTodos)
	}
	return list, nil
}

func showTodo(list []agent.PlanEntry) string {
	if len(list) == 0 {
		return "The list is empty."
	}
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "[%s] %s: %s\n", e.Status, e.ID, e.Content)
	}
	return b.String()
}
