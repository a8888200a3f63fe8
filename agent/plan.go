package agent

import (
	"encoding/json"
	"slices"
	"strings"
)

// TodoTool is the name of the tool that keeps the plan, here and in Hermes
// itself. What a conversation stores of it are its calls; the plan follows from
// them.
const TodoTool = "todo"

// MergePlan changes and adds entries by their ids. A change without content, or
// without status, keeps what the entry has; a new entry is pending.
func MergePlan(plan, changes []PlanEntry) []PlanEntry {
	plan = slices.Clone(plan)
	for _, change := range changes {
		at := slices.IndexFunc(plan, func(e PlanEntry) bool { return e.ID == change.ID })
		if at < 0 {
			if change.Status == "" {
				change.Status = EntryPending
			}
			plan = append(plan, change)
			continue
		}
		if strings.TrimSpace(change.Content) == "" {
			change.Content = plan[at].Content
		}
		if change.Status == "" {
			change.Status = plan[at].Status
		}
		plan[at] = change
	}
	return plan
}

// ApplyTodo applies the stored arguments of a call of the todo tool to the plan.
// It reports false when the call only read it.
func ApplyTodo(plan []PlanEntry, arguments string) ([]PlanEntry, bool) {
	var args struct {
		Todos []struct {
			ID      string      `json:"id"`
			Content string      `json:"content"`
			Status  EntryStatus `json:"status"`
		} `json:"todos"`
		Merge bool `json:"merge"`
	}
	if json.Unmarshal([]byte(arguments), &args) != nil || args.Todos == nil {
		return plan, false
	}
	if !args.Merge {
		plan = nil
	}
	changes := make([]PlanEntry, len(args.Todos))
	for i, todo := range args.Todos {
		changes[i] = PlanEntry{ID: todo.ID, Content: todo.Content, Status: todo.Status}
	}
	return MergePlan(plan, changes), true
}

// planOf works out the plan at the end of a conversation.
func planOf(history []Message) []PlanEntry {
	calls := map[string]string{} // arguments by call id
	var plan []PlanEntry
	for _, m := range history {
		for _, c := range m.ToolCalls {
			if c.Name == TodoTool {
				calls[c.ID] = c.Arguments
			}
		}
		if arguments, ok := calls[m.ToolCallID]; ok && m.Role == RoleTool && !m.Failed {
			plan, _ = ApplyTodo(plan, arguments)
		}
	}
	return plan
}
