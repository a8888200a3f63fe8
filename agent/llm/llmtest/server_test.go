package llmtest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-acp/hermes-acp/agent/llm/llmtest"
)

// recorder stands in for the test that uses a server, and keeps its complaints.
type recorder struct {
	testing.TB

	mu       sync.Mutex
	errors   []string
	cleanups []func()
}

func (r *recorder) Helper() {}

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// end ends the test and returns its complaints.
func (r *recorder) end() []string {
	for _, f := range r.cleanups {
		f()
	}
	return r.errors
}

func post(t *testing.T, url, body string) (status int, answer string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

// A server that lets a bad request pass would make every test that uses it
// worthless.
func TestRefusesBadRequests(t *testing.T) {
	t.Parallel()
	const (
		user   = `{"role":"user","content":"hi"}`
		caller = `{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		result = `{"role":"tool","content":"ok","tool_call_id":"a"}`
	)
	with := func(messages ...string) string {
		return `{"model":"m","stream":true,"messages":[` + strings.Join(messages, ",") + `]}`
	}
	tool := func(fields string) string {
		return `{"model":"m","stream":true,"messages":[` + user + `],"tools":[` + fields + `]}`
	}
	tests := map[string]struct {
		body string
		says string // empty: the request is good
	}{
		"good":                      {with(user), ""},
		"good with a call":          {with(user, caller, result), ""},
		"good with an image":        {with(`{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image_url","image_url":{"url":"data:"}}]}`), ""},
		"good with a tool":          {tool(`{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}`), ""},
		"not JSON":                  {`{`, "unexpected EOF"},
		"no model":                  {`{"stream":true,"messages":[` + user + `]}`, "model is missing"},
		"no stream":                 {`{"model":"m","messages":[` + user + `]}`, "stream is not true"},
		"an unknown field":          {`{"model":"m","stream":true,"parallel_tool_calls":true,"messages":[` + user + `]}`, "unknown field"},
		"a tool with strict":        {tool(`{"type":"function","function":{"name":"f","strict":false,"parameters":{"type":"object"}}}`), "unknown field"},
		"a tool without a schema":   {tool(`{"type":"function","function":{"name":"f"}}`), "parameters"},
		"a tool without a name":     {tool(`{"type":"function","function":{"parameters":{"type":"object"}}}`), "not a named function"},
		"no content":                {with(user, `{"role":"assistant"}`, user), "content is missing"},
		"content null":              {with(`{"role":"user","content":null}`), "content is missing"},
		"empty user content":        {with(`{"role":"user","content":""}`), "content is empty"},
		"empty assistant content":   {with(user, `{"role":"assistant","content":""}`, user), "content is empty"},
		"empty content list":        {with(`{"role":"user","content":[]}`), "empty list"},
		"unknown content part":      {with(`{"role":"user","content":[{"type":"audio"}]}`), "neither a text nor an image"},
		"unknown role":              {with(`{"role":"function","content":"x"}`), "no such role"},
		"two users":                 {with(user, user), "both user messages"},
		"an unanswered call":        {with(user, caller), "have no results"},
		"a user before the result":  {with(user, caller, user), "comes before the results"},
		"a result without a call":   {with(user, result), "which is not open"},
		"two results of a call":     {with(user, caller, result, result), "which is not open"},
		"a call id twice":           {with(user, caller, result, caller, result), "used twice"},
		"bad arguments":             {with(user, strings.Replace(caller, `"{}"`, `"{"`, 1), result), "not JSON"},
		"no arguments":              {with(user, strings.Replace(caller, `,"arguments":"{}"`, "", 1), result), "not JSON"},
		"a call without a name":     {with(user, strings.Replace(caller, `"name":"f"`, `"name":""`, 1), result), "lacks its id, type or name"},
		"a user with tool calls":    {with(strings.NewReplacer("assistant", "user", `"content":""`, `"content":"x"`).Replace(caller)), "only assistant messages"},
		"assistant at the end":      {with(user, `{"role":"assistant","content":"x"}`), "neither a user's nor a tool's"},
		"a result without an id":    {with(user, caller, `{"role":"tool","content":"ok"}`), "tool_call_id is missing"},
		"reasoning of a tool":       {with(user, caller, `{"role":"tool","content":"ok","tool_call_id":"a","reasoning_content":"r"}`), "only assistant messages"},
		"nothing":                   {with(), "neither a user's nor a tool's"},
		"a tool's content is empty": {with(user, caller, `{"role":"tool","content":"","tool_call_id":"a"}`), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := &recorder{TB: t}
			srv := llmtest.Start(rec, "-- reply --\ntext ok\n")
			status, answer, err := post(t, srv.URL, tt.body)
			complaints := strings.Join(rec.end(), "\n")
			if err != nil {
				t.Fatal(err)
			}
			if tt.says == "" && (status != 200 || complaints != "") || tt.says != "" && (status != 400 || !strings.Contains(complaints, tt.says)) {
				t.Errorf("status %d, answer %s\ncomplaints: %s", status, answer, complaints)
			}
		})
	}
}

func TestCountsRequests(t *testing.T) {
	t.Parallel()
	const body = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`
	for requests, says := range []string{"1 requests came, the script has 2", "", "comes after the end"} {
		rec := &recorder{TB: t}
		srv := llmtest.Start(rec, "-- reply --\ntext ok\n-- reply --\ntext ok\n")
		for range requests + 1 {
			if _, _, err := post(t, srv.URL, body); err != nil {
				t.Fatal(err)
			}
		}
		if complaints := strings.Join(rec.end(), "\n"); says == "" && complaints != "" || !strings.Contains(complaints, says) {
			t.Errorf("%d requests: %q", requests+1, complaints)
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	const body = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"},{"role":"user","content":"again"}]}`
	tests := map[string]struct {
		script string
		status int
		holds  string
		cut    bool
	}{
		"reply":    {"-- reply --\ntext \" a \"\nthought b\ncall f {\"x\": 1}\nusage 3 4\n", 200, `"content":" a "`, false},
		"bytewise": {"-- reply bytewise --\ntext a\n", 200, "data: [DONE]\n\n", false},
		"sse":      {"-- sse --\ndata: x\n", 200, "data: x\n", false},
		"json":     {"-- json --\n{}\n", 200, "{}\n", false},
		"html":     {"-- html --\n<p>\n", 200, "<p>\n", false},
		"status":   {"-- status 429 Retry-After=2 --\nslow down\n", 429, "slow down", false},
		"cut":      {"-- sse cut --\ndata: x\n", 200, "data: x\n", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := llmtest.Start(t, tt.script, llmtest.AllowAdjacentUsers)
			status, answer, err := post(t, srv.URL, body)
			if status != tt.status || !strings.Contains(answer, tt.holds) || (err != nil) != tt.cut {
				t.Errorf("status %d, error %v, answer %s", status, err, answer)
			}
		})
	}
}

// What stands before a gate is there while the gate is shut.
func TestGate(t *testing.T) {
	t.Parallel()
	srv := llmtest.Start(t, "-- reply --\ntext before\ngate g\ntext after\n")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/chat/completions",
		strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	<-srv.Reached("g")
	var got strings.Builder
	buf := make([]byte, 4096)
	for !strings.Contains(got.String(), "before") {
		n, err := resp.Body.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got.Write(buf[:n])
	}
	if strings.Contains(got.String(), "after") {
		t.Errorf("the gate is shut, but there is %q", got.String())
	}
	srv.Open("g")
	rest, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(rest), "after") {
		t.Errorf("behind the gate: %q, error %v", rest, err)
	}
}

func TestBadScripts(t *testing.T) {
	t.Parallel()
	for script, says := range map[string]string{
		"-- tea --\n":                 "unknown kind of answer",
		"-- reply --\nsing la\n":      "unknown directive",
		"-- reply hot --\n":           "unknown option",
		"-- status --\n":              "no status code",
		"-- status x --\n":            "not a number",
		"-- status 500 Retry --\n":    "not NAME=VALUE",
		"-- reply --\nusage many 1\n": "usage",
	} {
		rec := &fatalRecorder{recorder: recorder{TB: t}}
		func() {
			defer func() { _ = recover() }()
			llmtest.Start(rec, script)
		}()
		if !strings.Contains(rec.fatal, says) {
			t.Errorf("%q: %q, want %q", script, rec.fatal, says)
		}
	}
}

type fatalRecorder struct {
	recorder

	fatal string
}

func (r *fatalRecorder) Fatalf(format string, args ...any) {
	r.fatal = fmt.Sprintf(format, args...)
	panic("fatal")
}
