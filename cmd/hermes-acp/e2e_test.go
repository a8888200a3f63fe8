//go:build !windows

package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/hermes-acp/hermes-acp/acp/jsonrpc"
	"github.com/hermes-acp/hermes-acp/agent/llm/llmtest"
)

// agentEnv is an environment in which the agent has a home of its own and the
// given model.
func agentEnv(tb testing.TB, modelURL string) []string {
	tb.Helper()
	home := tb.TempDir()
	return []string{
		"HOME=" + home, "HERMES_HOME=" + filepath.Join(home, ".hermes"), "PATH=" + os.Getenv("PATH"),
		"OPENAI_BASE_URL=" + modelURL, "OPENAI_API_KEY=test-key", "HERMES_MODEL=" + llmtest.ModelID, "NO_PROXY=127.0.0.1",
	}
}

// startDialogue returns a dialogue in a folder of its own, for tests that do
// something between its lines. Its agent is stopped, in order, when the test
// ends.
func startDialogue(t *testing.T, model *llmtest.Server) *dialogue {
	t.Helper()
	work := t.TempDir()
	if err := os.Mkdir(filepath.Join(work, "ws"), 0o755); err != nil {
		t.Fatal(err)
	}
	state := &scriptState{tb: t, lane: directLane, program: builtProgram(t), model: model}
	d := newDialogue(state, work, agentEnv(t, model.URL))
	t.Cleanup(func() {
		if err := d.play(""); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *dialogue) mustRun(t *testing.T, script string) {
	t.Helper()
	if err := d.run(script); err != nil {
		t.Fatalf("%v\n%s", err, d.String())
	}
}

// stubbornAgentProgram never ends a turn.
func stubbornAgentProgram() (exitCode int) {
	conn := jsonrpc.New(os.Stdin, os.Stdout, jsonrpc.Options{})
	_ = conn.Serve(context.Background(), func(_ context.Context, req *jsonrpc.Request) jsonrpc.Responder {
		return func(ctx context.Context) (any, error) {
			switch req.Method {
			case "initialize":
				return json.RawMessage(`{"protocolVersion":1,"authMethods":[]}`), nil
			case "session/new":
				return json.RawMessage(`{"sessionId":"s"}`), nil
			case "session/prompt":
				update := json.RawMessage(`{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"never done"}}}`)
				if err := conn.Notify("session/update", update); err != nil {
					return nil, err
				}
				<-ctx.Done()
			}
			return struct{}{}, nil
		}
	})
	return 0
}
