package llm_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent"
	"github.com/hermes-acp/hermes-acp/agent/llm/llmtest"
)

const pixel = "data:image/png;base64,iVBORw0KGgo="

// M25, M38: the request holds what the protocol needs and nothing optional.
func TestM25_M38_RequestShape(t *testing.T) {
	t.Parallel()
	srv := llmtest.Start(t, "-- reply --\ntext ok\n")
	req := agent.ModelRequest{
		Messages: []agent.Message{
			agent.TextMessage(agent.RoleSystem, "Be <brief> & exact."),
			agent.TextMessage(agent.RoleUser, "run true"),
			{
				Role: agent.RoleAssistant, Reasoning: "private",
				ToolCalls: []agent.ToolCall{
					{ID: "a", Name: "terminal", Arguments: `{"command":"true"}`},
					{ID: "b", Name: "terminal", Arguments: `{"command": "tr`},
				},
			},
			{Role: agent.RoleTool, ToolCallID: "a", ToolName: "terminal"},
			{Role: agent.RoleTool, ToolCallID: "b", ToolName: "terminal", Failed: true, Parts: []agent.Part{{Text: "the arguments are not JSON"}}},
		},
		Tools: []agent.ToolSpec{
			{Name: "terminal", Description: "Runs a command.", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}}}`), Kind: agent.KindExecute},
			{Name: "now"},
		},
	}
	if _, err := newClient(t, srv.URL).Stream(t.Context(), req, func(agent.Delta) {}); err != nil {
		t.Fatal(err)
	}
	want := `{
		"model": "test-model",
		"stream": true,
		"stream_options": {"include_usage": true},
		"tools": [
			{"type": "function", "function": {"name": "terminal", "description": "Runs a command.", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}},
			{"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}
		],
		"messages": [
			{"role": "system", "content": "Be <brief> & exact."},
			{"role": "user", "content": "run true"},
			{"role": "assistant", "content": "", "tool_calls": [
				{"id": "a", "type": "function", "function": {"name": "terminal", "arguments": "{\"command\":\"true\"}"}},
				{"id": "b", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}
			]},
			{"role": "tool", "content": "(no output)", "tool_call_id": "a"},
			{"role": "tool", "content": "the arguments are not JSON", "tool_call_id": "b"}
		]
	}`
	got := srv.Requests()[0]
	if diff := cmp.Diff(decoded(t, want), decoded(t, string(got.Body))); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if auth := got.Header.Get("Authorization"); auth != "Bearer sk-secret" {
		t.Errorf("authorization %q", auth)
	}
}

// TestEmptyAnswer: a model that said nothing once must not end the conversation
// with a provider that refuses empty messages.
func TestEmptyAnswer(t *testing.T) {
	t.Parallel()
	srv := llmtest.Start(t, "-- reply --\ntext ok\n")
	req := agent.ModelRequest{Messages: []agent.Message{
		agent.TextMessage(agent.RoleUser, "hi"),
		{Role: agent.RoleAssistant, Reasoning: "nothing to say"},
		agent.TextMessage(agent.RoleUser, "hello?"),
	}}
	if _, err := newClient(t, srv.URL).Stream(t.Context(), req, func(agent.Delta) {}); err != nil {
		t.Fatal(err)
	}
	if got := srv.Requests()[0].Messages[1].Text(); got != "(no answer)" {
		t.Errorf("the empty answer was sent as %q", got)
	}
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestImages(t *testing.T) {
	t.Parallel()
	picture := []agent.Part{{Text: "what is"}, {Text: "this?"}, {ImageURL: pixel}}
	call := agent.Message{Role: agent.RoleAssistant, ToolCalls: []agent.ToolCall{{ID: "a", Name: "read_file", Arguments: "{}"}}}
	result := agent.Message{Role: agent.RoleTool, ToolCallID: "a", ToolName: "read_file", Parts: []agent.Part{{Text: "an image"}, {ImageURL: pixel}}}
	const (
		pixelPart = `{"type": "image_url", "image_url": {"url": "` + pixel + `"}}`
		fromTool  = `{"type": "text", "text": "Image from read_file:"}, ` + pixelPart
	)
	tests := map[string]struct {
		messages []agent.Message
		want     string // of the last message
	}{
		"from the person": {
			[]agent.Message{{Role: agent.RoleUser, Parts: picture}},
			`[{"type": "text", "text": "what is"}, {"type": "text", "text": "this?"}, ` + pixelPart + `]`,
		},
		"from a tool, at the end": {
			[]agent.Message{agent.TextMessage(agent.RoleUser, "hi"), call, result},
			`[` + fromTool + `]`,
		},
		"from a tool, before the person's words": {
			[]agent.Message{agent.TextMessage(agent.RoleUser, "hi"), call, result, agent.TextMessage(agent.RoleUser, "well?")},
			`[` + fromTool + `, {"type": "text", "text": "well?"}]`,
		},
		"text only": {
			[]agent.Message{{Role: agent.RoleUser, Parts: picture[:2]}},
			`"what is\nthis?"`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := llmtest.Start(t, "-- reply --\ntext ok\n")
			if _, err := newClient(t, srv.URL).Stream(t.Context(), agent.ModelRequest{Messages: tt.messages}, func(agent.Delta) {}); err != nil {
				t.Fatal(err)
			}
			messages := srv.Requests()[0].Messages
			got := string(messages[len(messages)-1].Content)
			if diff := cmp.Diff(decoded(t, tt.want), decoded(t, got)); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
		})
	}
}

// A model that sees no images gets a text in their place, once that was found
// out, so that one image does not end a session for good.
func TestRefusedImagesAreLeftOut(t *testing.T) {
	t.Parallel()
	conversation := []agent.Message{
		{Role: agent.RoleUser, Parts: []agent.Part{{Text: "look"}, {ImageURL: pixel}}},
		{Role: agent.RoleAssistant, ToolCalls: []agent.ToolCall{{ID: "a", Name: "read_file", Arguments: "{}"}}},
		{Role: agent.RoleTool, ToolCallID: "a", ToolName: "read_file", Parts: []agent.Part{{Text: "a.png"}, {ImageURL: pixel}}},
	}
	for name, refusal := range map[string]string{
		"DeepSeek":   "-- status 400 --\n" + `{"error":{"message":"Failed to deserialize the JSON body: messages[0]: unknown variant image_url, expected text"}}`,
		"OpenRouter": "-- status 404 --\n" + `{"error":{"message":"No endpoints found that support image input"}}`,
		"llama.cpp":  "-- status 500 --\n" + `{"error":{"message":"image input is not supported"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const ok = "-- reply --\ntext ok\n"
			srv := llmtest.Start(t, refusal+"\n"+ok+ok)
			c := newClient(t, srv.URL)
			var s shown
			for range 2 {
				if _, err := c.Stream(t.Context(), agent.ModelRequest{Messages: conversation}, s.emit); err != nil {
					t.Fatal(err)
				}
			}
			requests := srv.Requests()
			if len(requests) != 3 || strings.Count(s.notices, "without images") != 1 {
				t.Fatalf("%d requests, notices %q", len(requests), s.notices)
			}
			const left = `[an image was left out: you cannot see images here]`
			for _, r := range requests[1:] {
				var got []string
				for _, m := range r.Messages {
					got = append(got, string(m.Content))
				}
				if diff := cmp.Diff([]string{`"look\n` + left + `"`, `""`, `"a.png\n` + left + `"`}, got); diff != "" {
					t.Errorf("content (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// M26, M27: what a provider refuses is left out, once found out, for good.
func TestM26_M27_Negotiation(t *testing.T) {
	t.Parallel()
	type sent struct {
		MaxTokens, MaxCompletionTokens int
		Effort                         string
		Usage                          bool
	}
	refusal := func(message string) string {
		return "-- status 400 --\n{\"error\":{\"message\":\"" + message + "\"}}\n"
	}
	const ok = "-- reply --\ntext ok\n"
	full := sent{MaxTokens: 100, Effort: "high", Usage: true}
	tests := map[string]struct {
		script string
		want   []sent // two asks: all requests of both
		notice string
	}{
		"all is taken": {ok + ok, []sent{full, full}, ""},
		"M26 unknown parameter": {
			refusal("Unknown parameter: stream_options") + ok + ok,
			[]sent{full, {MaxTokens: 100, Effort: "high"}, {MaxTokens: 100, Effort: "high"}},
			"",
		},
		"M26 named in the param field": {
			"-- status 400 --\n{\"error\":{\"message\":\"Unsupported value\",\"param\":\"reasoning.effort\"}}\n" + ok + ok,
			[]sent{full, {MaxTokens: 100, Usage: true}, {MaxTokens: 100, Usage: true}},
			`custom does not take the reasoning effort "high" for test-model; its own default is used`,
		},
		"M27 max_tokens refused": {
			refusal("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.") + ok + ok,
			[]sent{full, {MaxCompletionTokens: 100, Effort: "high", Usage: true}, {MaxCompletionTokens: 100, Effort: "high", Usage: true}},
			"",
		},
		"M27 both refused": {
			refusal("max_tokens is not supported") + refusal("extra fields not permitted: max_completion_tokens") + ok + ok,
			[]sent{full, {MaxCompletionTokens: 100, Effort: "high", Usage: true}, {Effort: "high", Usage: true}, {Effort: "high", Usage: true}},
			"",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := llmtest.Start(t, tt.script)
			c := newClient(t, srv.URL)
			req := hi()
			req.MaxTokens, req.Effort = 100, "high"
			var s shown
			for range 2 {
				if _, err := c.Stream(t.Context(), req, s.emit); err != nil {
					t.Fatal(err)
				}
			}
			var got []sent
			for _, r := range srv.Requests() {
				got = append(got, sent{r.MaxTokens, r.MaxCompletionTokens, r.ReasoningEffort, r.StreamOptions != nil})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if strings.TrimSpace(s.notices) != tt.notice {
				t.Errorf("notices %q, want %q", s.notices, tt.notice)
			}
		})
	}
}

// M14: reasoning_content goes back to a provider that sends it, with the calls
// of the running turn.
func TestM14_ReasoningEcho(t *testing.T) {
	t.Parallel()
	call := func(id, reasoning string) []agent.Message {
		return []agent.Message{
			{Role: agent.RoleAssistant, Reasoning: reasoning, ToolCalls: []agent.ToolCall{{ID: id, Name: "f", Arguments: "{}"}}},
			{Role: agent.RoleTool, ToolCallID: id, ToolName: "f"},
		}
	}
	earlier := append([]agent.Message{agent.TextMessage(agent.RoleUser, "first")}, call("old", "then")...)
	first := append(earlier, agent.TextMessage(agent.RoleAssistant, "done"), agent.TextMessage(agent.RoleUser, "next"))
	second := append(slices.Clip(first), call("new", "now")...)

	const thinks = "-- reply --\nthought now\ncall f {}\n"
	tests := map[string]struct {
		script string
		want   []string // of the calls in the last request; "-" for none
	}{
		"a provider that does not send it": {"-- reply --\ncall f {}\n-- reply --\ntext ok\n", []string{"-", "-"}},
		"a provider that sends it":         {thinks + "-- reply --\ntext ok\n", []string{"-", "now"}},
		"a provider that wants it everywhere": {
			thinks + `-- status 400 --
{"error":{"message":"thinking is enabled but reasoning_content is missing in assistant tool call message at index 1"}}
-- reply --
text ok
`,
			[]string{"then", "now"},
		},
		"a provider that sends it but refuses it": {
			thinks + `-- status 400 --
{"error":{"message":"Unknown field: reasoning_content"}}
-- reply --
text ok
`,
			[]string{"-", "-"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := llmtest.Start(t, tt.script)
			c := newClient(t, srv.URL)
			for _, messages := range [][]agent.Message{first, second} {
				if _, err := c.Stream(t.Context(), agent.ModelRequest{Messages: messages}, func(agent.Delta) {}); err != nil {
					t.Fatal(err)
				}
			}
			requests := srv.Requests()
			var got []string
			for _, m := range requests[len(requests)-1].Messages {
				switch {
				case len(m.ToolCalls) == 0:
				case m.ReasoningContent == nil:
					got = append(got, "-")
				default:
					got = append(got, *m.ReasoningContent)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("reasoning_content (-want +got):\n%s", diff)
			}
		})
	}
}
