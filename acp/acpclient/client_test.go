package acpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	acpsdk "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hermes-acp/hermes-acp/acp/acptest"
	"github.com/hermes-acp/hermes-acp/acp/jsonrpc"
)

// fakeAgentEnv makes this test binary an agent instead.
const fakeAgentEnv = "ACPCLIENT_TEST_AGENT"

func TestMain(m *testing.M) {
	if behaviour := os.Getenv(fakeAgentEnv); behaviour != "" {
		os.Exit(fakeAgent(behaviour))
	}
	goleak.VerifyTestMain(m)
}

func fakeAgentCommand(t *testing.T, behaviour string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), fakeAgentEnv+"="+behaviour)
	return cmd
}

// fakeAgent serves until its input ends; what it does in a turn the prompt says.
func fakeAgent(behaviour string) (exitCode int) {
	if behaviour == "dies" {
		fmt.Fprintln(os.Stderr, "config.yaml:3: not a mapping")
		return 3
	}
	var conn *jsonrpc.Conn
	loggedIn := false
	conn = jsonrpc.New(os.Stdin, os.Stdout, jsonrpc.Options{})
	_ = conn.Serve(context.Background(), func(_ context.Context, req *jsonrpc.Request) jsonrpc.Responder {
		return func(ctx context.Context) (any, error) {
			switch req.Method {
			case "initialize":
				return json.RawMessage(`{"protocolVersion":1,"agentCapabilities":{},"authMethods":[{"type":"terminal","id":"setup","name":"Set up"},{"id":"env","name":"Environment"}]}`), nil
			case "authenticate":
				loggedIn = string(req.Params) == `{"methodId":"env"}`
				return struct{}{}, nil
			case "session/new":
				if !loggedIn {
					return nil, jsonrpc.Errorf(codeAuthRequired, "log in first")
				}
				return json.RawMessage(`{"sessionId":"s"}`), nil
			case "session/load", "session/resume":
				return struct{}{}, nil
			case "session/prompt":
				return fakeTurn(ctx, conn)
			}
			return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "no")
		}
	})
	if behaviour == "stays" {
		<-make(chan struct{})
	}
	return 0
}

func fakeTurn(ctx context.Context, conn *jsonrpc.Conn) (any, error) {
	for _, update := range []string{
		`{"sessionUpdate":"notice","severity":"info","title":"New"}`,
		`{"sessionUpdate":"tool_call","toolCallId":"c","title":"patch: a"}`,
	} {
		params := map[string]any{"sessionId": "s", "update": json.RawMessage(update)}
		if err := conn.NotifyPaced(ctx, "session/update", params); err != nil {
			return nil, err
		}
	}
	var answer json.RawMessage
	err := conn.Call(ctx, "session/request_permission", json.RawMessage(
		`{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"y","name":"Allow","kind":"allow_once"}]}`), &answer)
	if err != nil {
		return nil, err
	}
	end := map[string]any{"sessionId": "s", "update": map[string]any{
		"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed", "title": string(answer),
	}}
	if err := conn.NotifyPaced(ctx, "session/update", end); err != nil {
		return nil, err
	}
	return json.RawMessage(`{"stopReason":"end_turn"}`), nil
}

func closeClient(t *testing.T, c *Client) {
	t.Helper()
	if err := c.Close(t.Context()); err != nil {
		t.Errorf("close: %v", err)
	}
}

// watched returns options that hold the agent to the protocol.
func watched(t *testing.T) Options {
	t.Helper()
	checker := acptest.Watch(t)
	return Options{
		Info: acpsdk.Implementation{Name: "test", Version: "1"},
		Trace: func(dir jsonrpc.Direction, frame []byte) {
			if dir == jsonrpc.Outbound {
				checker.ClientLine(frame)
			} else {
				checker.AgentLine(frame)
			}
		},
	}
}

func TestConversationWithAChildProcess(t *testing.T) {
	var got []string
	opts := watched(t)
	opts.OnUpdate = func(u Update) {
		switch {
		case u.ToolCall != nil:
			got = append(got, "call "+u.ToolCall.Title)
		case u.ToolCallUpdate != nil:
			got = append(got, "end "+*u.ToolCallUpdate.Title)
		case u.SessionUpdate == acpsdk.SessionUpdate{}:
			got = append(got, "unknown "+string(u.Raw))
		default:
			got = append(got, "guessed "+string(u.Raw))
		}
	}
	opts.OnPermission = func(_ context.Context, q PermissionRequest) string {
		got = append(got, "ask "+string(q.ToolCall.ToolCallId))
		return string(q.Options[0].OptionId)
	}
	ctx := t.Context()
	c, err := Start(fakeAgentCommand(t, "serves"), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer closeClient(t, c)
	if _, err := c.Initialize(ctx); err != nil {
		t.Fatal(err)
	}
	session, err := c.NewSession(ctx, t.TempDir())
	if err != nil {
		t.Fatalf("new session, with a log-in on the way: %v", err)
	}
	resp, err := c.Prompt(ctx, session.SessionId, acpsdk.TextBlock("go"))
	if err != nil || resp.StopReason != acpsdk.StopReasonEndTurn {
		t.Fatalf("prompt: %v, %v", resp, err)
	}
	want := []string{
		`unknown {"sessionUpdate":"notice","severity":"info","title":"New"}`,
		"call patch: a",
		"ask c",
		`end {"outcome":{"optionId":"y","outcome":"selected"}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the agent sent (-want +got):\n%s", diff)
	}
	if _, err := c.LoadSession(ctx, session.SessionId, t.TempDir()); err != nil {
		t.Errorf("load: %v", err)
	}
	var rpcErr *jsonrpc.Error
	if err := c.Call(ctx, "session/shout", struct{}{}, nil); !errors.As(err, &rpcErr) {
		t.Errorf("unknown method: got %v, want the agent's error", err)
	}
}

func TestAgentThatDies(t *testing.T) {
	c, err := Start(fakeAgentCommand(t, "dies"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := &ExitError{Status: "exit status 3", Stderr: "config.yaml:3: not a mapping"}
	for name, err := range map[string]error{
		"call":  c.Call(t.Context(), "initialize", struct{}{}, nil),
		"close": c.Close(t.Context()),
	} {
		var exit *ExitError
		if !errors.As(err, &exit) {
			t.Errorf("%s: got %v, want an ExitError", name, err)
			continue
		}
		if diff := cmp.Diff(want, exit); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAgentThatCannotStart(t *testing.T) {
	_, err := Start(exec.Command("no-such-agent"), Options{})
	if !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("got %v, want exec.ErrNotFound", err)
	}
}

func TestAgentThatStaysIsEnded(t *testing.T) {
	c, err := Start(fakeAgentCommand(t, "stays"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	var exit *ExitError
	if err := c.Close(impatient); !errors.As(err, &exit) {
		t.Errorf("got %v, want an ExitError", err)
	}
}

func TestQuestionIsTakenBackWithItsTurn(t *testing.T) {
	asked := make(chan struct{})
	takenBack := make(chan struct{})
	c, err := Start(fakeAgentCommand(t, "serves"), Options{
		OnPermission: func(ctx context.Context, _ PermissionRequest) string {
			close(asked)
			<-ctx.Done()
			close(takenBack)
			return ""
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer closeClient(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.Prompt(ctx, "s", acpsdk.TextBlock("go"))
		done <- err
	}()
	<-asked
	cancel()
	<-takenBack
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestTailKeepsTheLastLines(t *testing.T) {
	var log tail
	for i := range 5000 {
		if _, err := fmt.Fprintf(&log, "line %d\n", i); err != nil {
			t.Fatal(err)
		}
	}
	got := strings.Split(log.String(), "\n")
	if len(got) != tailLines || got[0] != "line 4988" || got[tailLines-1] != "line 4999" {
		t.Errorf("got %d lines from %q to %q", len(got), got[0], got[len(got)-1])
	}
}
