//go:build !windows

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/acp/acpclient"
)

// The figures below hold for the real program over pipes: what an editor sees.

func benchAgent(b *testing.B, env []string) *acpclient.Client {
	b.Helper()
	cmd := exec.Command(builtProgram(b))
	cmd.Env = env
	c, err := acpclient.Start(cmd, acpclient.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func closeBenchAgent(b *testing.B, c *acpclient.Client) {
	b.Helper()
	if err := c.Close(context.WithoutCancel(b.Context())); err != nil {
		b.Error(err)
	}
}

func benchSession(b *testing.B, c *acpclient.Client, cwd string) acpsdk.SessionId {
	b.Helper()
	if _, err := c.Initialize(b.Context()); err != nil {
		b.Fatal(err)
	}
	session, err := c.NewSession(b.Context(), cwd)
	if err != nil {
		b.Fatal(err)
	}
	return session.SessionId
}

// One op is a new process up to its answer to initialize.
func BenchmarkStartToInitialize(b *testing.B) {
	env := agentEnv(b, "http://127.0.0.1:1/v1")
	builtProgram(b)
	for b.Loop() {
		c := benchAgent(b, env)
		if _, err := c.Initialize(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		closeBenchAgent(b, c)
		b.StartTimer()
	}
}

// One op is a new process up to its first session, with a database that exists.
func BenchmarkStartToSession(b *testing.B) {
	env := agentEnv(b, "http://127.0.0.1:1/v1")
	cwd := b.TempDir()
	first := benchAgent(b, env)
	benchSession(b, first, cwd)
	closeBenchAgent(b, first)
	for b.Loop() {
		c := benchAgent(b, env)
		benchSession(b, c, cwd)
		b.StopTimer()
		closeBenchAgent(b, c)
		b.StartTimer()
	}
}

// One op is a turn of one token: our share, the model's (a loopback server that
// answers at once) and the pipes'.
func BenchmarkTurn(b *testing.B) { benchTurns(b, 1) }

// One op is a turn of 20,000 pieces of 4 bytes, each flushed by the model.
func BenchmarkTurnOf20000Chunks(b *testing.B) { benchTurns(b, 20000) }

func benchTurns(b *testing.B, chunks int) {
	b.Helper()
	model := streamingModel(b, chunks)
	received := 0
	cmd := exec.Command(builtProgram(b))
	cmd.Env = agentEnv(b, model)
	c, err := acpclient.Start(cmd, acpclient.Options{OnUpdate: func(u acpclient.Update) {
		if u.AgentMessageChunk != nil {
			received += len(u.AgentMessageChunk.Content.Text.Text)
		}
	}})
	if err != nil {
		b.Fatal(err)
	}
	session := benchSession(b, c, b.TempDir())
	turns := 0
	for b.Loop() {
		if _, err := c.Prompt(b.Context(), session, acpsdk.TextBlock("Go.")); err != nil {
			b.Fatal(err)
		}
		turns++
	}
	closeBenchAgent(b, c)
	if received != 4*chunks*turns {
		b.Errorf("%d bytes of text came, want %d", received, 4*chunks*turns)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		b.Fatal("no resource usage here")
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	b.ReportMetric(float64(cpu.Milliseconds())/float64(turns), "agent-cpu-ms/op")
	b.ReportMetric(float64(usage.Maxrss)/1024, "agent-max-MiB")
}

// streamingModel serves answers of 4-byte pieces.
func streamingModel(b *testing.B, chunks int) (baseURL string) {
	b.Helper()
	piece := `data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"word"}}]}` + "\n\n"
	end := `data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			http.Error(w, fmt.Sprintf("no %s here", r.URL.Path), http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		out := http.NewResponseController(w)
		for range chunks {
			_, _ = io.WriteString(w, piece)
			if out.Flush() != nil { // the agent is gone
				return
			}
		}
		_, _ = io.WriteString(w, end)
	}))
	b.Cleanup(srv.Close)
	return srv.URL + "/v1"
}
