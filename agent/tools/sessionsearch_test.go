package tools

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent"
)

// fakeIndex is an index with one conversation that remembers what it was asked.
type fakeIndex struct {
	asked agent.SearchQuery
	limit int
	err   error
}

func (f *fakeIndex) Search(_ context.Context, q agent.SearchQuery) ([]agent.SearchHit, error) {
	f.asked = q
	if q.Text == "nothing" {
		return nil, f.err
	}
	return []agent.SearchHit{{SessionID: "s1", Title: "Walrus", Source: "acp", Role: agent.RoleUser, Time: time.Unix(0, 0).UTC(), Snippet: ">>>walrus<<< it"}}, f.err
}

func (f *fakeIndex) ListSessions(_ context.Context, filter agent.SessionFilter) (agent.SessionPage, error) {
	f.limit = filter.Limit
	rec := agent.SessionRecord{ID: "s1", Title: "Walrus", Cwd: "/w", UpdatedAt: time.Unix(0, 0).UTC()}
	return agent.SessionPage{Sessions: []agent.ListedSession{{SessionRecord: rec}}}, f.err
}

func TestSessionSearch(t *testing.T) {
	for _, tt := range []struct {
		args, title, text, display string
		asked                      agent.SearchQuery
		limit                      int
	}{
		{
			`{"query": " walrus "}`, "session_search: walrus",
			`{"success":true,"mode":"search","query":"walrus","results":[{"session_id":"s1","title":"Walrus","when":"1970-01-01T00:00:00Z","source":"acp","role":"user","snippet":">>>walrus<<< it"}]}` + "\n",
			"1970-01-01  Walrus\n    >>>walrus<<< it\n",
			agent.SearchQuery{Text: "walrus", Limit: 10},
			0,
		},
		{
			`{"query": "nothing", "limit": 500}`, "session_search: nothing",
			`{"success":true,"mode":"search","query":"nothing","results":[]}` + "\n", "Nothing was found.",
			agent.SearchQuery{Text: "nothing", Limit: 50},
			0,
		},
		{
			`{}`, "session_search: recent conversations",
			`{"success":true,"mode":"recent","results":[{"session_id":"s1","title":"Walrus","when":"1970-01-01T00:00:00Z","cwd":"/w"}]}` + "\n",
			"1970-01-01  Walrus\n",
			agent.SearchQuery{},
			10,
		},
	} {
		index := &fakeIndex{}
		tool := SessionSearch(func(context.Context) (agent.SessionIndex, error) { return index, nil })
		plan, err := tool.Plan(t.Context(), &agent.Workspace{}, json.RawMessage(tt.args))
		if err != nil {
			t.Fatal(err)
		}
		result, err := plan.Run(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]any{tt.title, tt.text, tt.display, tt.asked, tt.limit}, []any{plan.Title, result.Text, result.Display, index.asked, index.limit}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.args, diff)
		}
	}
}

func TestSessionSearchErrors(t *testing.T) {
	broken := errors.New("disk")
	for name, index := range map[string]func(context.Context) (agent.SessionIndex, error){
		"no store": func(context.Context) (agent.SessionIndex, error) { return nil, broken },
		"search":   func(context.Context) (agent.SessionIndex, error) { return &fakeIndex{err: broken}, nil },
	} {
		for _, args := range []string{`{"query":"x"}`, `{}`} {
			plan, err := SessionSearch(index).Plan(t.Context(), &agent.Workspace{}, json.RawMessage(args))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := plan.Run(t.Context(), nil); !errors.Is(err, broken) {
				t.Errorf("%s, %s: %v", name, args, err)
			}
		}
	}
	tool := SessionSearch(nil)
	if _, err := tool.Plan(t.Context(), &agent.Workspace{}, json.RawMessage(`{"query": 1}`)); err == nil || !strings.Contains(err.Error(), "query") {
		t.Errorf("a query that is no text: %v", err)
	}
}
