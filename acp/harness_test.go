//go:build !windows

package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hermes-acp/hermes-acp/acp/acptest"
	"github.com/hermes-acp/hermes-acp/agent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is one connection to a server with a scripted model, driven by raw
// lines. Every line is held to the protocol.
type bench struct {
	t       *testing.T
	script  *script
	store   *memoryStore
	cwd     string
	in      *io.PipeWriter
	out     *bufio.Reader
	pipe    *io.PipeReader   // what out reads
	checker *acptest.Checker // nil: lines are not checked
	done    chan error
	lastID  int
}

// message is a line from the agent.
type message struct {
	ID     json.RawMessage
	Method string
	Params struct {
		SessionID string          `json:"sessionId"`
		Update    map[string]any  `json:"update"`
		ToolCall  map[string]any  `json:"toolCall"`
		Options   []option        `json:"options"`
		RequestID json.RawMessage `json:"requestId"`
	}
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    any
	}
	raw string
}

type option struct {
	OptionID string `json:"optionId"`
	Kind     string `json:"kind"`
}

// update returns the session update's name; empty for other messages.
func (m message) update() string {
	name, _ := m.Params.Update["sessionUpdate"].(string)
	return name
}

// text returns the text of a chunk.
func (m message) text() string {
	content, _ := m.Params.Update["content"].(map[string]any)
	text, _ := content["text"].(string)
	return text
}

func newBench(t *testing.T, steps ...step) *bench {
	t.Helper()
	return connect(t, &script{steps: steps}, newMemoryStore(), Config{})
}

// newAgent returns an agent on a store that another one may have used before.
func newAgent(models *script, store *memoryStore, timeout time.Duration) *agent.Agent {
	return agent.New(agent.Config{
		Models:         models,
		Tools:          []agent.Tool{readTool{}, writeTool{}, runTool{}},
		ConnectServers: func(_ *agent.Workspace, servers []agent.ToolServer) agent.ServerTools { return fakeServers(servers) },
		Store:          func(context.Context) (agent.Store, error) { return store, nil },
		Policy:         agent.Policy{Home: "/home/nobody", Timeout: timeout},
		SystemPrompt:   func(context.Context, *agent.Workspace, agent.ModelInfo) string { return "You are a test." },
		Log:            slog.New(slog.DiscardHandler),
	})
}

// connect starts a server with an agent of its own.
func connect(t *testing.T, models *script, store *memoryStore, cfg Config) *bench {
	t.Helper()
	return connectAgent(t, models, store, cfg, time.Minute)
}

// connectAgent is connect with the time that a question waits for its answer.
func connectAgent(t *testing.T, models *script, store *memoryStore, cfg Config, timeout time.Duration) *bench {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	b := &bench{
		t: t, script: models, store: store, cwd: t.TempDir(),
		in: inW, out: bufio.NewReader(outR), pipe: outR, checker: acptest.Watch(t), done: make(chan error, 1),
	}
	cfg.Version = "1.2.3"
	cfg.Agent = newAgent(models, store, timeout)
	go func() {
		err := Serve(context.WithoutCancel(t.Context()), inR, outW, cfg)
		_ = outW.Close()
		b.done <- err
	}()
	t.Cleanup(func() {
		_ = inW.Close()
		_, _ = io.Copy(io.Discard, b.out)
		if err := <-b.done; err != nil && !t.Failed() {
			t.Errorf("serve: %v", err)
		}
	})
	return b
}

// lineClient is a client for benchmarks: it reads lines without decoding them.
type lineClient struct {
	b   *testing.B
	in  *io.PipeWriter
	out *bufio.Scanner
}

func newLineClient(b *testing.B, cfg Config) *lineClient {
	b.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Serve(context.WithoutCancel(b.Context()), inR, outW, cfg)
		_ = outW.Close()
	}()
	c := &lineClient{b: b, in: inW, out: bufio.NewScanner(outR)}
	c.out.Buffer(nil, 1<<20)
	b.Cleanup(func() {
		_ = inW.Close()
		_, _ = io.Copy(io.Discard, outR)
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
	return c
}

func (c *lineClient) send(line string) {
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.b.Fatal(err)
	}
}

// until reads to the line that contains mark and returns how many lines it read.
func (c *lineClient) until(mark string) int {
	for lines := 1; c.out.Scan(); lines++ {
		if strings.Contains(c.out.Text(), mark) {
			return lines
		}
	}
	c.b.Fatal("the agent is gone")
	return 0
}

// write sends one raw line.
func (b *bench) write(line string) {
	b.t.Helper()
	if b.checker != nil {
		b.checker.ClientLine([]byte(line))
	}
	if _, err := io.WriteString(b.in, line+"\n"); err != nil {
		b.t.Fatal(err)
	}
}

// request sends a request and returns its id. Params is JSON.
func (b *bench) request(method, params string, args ...any) int {
	b.t.Helper()
	b.lastID++
	b.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, b.lastID, method, fmt.Sprintf(params, args...)))
	return b.lastID
}

func (b *bench) notify(method, params string, args ...any) {
	b.t.Helper()
	b.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, fmt.Sprintf(params, args...)))
}

// next reads one line. A line that never comes fails the test instead of hanging
// it.
func (b *bench) next() message {
	b.t.Helper()
	giveUp := time.AfterFunc(20*time.Second, func() { _ = b.pipe.CloseWithError(errors.New("no line came")) })
	defer giveUp.Stop()
	line, err := b.out.ReadString('\n')
	if err != nil {
		b.t.Fatalf("the agent is gone: %v", err)
	}
	if b.checker != nil {
		b.checker.AgentLine([]byte(line))
	}
	var m message
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		b.t.Fatalf("%v: %s", err, line)
	}
	m.raw = line
	return m
}

// until reads until stop holds, and returns what it read, the last included.
func (b *bench) until(stop func(message) bool) []message {
	b.t.Helper()
	var read []message
	for {
		m := b.next()
		read = append(read, m)
		if stop(m) {
			return read
		}
	}
}

func responseTo(id int) func(message) bool {
	return func(m message) bool { return string(m.ID) == fmt.Sprint(id) && m.Method == "" }
}

func isUpdate(name string) func(message) bool {
	return func(m message) bool { return m.update() == name }
}

func isPermission(m message) bool { return m.Method == "session/request_permission" }

// call sends a request and returns its answer and what came before it.
func (b *bench) call(method, params string, args ...any) (answer message, before []message) {
	b.t.Helper()
	read := b.until(responseTo(b.request(method, params, args...)))
	return read[len(read)-1], read[:len(read)-1]
}

// ok is call for a request that must succeed.
func (b *bench) ok(method, params string, args ...any) (result map[string]any, before []message) {
	b.t.Helper()
	answer, before := b.call(method, params, args...)
	if answer.Error != nil {
		b.t.Fatalf("%s: %d %s", method, answer.Error.Code, answer.Error.Message)
	}
	if err := json.Unmarshal(answer.Result, &result); err != nil {
		b.t.Fatal(err)
	}
	return result, before
}

// refused is call for a request that must fail with code.
func (b *bench) refused(code int, method, params string, args ...any) string {
	b.t.Helper()
	answer, _ := b.call(method, params, args...)
	if answer.Error == nil || answer.Error.Code != code {
		b.t.Fatalf("%s: got %s, want error %d", method, answer.raw, code)
	}
	return answer.Error.Message
}

// newSession opens a session in the bench's folder, reads what is told of it
// after the response, and returns its id.
func (b *bench) newSession() string {
	b.t.Helper()
	result, _ := b.ok("session/new", `{"cwd":%q,"mcpServers":[]}`, b.cwd)
	id, _ := result["sessionId"].(string)
	if id == "" {
		b.t.Fatal("no session id")
	}
	b.until(isUpdate("usage_update"))
	return id
}

// prompt sends a prompt of one text and returns its id.
func (b *bench) prompt(session, text string) int {
	b.t.Helper()
	return b.request("session/prompt", `{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, session, text)
}

// turn runs a prompt to its end.
func (b *bench) turn(session, text string) (stop string, updates []message) {
	b.t.Helper()
	read := b.until(responseTo(b.prompt(session, text)))
	return stopReason(b.t, read[len(read)-1]), read[:len(read)-1]
}

func stopReason(t *testing.T, m message) string {
	t.Helper()
	if m.Error != nil {
		t.Fatalf("the prompt failed: %s", m.raw)
	}
	var result struct{ StopReason string }
	if err := json.Unmarshal(m.Result, &result); err != nil {
		t.Fatal(err)
	}
	return result.StopReason
}

// answer answers a permission request with an option.
func (b *bench) answer(question message, optionID string) {
	b.t.Helper()
	b.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":%q}}}`, question.ID, optionID))
}

// texts joins the text of the chunks of one kind.
func texts(messages []message, kind string) string {
	var joined strings.Builder
	for _, m := range messages {
		if m.update() == kind {
			joined.WriteString(m.text())
		}
	}
	return joined.String()
}

// names lists the updates and requests in messages, in order; those about the
// session itself are left out.
func names(messages []message) []string {
	var list []string
	for _, m := range messages {
		switch status, _ := m.Params.Update["status"].(string); {
		case slices.Contains([]string{"usage_update", "session_info_update", "available_commands_update"}, m.update()):
		case m.update() == "":
			list = append(list, m.Method)
		case status != "":
			list = append(list, m.update()+" "+status)
		default:
			list = append(list, m.update())
		}
	}
	return list
}

// find returns the updates with a name and, unless it is empty, a status.
func find(messages []message, name, status string) []message {
	var found []message
	for _, m := range messages {
		if m.update() == name && (status == "" || m.Params.Update["status"] == status) {
			found = append(found, m)
		}
	}
	return found
}

// decodeResult reads a response's result.
func decodeResult[R any](t *testing.T, m message) R {
	t.Helper()
	var result R
	if m.Error != nil {
		t.Fatalf("an error: %s", m.raw)
	}
	if err := json.Unmarshal(m.Result, &result); err != nil {
		t.Fatal(err)
	}
	return result
}
