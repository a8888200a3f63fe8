package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

const (
	defaultFound = 10
	maxFound     = 50
)

type sessionSearchArgs struct {
	Query string `json:"query"`
	Limit number `json:"limit"`
}

// SessionSearch is a tool that finds earlier conversations, in every folder. index
// is asked for at each call, so that nothing opens the database before.
func SessionSearch(index func(context.Context) (agent.SessionIndex, error)) agent.Tool {
	return tool[sessionSearchArgs]{agent.ToolSpec{
		Name: "session_search",
		Kind: agent.KindSearch,
		Description: "Find earlier conversations with this person, in any project. Give query to search what was said and done " +
			"(words, \"a phrase\", OR, NOT, prefix*), or none to list the most recent conversations. Use it when they refer to earlier work.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"query": {"type": "string"},
				"limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10}
			},
			"additionalProperties": false
		}`),
	}, func(_ context.Context, _ *agent.Workspace, args sessionSearchArgs, _ json.RawMessage) (agent.Plan, error) {
		return planSessionSearch(index, args), nil
	}}
}

func planSessionSearch(index func(context.Context) (agent.SessionIndex, error), args sessionSearchArgs) agent.Plan {
	query := strings.TrimSpace(args.Query)
	limit := int(args.Limit)
	if limit <= 0 {
		limit = defaultFound
	}
	limit = min(limit, maxFound)
	title := "session_search: recent conversations"
	if query != "" {
		title = "session_search: " + query
	}
	return agent.Plan{Title: title, Run: func(ctx context.Context, _ func(agent.Progress)) (agent.Result, error) {
		sessions, err := index(ctx)
		if err != nil {
			return agent.Result{}, err
		}
		if query == "" {
			page, err := sessions.ListSessions(ctx, agent.SessionFilter{Limit: limit})
			if err != nil {
				return agent.Result{}, err
			}
			return foundSessions(page.Sessions)
		}
		hits, err := sessions.Search(ctx, agent.SearchQuery{Text: query, Limit: limit})
		if err != nil {
			return agent.Result{}, err
		}
		return foundMessages(query, hits)
	}}
}

// sessionSearchResult is what the model reads, in the shape that Hermes gives it.
type sessionSearchResult struct {
	Success bool                 `json:"success"`
	Mode    string               `json:"mode"`
	Query   string               `json:"query,omitempty"`
	Results []sessionSearchMatch `json:"results"`
}

type sessionSearchMatch struct {
	SessionID string `json:"session_id"`
	Title     string `json:"title,omitempty"`
	When      string `json:"when"` // RFC 3339
	Cwd       string `json:"cwd,omitempty"`
	Source    string `json:"source,omitempty"`
	Role      string `json:"role,omitempty"`
	ToolName  string `json:"tool_name,omitempty"`
	Snippet   string `json:"snippet,omitempty"`
	Before    string `json:"before,omitempty"`
	After     string `json:"after,omitempty"`
}

func foundSessions(sessions []agent.ListedSession) (agent.Result, error) {
	found := sessionSearchResult{Success: true, Mode: "recent", Results: []sessionSearchMatch{}}
	var display strings.Builder
	for _, s := range sessions {
		found.Results = append(found.Results, sessionSearchMatch{SessionID: s.ID, Title: s.Title, When: s.UpdatedAt.Format(time.RFC3339), Cwd: s.Cwd})
		fmt.Fprintf(&display, "%s  %s\n", s.UpdatedAt.Format(time.DateOnly), s.Title)
	}
	return sessionSearchText(found, display.String())
}

func foundMessages(query string, hits []agent.SearchHit) (agent.Result, error) {
	found := sessionSearchResult{Success: true, Mode: "search", Query: query, Results: []sessionSearchMatch{}}
	var display strings.Builder
	for _, h := range hits {
		found.Results = append(found.Results, sessionSearchMatch{
			SessionID: h.SessionID, Title: h.Title, When: h.Time.Format(time.RFC3339), Source: h.Source, Role: string(h.Role),
			ToolName: h.ToolName, Snippet: h.Snippet, Before: h.Before, After: h.After,
		})
		fmt.Fprintf(&display, "%s  %s\n    %s\n", h.Time.Format(time.DateOnly), h.Title, h.Snippet)
	}
	return sessionSearchText(found, display.String())
}

func sessionSearchText(found sessionSearchResult, display string) (agent.Result, error) {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // snippets hold > and <
	if err := enc.Encode(found); err != nil {
		return agent.Result{}, err
	}
	if display == "" {
		display = "Nothing was found."
	}
	return agent.Result{Text: text.String(), Display: display}, nil
}
