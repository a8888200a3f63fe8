package acp

import (
	"encoding/json"
	"slices"

	"github.com/hermes-acp/hermes-acp/agent"
)

// todoTool is the tool that keeps the plan, here and in Hermes itself. Only its
// arguments are stored, so a replay works the plan out from them.
const todoTool = "todo"

// replayTodo applies a stored call of the todo tool to the plan. It reports
// false when the call only read it.
func replayTodo(plan []agent.PlanEntry, arguments string) ([]agent.PlanEntry, bool) {
	var args struct {
		Todos []struct {
			ID      string            `json:"id"`
			Content string            `json:"content"`
			Status  agent.EntryStatus `json:"status"`
		} `json:"todos"`
		Merge bool `json:"merge"`
	}
	if json.Unmarshal([]byte(arguments), &args) != nil || args.Todos == nil {
		return plan, false
	}
	if !args.Merge {
		plan = nil
	}
	for _, todo := range args.Todos {
		entry := agent.PlanEntry{ID: todo.ID, Content: todo.Content, Status: todo.Status}
		at := slices.IndexFunc(plan, func(e agent.PlanEntry) bool { return e.ID == todo.ID })
		if at < 0 {
			plan = append(plan, entry)
			continue
		}
		if entry.Content == "" {
			entry.Content = plan[at].Content
		}
		if entry.Status == "" {
			entry.Status = plan[at].Status
		}
		plan[at] = entry
	}
	return plan, true
}
