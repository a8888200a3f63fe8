package llm_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hermes-acp/hermes-acp/agent"
	"github.com/hermes-acp/hermes-acp/agent/llm"
	"github.com/hermes-acp/hermes-acp/agent/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newClient returns a client of the given server and closes its connections at
// the end of the test.
func newClient(tb testing.TB, url string) *llm.Client {
	tb.Helper()
	transport := llm.NewTransport()
	tb.Cleanup(transport.CloseIdleConnections)
	c, err := llm.New(llm.Options{
		Provider: "custom", BaseURL: url, Model: llmtest.ModelID, Key: "sk-secret", KeyName: "OPENAI_API_KEY",
	}, transport)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// shown is what a person saw of an answer.
type shown struct{ text, reasoning, notices string }

func (s *shown) emit(d agent.Delta) {
	s.text += d.Text
	s.reasoning += d.Reasoning
	if d.Notice != "" {
		s.notices += d.Notice + "\n"
	}
}

func hi() agent.ModelRequest {
	return agent.ModelRequest{Messages: []agent.Message{agent.TextMessage(agent.RoleUser, "hi")}}
}

// ask plays a script of one section.
func ask(t *testing.T, script string) (agent.Completion, shown, error) {
	t.Helper()
	srv := llmtest.Start(t, script)
	var s shown
	completion, err := newClient(t, srv.URL).Stream(t.Context(), hi(), s.emit)
	return completion, s, err
}

func TestStreamAnswers(t *testing.T) {
	t.Parallel()
	said := func(text string) agent.Completion {
		return agent.Completion{Message: agent.TextMessage(agent.RoleAssistant, text), Finish: agent.FinishStop}
	}
	const hello = `data: {"choices":[{"delta":{"content":"Hello"}}]}` + "\n\n"
	const stop = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	tests := map[string]struct {
		script string
		want   agent.Completion
	}{
		"plain":                        {"-- reply --\ntext \"Hello, \"\ntext world\nusage 7 2\n", withUsage(said("Hello, world"), 7, 2)},
		"byte by byte":                 {"-- reply bytewise --\ntext \"Grüße, \"\ntext 世界\n", said("Grüße, 世界")},
		"CRLF line ends":               {"-- sse --\n" + strings.ReplaceAll(hello+stop, "\n", "\r\n"), said("Hello")},
		"no space after data":          {"-- sse --\ndata:{\"choices\":[{\"delta\":{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}\n\n", said("Hello")},
		"no blank lines between":       {"-- sse --\n" + strings.ReplaceAll(hello+hello+stop, "\n\n", "\n"), said("HelloHello")},
		"JSON over several data lines": {"-- sse --\ndata: {\"choices\":\ndata: [{\"delta\":{\"content\":\"Hello\"}}]}\n\n" + stop, said("Hello")},
		"no end mark":                  {"-- sse --\n" + hello + stop, said("Hello")},
		"end mark without a finish":    {"-- sse --\n" + hello + "data: [DONE]\n\n", said("Hello")},
		"cut after the finish":         {"-- sse cut --\n" + hello + stop, said("Hello")},
		"M08 comments without limit":   {"-- sse --\n" + strings.Repeat(": OPENROUTER PROCESSING\n\n", 400) + ":\n\n" + hello + stop, said("Hello")},
		"M09 comment in a data field":  {"-- sse --\n" + strings.Repeat("data: : OPENROUTER PROCESSING\n\n", 400) + hello + stop, said("Hello")},
		"M10 empty data line":          {"-- sse --\ndata:\n\ndata: \n\n" + hello + stop, said("Hello")},
		"M12 chunks without choices": {
			"-- sse --\ndata: {\"choices\":[],\"prompt_filter_results\":[]}\n\n" + hello + stop +
				"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n",
			withUsage(said("Hello"), 3, 1),
		},
		"M18 tool envelope in the text": {
			"-- sse --\ndata: {\"choices\":[{\"delta\":{\"content\":\"<tool_call>{\\\"name\\\":\\\"f\\\"\"},\"finish_reason\":\"stop\"}]}\n\n",
			said(`<tool_call>{"name":"f"`),
		},
		"M39 plain JSON": {
			"-- json --\n{\n  \"choices\": [{\"message\": {\"role\": \"assistant\", \"content\": \"Hello\"}, \"finish_reason\": \"stop\"}],\n  \"usage\": {\"prompt_tokens\": 3, \"completion_tokens\": 1}\n}\n",
			withUsage(said("Hello"), 3, 1),
		},
		"P25 the whole message at the end": {
			"-- sse --\n" + hello + hello + `data: {"choices":[{"delta":{},"message":{"role":"assistant","content":"HelloHello"},"finish_reason":"stop"}]}` + "\n\n",
			said("HelloHello"),
		},
		"content in parts": {"-- sse --\ndata: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"Hello\"}]},\"finish_reason\":\"stop\"}]}\n\n", said("Hello")},
		"cost": {
			"-- sse --\n" + hello + stop + `data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"cost":0.25,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":2},"completion_tokens_details":{"reasoning_tokens":3}}}` + "\n\n",
			agent.Completion{
				Message: agent.TextMessage(agent.RoleAssistant, "Hello"), Finish: agent.FinishStop,
				Usage: agent.Usage{Input: 10, Output: 5, CachedRead: 4, CachedWrite: 2, Reasoning: 3, CostUSD: 0.25},
			},
		},
		"fields of odd types": {
			"-- sse --\n" + `data: {"choices":[{"delta":{"content":"Hello","tool_calls":null,"reasoning":{"x":1}},"finish_reason":"stop","index":"0"}],"usage":{"prompt_tokens":7.5,"completion_tokens":2}}` + "\n\n",
			withUsage(said("Hello"), 0, 2),
		},
		"length":         {"-- reply --\ntext Hello\nfinish length\n", withFinish(said("Hello"), agent.FinishLength)},
		"content filter": {"-- reply --\ntext Hello\nfinish content_filter\n", withFinish(said("Hello"), agent.FinishRefusal)},
		"refusal":        {"-- sse --\ndata: {\"choices\":[{\"delta\":{\"refusal\":\"No.\"},\"finish_reason\":\"stop\"}]}\n\n", withFinish(said("No."), agent.FinishRefusal)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, s, err := ask(t, tt.script)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("completion (-want +got):\n%s", diff)
			}
			if s.text != got.Message.Text() {
				t.Errorf("shown %q, kept %q", s.text, got.Message.Text())
			}
		})
	}
}

func withUsage(c agent.Completion, in, out int) agent.Completion {
	c.Usage = agent.Usage{Input: in, Output: out}
	return c
}

func withFinish(c agent.Completion, f agent.Finish) agent.Completion {
	c.Finish = f
	return c
}

func TestStreamReasoning(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"reasoning", "reasoning_content"} {
		got, s, err := ask(t, `-- sse --
data: {"choices":[{"delta":{"`+field+`":"hm"}}]}

data: {"choices":[{"delta":{"content":"yes"},"finish_reason":"stop"}]}

`)
		if err != nil || s.reasoning != "hm" || got.Message.Reasoning != "hm" || s.text != "yes" {
			t.Errorf("%s: shown %+v, kept %+v, error %v", field, s, got.Message, err)
		}
	}
}

func TestStreamToolCalls(t *testing.T) {
	t.Parallel()
	piece := func(calls string) string {
		return `data: {"choices":[{"delta":{"tool_calls":[` + calls + `]}}]}` + "\n\n"
	}
	call := func(id, name, args string) agent.ToolCall { return agent.ToolCall{ID: id, Name: name, Arguments: args} }
	const none = ""
	tests := map[string]struct {
		pieces []string
		finish string
		want   []agent.ToolCall
	}{
		"whole": {
			[]string{`{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\""}}`, `{"index":0,"function":{"arguments":":1}"}}`},
			"tool_calls",
			[]agent.ToolCall{call("a", "f", `{"x":1}`)},
		},
		"side by side": {
			[]string{
				`{"index":0,"id":"a","function":{"name":"f","arguments":""}},{"index":1,"id":"b","function":{"name":"g","arguments":""}}`,
				`{"index":0,"function":{"arguments":"{\"x\":"}}`, `{"index":1,"function":{"arguments":"{\"y\":"}}`,
				`{"index":0,"function":{"arguments":"1}"}}`, `{"index":1,"function":{"arguments":"2}"}}`,
			},
			"tool_calls",
			[]agent.ToolCall{call("a", "f", `{"x":1}`), call("b", "g", `{"y":2}`)},
		},
		"M01 no index": {
			[]string{`{"id":"a","function":{"name":"f","arguments":"{\"x\""}}`, `{"function":{"arguments":":1}"}}`, `{"id":"b","function":{"name":"g","arguments":"{}"}}`},
			"tool_calls",
			[]agent.ToolCall{call("a", "f", `{"x":1}`), call("b", "g", `{}`)},
		},
		"M02 tail under another index": {
			[]string{
				`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`,
				`{"index":0,"id":"b","function":{"name":"g","arguments":"{\"q\""}}`,
				`{"index":1,"function":{"arguments":":2}"}}`,
			},
			"tool_calls",
			[]agent.ToolCall{call("a", "f", `{}`), call("b", "g", `{"q":2}`)},
		},
		"M05 first index is 1": {
			[]string{`{"index":1,"id":"c","function":{"name":"f","arguments":"{}"}}`},
			"tool_calls",
			[]agent.ToolCall{call("c", "f", `{}`)},
		},
		"M06 no id": {
			[]string{`{"index":0,"function":{"name":"f","arguments":"{}"}}`},
			"tool_calls",
			[]agent.ToolCall{call(none, "f", `{}`)},
		},
		"M06 no id, two calls at index 0": {
			[]string{`{"index":0,"function":{"name":"f","arguments":"{}"}}`, `{"index":0,"function":{"name":"f","arguments":"{\"x\":1}"}}`, `{"index":0,"function":{"name":"g","arguments":"{}"}}`},
			"tool_calls",
			[]agent.ToolCall{call(none, "f", `{}`), call(none, "f", `{"x":1}`), call(none, "g", `{}`)},
		},
		"M06 neither id nor index": {
			[]string{`{"function":{"name":"f","arguments":"{\"x\":"}}`, `{"function":{"arguments":"1}"}}`, `{"function":{"name":"g","arguments":""}}`},
			"tool_calls",
			[]agent.ToolCall{call(none, "f", `{"x":1}`), call(none, "g", `{}`)},
		},
		"M07 one id for two calls stays one id, but two calls": {
			[]string{`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}`, `{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":2}"}}`},
			"tool_calls",
			[]agent.ToolCall{call("a", "f", `{"x":1}`), call("a", "f", `{"x":2}`)},
		},
		"M07 one id under two indexes": {
			[]string{`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`, `{"index":1,"id":"a","function":{"name":"f","arguments":""}}`},
			"tool_calls",
			[]agent.ToolCall{call("a", "f", `{}`), call("a", "f", `{}`)},
		},
		"M07 name and id on each piece": {
			[]string{`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`, `{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}`},
			"tool_calls",
			[]agent.ToolCall{call("a", "f", `{"x":1}`)},
		},
		"M16 finish_reason stop": {
			[]string{`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`},
			"stop",
			[]agent.ToolCall{call("a", "f", `{}`)},
		},
		"M19 arguments that are no JSON": {
			[]string{`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"path\": \"a"}}`},
			"tool_calls",
			[]agent.ToolCall{call("a", "f", `{"path": "a`)},
		},
		"M21 unknown names stay as they are": {
			[]string{`{"index":0,"id":"a","function":{"name":"Read_File ","arguments":"{}"}}`, `{"index":1,"id":"b","function":{"name":"","arguments":"{}"}}`},
			"tool_calls",
			[]agent.ToolCall{call("a", "Read_File ", `{}`), call("b", "", `{}`)},
		},
		"arguments as an object": {
			[]string{`{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}}`},
			"tool_calls",
			[]agent.ToolCall{call("a", "f", `{"x":1}`)},
		},
		"no arguments": {
			[]string{`{"index":0,"id":"a","function":{"name":"f"}}`},
			"tool_calls",
			[]agent.ToolCall{call("a", "f", `{}`)},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := "-- sse --\n"
			for _, p := range tt.pieces {
				script += piece(p)
			}
			got, _, err := ask(t, script+`data: {"choices":[{"delta":{},"finish_reason":"`+tt.finish+`"}]}`+"\n\n")
			if err != nil {
				t.Fatal(err)
			}
			if got.Finish != agent.FinishToolCalls {
				t.Errorf("finish %q", got.Finish)
			}
			if diff := cmp.Diff(tt.want, got.Message.ToolCalls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStreamFailures(t *testing.T) {
	t.Parallel()
	const hel = `data: {"choices":[{"delta":{"content":"Hel"}}]}` + "\n\n"
	tests := map[string]struct {
		script  string
		says    string // in the error's text
		cause   error
		partial string
	}{
		"M31 cut after text":           {"-- sse cut --\n" + hel, "custom: the answer was cut off", llm.ErrCut, "Hel"},
		"M31 ended after text":         {"-- sse --\n" + hel, "custom: the answer was cut off", llm.ErrCut, "Hel"},
		"M31 cut inside JSON":          {"-- sse cut --\n" + hel + `data: {"choices":[{"delta":{"con`, "custom: the answer was cut off", llm.ErrCut, "Hel"},
		"M33 spaced error":             {"-- sse --\n" + hel + `data: { "error" : {"message":"overloaded","code":"502"}}` + "\n\n", "overloaded", nil, "Hel"},
		"M33 error with code null":     {"-- sse --\n" + hel + `data: {"error":{"message":"overloaded","code":null,"type":"server_error"}}` + "\n\n", "overloaded", nil, "Hel"},
		"M33 event error":              {"-- sse --\n" + hel + "event: error\ndata: {\"message\":\"overloaded\"}\n\n", "overloaded", nil, "Hel"},
		"M33 event error, plain text":  {"-- sse --\n" + hel + "event: error\ndata: overloaded\n\n", "overloaded", nil, "Hel"},
		"M33 error before any text":    {"-- sse --\n" + `data: {"error":"overloaded"}` + "\n\n", "overloaded", nil, ""},
		"M33 bare error line":          {"-- sse --\n" + hel + `{"error":{"message":"overloaded"}}` + "\n", "overloaded", nil, "Hel"},
		"M33 vLLM":                     {"-- sse --\n" + hel + `data: {"object":"error","message":"overloaded"}` + "\n\n", "overloaded", nil, "Hel"},
		"M34 in the stream":            {"-- sse --\n" + `data: {"error":{"message":"too long","code":"context_length_exceeded"}}` + "\n\n", "too long", agent.ErrContextOverflow, ""},
		"M34 without a number":         {"-- status 400 --\n" + `{"error":{"message":"input exceeds the context window"}}`, "exceeds the context window", agent.ErrContextOverflow, ""},
		"M34 Anthropic":                {"-- status 400 --\n" + `{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, "prompt is too long", agent.ErrContextOverflow, ""},
		"M34 too large a body":         {"-- status 413 --\n" + `request entity too large`, "413", agent.ErrContextOverflow, ""},
		"M39 login page":               {"-- html --\n<!doctype html><title>Log in</title>\n", "a web page came instead", llm.ErrNotAModel, ""},
		"M33 whole answer is an error": {"-- json --\n" + `{"error":{"message":"overloaded"}}`, "overloaded", nil, ""},
		"stopped by an error":          {"-- sse --\n" + hel + `data: {"choices":[{"delta":{},"finish_reason":"error"}]}` + "\n\n", "cut off", llm.ErrCut, "Hel"},
		"not JSON":                     {"-- sse --\n" + hel + "data: nonsense\n\n", "read an event", nil, "Hel"},
		"bad key":                      {"-- status 401 --\n" + `{"error":{"message":"Incorrect API key: sk-secret"}}`, "refused the key (401): Incorrect API key: [key]; set OPENAI_API_KEY", nil, ""},
		"unknown model":                {"-- status 404 --\n" + `{"error":{"message":"no such model"}}`, "no such model; check the model's name (test-model)", nil, ""},
		"no credit":                    {"-- status 429 --\n" + `{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}`, "You exceeded your quota", nil, ""},
		"what the upstream said":       {"-- status 400 --\n" + `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"bad image\"}}"}}}`, "Provider returned error: bad image", nil, ""},
		"Gemini's list":                {"-- status 400 --\n" + `[{"error":{"code":400,"message":"API key not valid"}}]`, "API key not valid", nil, ""},
		"M30 asks for too long":        {"-- status 429 Retry-After=600 --\n" + `{"error":{"message":"slow down"}}`, "slow down; it asks to wait 10m0s", nil, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, s, err := ask(t, tt.script)
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("error %v, want one that says %q", err, tt.says)
			}
			if tt.cause != nil && !errors.Is(err, tt.cause) {
				t.Errorf("error %v does not wrap %v", err, tt.cause)
			}
			if strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("error holds the key: %v", err)
			}
			if got.Message.Text() != tt.partial || s.text != tt.partial || got.Message.Interrupted != (tt.partial != "") {
				t.Errorf("shown %q, kept %q, interrupted %v; want %q", s.text, got.Message.Text(), got.Message.Interrupted, tt.partial)
			}
		})
	}
}

// A call that was cut must not run, so the completion of a failed stream has
// none.
func TestM31_CutInsideToolCall(t *testing.T) {
	t.Parallel()
	got, _, err := ask(t, `-- sse cut --
data: {"choices":[{"delta":{"content":"Reading."}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]}}]}

`)
	want := agent.Message{Role: agent.RoleAssistant, Parts: []agent.Part{{Text: "Reading."}}, Interrupted: true}
	if diff := cmp.Diff(want, got.Message); !errors.Is(err, llm.ErrCut) || diff != "" {
		t.Errorf("error %v, message (-want +got):\n%s", err, diff)
	}
}

func TestCancelEndsTheStream(t *testing.T) {
	t.Parallel()
	srv := llmtest.Start(t, "-- reply --\ntext Hel\ngate never\ntext lo\n")
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the person pressed stop")
	go func() {
		<-srv.Reached("never")
		cancel(stop)
	}()
	got, err := newClient(t, srv.URL).Stream(ctx, hi(), func(agent.Delta) {})
	if !errors.Is(err, stop) {
		t.Errorf("error %v does not wrap the cause", err)
	}
	if text := got.Message.Text(); text != "Hel" && text != "" || got.Message.Interrupted != (text != "") {
		t.Errorf("kept %+v", got.Message)
	}
}

func TestAutoModelIsTheFirstServed(t *testing.T) {
	t.Parallel()
	srv := llmtest.Start(t, "-- reply --\ntext hi\n")
	transport := llm.NewTransport()
	t.Cleanup(transport.CloseIdleConnections)
	c, err := llm.New(llm.Options{Provider: "custom", BaseURL: srv.URL + "/", Model: llm.AutoModel}, transport)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Stream(t.Context(), hi(), func(agent.Delta) {}); err != nil {
		t.Fatal(err)
	}
	if got := srv.Requests()[0]; got.Model != llmtest.ModelID || got.Header.Get("Authorization") != "" {
		t.Errorf("model %q, authorization %q", got.Model, got.Header.Get("Authorization"))
	}
	if diff := cmp.Diff(agent.ModelInfo{ID: llmtest.ModelID, Provider: "custom"}, c.Info()); diff != "" {
		t.Errorf("info (-want +got):\n%s", diff)
	}
}

func TestConnectionIsReused(t *testing.T) {
	t.Parallel()
	srv := llmtest.Start(t, strings.Repeat("-- reply --\ntext hi\n", 5))
	c := newClient(t, srv.URL)
	for range 5 {
		if _, err := c.Stream(t.Context(), hi(), func(agent.Delta) {}); err != nil {
			t.Fatal(err)
		}
	}
	if n := srv.Connections(); n != 1 {
		t.Errorf("%d connections for 5 requests in a row", n)
	}
}

func TestNewRefusesBadAddresses(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "localhost:8080/v1", "ftp://host/v1", "http://"} {
		if _, err := llm.New(llm.Options{Provider: "custom", BaseURL: url}, nil); err == nil {
			t.Errorf("%q was taken", url)
		}
	}
}

func TestNothingListens(t *testing.T) {
	t.Parallel()
	c := newClient(t, "http://127.0.0.1:1/v1")
	_, err := c.Models(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no answer from 127.0.0.1:1: ") {
		t.Errorf("error %v", err)
	}
}

// TestModelsTellTheirWindows covers the three names that the size of the window
// has in the wild, and that a client learns its own from the list.
func TestModelsTellTheirWindows(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"object":"list","data":[
			{"id":"test-model","context_length":200000},
			{"id":"b","max_model_len":32768},
			{"id":"c","max_context_length":8192},
			{"id":"d"}]}`)
	}))
	defer srv.Close()
	c, err := llm.New(llm.Options{Provider: "custom", BaseURL: srv.URL, Model: "test-model"}, &http.Transport{DisableKeepAlives: true})
	if err != nil {
		t.Fatal(err)
	}
	if window := c.Info().ContextWindow; window != 0 {
		t.Errorf("a window of %d before anything was asked", window)
	}
	models, err := c.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var windows []int
	for _, m := range models {
		windows = append(windows, m.ContextWindow)
	}
	if diff := cmp.Diff([]int{200000, 32768, 8192, 0}, windows); diff != "" {
		t.Error(diff)
	}
	if window := c.Info().ContextWindow; window != 200000 {
		t.Errorf("the client learned a window of %d", window)
	}
}
