//go:build !windows

package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

// streams sends count chunks.
func streams(count int) step {
	return func(_ context.Context, _ agent.ModelRequest, emit func(agent.Delta)) (agent.Completion, error) {
		for range count {
			emit(agent.Delta{Text: "word"})
		}
		return agent.Completion{Message: agent.TextMessage(agent.RoleAssistant, strings.Repeat("word", count)), Finish: agent.FinishStop}, nil
	}
}

func TestP17_EveryChunkPrecedesTheResponse(t *testing.T) {
	b := newBench(t, streams(500))
	_, updates := b.turn(b.newSession(), "go")
	if got := len(find(updates, "agent_message_chunk", "")); got != 500 {
		t.Errorf("%d chunks before the response, want 500", got)
	}
}

func TestManySessionsSideBySide(t *testing.T) {
	const count = 30
	steps := make([]step, count)
	for i := range steps {
		steps[i] = echoes()
	}
	b := newBench(t, steps...)
	sessions := make([]string, count)
	for i := range sessions {
		sessions[i] = b.newSession()
	}
	go func() {
		for i, session := range sessions {
			b.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":"p%d","method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"number %d"}]}}`, i, session, i))
		}
	}()
	said := map[string]string{}
	for answered := 0; answered < count; {
		m := b.next()
		if m.update() == "agent_message_chunk" {
			said[m.Params.SessionID] += m.text()
		}
		if strings.HasPrefix(string(m.ID), `"p`) {
			answered++
			if got := stopReason(t, m); got != "end_turn" {
				t.Errorf("%s ended with %q", m.ID, got)
			}
		}
	}
	for i, session := range sessions {
		if want := fmt.Sprint("you said number ", i); said[session] != want {
			t.Errorf("session %d said %q, want %q", i, said[session], want)
		}
	}
}

// A client that stops reading holds up its own turn, not its cancel: when it
// reads again, everything up to the cancel is there and the turn is cancelled.
func TestClientThatStopsReadingForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		endless := func(ctx context.Context, _ agent.ModelRequest, emit func(agent.Delta)) (agent.Completion, error) {
			for i := 0; ctx.Err() == nil; i++ {
				emit(agent.Delta{Text: fmt.Sprintf("%d ", i) + strings.Repeat("x", 64<<10)})
			}
			return agent.Completion{Message: agent.TextMessage(agent.RoleAssistant, "x")}, context.Cause(ctx)
		}
		store := newMemoryStore()
		a := newAgent(&script{steps: []step{endless}}, store, time.Minute)
		session, err := a.NewSession(t.Context(), agent.SessionOptions{Cwd: "/"})
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		go func() {
			served <- Serve(t.Context(), inR, outW, Config{Agent: a, Version: "1"})
			_ = outW.Close()
		}()
		send := func(line string) {
			if _, err := io.WriteString(inW, line+"\n"); err != nil {
				t.Error(err)
			}
		}
		send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}}`, session.ID()))
		synctest.Wait() // the turn waits for credit now
		time.Sleep(time.Minute)
		send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, session.ID()))
		synctest.Wait()

		go func() { _ = inW.Close() }()
		all, err := io.ReadAll(outR)
		if err != nil || <-served != nil {
			t.Fatal(err)
		}
		if len(all) > 9<<20 {
			t.Errorf("%d bytes were held for a client that does not read", len(all))
		}
		next := 0
		for line := range strings.Lines(string(all)) {
			if strings.Contains(line, "agent_message_chunk") {
				if !strings.Contains(line, fmt.Sprintf(`"text":"%d xxx`, next)) {
					t.Fatalf("chunk %d is missing: %.200s", next, line)
				}
				next++
			}
		}
		if next < 100 || !strings.Contains(string(all), `"id":1,"result":{"stopReason":"cancelled"}`) {
			t.Errorf("%d chunks, and the end is %.300q", next, all[max(0, len(all)-300):])
		}
	})
}

func TestP08_P09_ClientThatNeverAnswersCostsOneTimeout(t *testing.T) {
	edits := calls(
		call("c1", "write_file", `{"path":"one","content":"x"}`),
		call("c2", "write_file", `{"path":"two","content":"x"}`),
	)
	b := connectAgent(t, &script{steps: []step{edits}}, newMemoryStore(), Config{}, time.Millisecond)
	_, updates := b.turn(b.newSession(), "write")
	questions, withdrawn := 0, 0
	for _, m := range updates {
		if isPermission(m) {
			questions++
		}
		if m.Method == "$/cancel_request" {
			withdrawn++
		}
	}
	if questions != 1 || withdrawn != 1 {
		t.Errorf("asked %d times, withdrew %d, want one each", questions, withdrawn)
	}
	failed := find(updates, "tool_call_update", "failed")
	if len(failed) != 2 || !strings.Contains(failed[0].raw, "nobody answered") || strings.Contains(failed[0].raw, "denied by the person") {
		t.Errorf("the calls ended with %v", failed)
	}
	for _, name := range []string{"one", "two"} {
		if _, err := os.Stat(filepath.Join(b.cwd, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was written: %v", name, err)
		}
	}
}

// One op is a turn of 20,000 chunks of 4 bytes, from the model's deltas to a
// client that reads every line.
func BenchmarkChunks(b *testing.B) {
	const chunks = 20_000
	store := newMemoryStore()
	models := &script{}
	a := newAgent(models, store, time.Minute)
	dir := b.TempDir()
	client := newLineClient(b, Config{Agent: a, Version: "1"})
	for b.Loop() {
		session, err := a.NewSession(b.Context(), agent.SessionOptions{Cwd: dir})
		if err != nil {
			b.Fatal(err)
		}
		models.mu.Lock()
		models.steps = []step{streams(chunks)}
		models.mu.Unlock()
		client.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}}`, session.ID()))
		if lines := client.until(`"id":1,"result"`); lines < chunks {
			b.Fatalf("%d lines, the last %.300s", lines, client.out.Text())
		}
	}
}

// One op is a session/load of 2,000 messages with a tool call in every fourth.
func BenchmarkLoad(b *testing.B) {
	store := newMemoryStore()
	id := "s"
	dir := b.TempDir()
	if err := store.CreateSession(b.Context(), agent.SessionRecord{ID: id, Cwd: dir, Mode: agent.ModeDefault}); err != nil {
		b.Fatal(err)
	}
	for i := range 500 {
		c := call(fmt.Sprint("c", i), "read_file", `{"path":"file-%d.go"}`, i)
		result := agent.TextMessage(agent.RoleTool, strings.Repeat("line of code\n", 50))
		result.ToolCallID, result.ToolName = c.ID, c.Name
		store.messages[id] = append(store.messages[id],
			agent.TextMessage(agent.RoleUser, "please read it"),
			agent.Message{Role: agent.RoleAssistant, ToolCalls: []agent.ToolCall{c}}, result,
			agent.TextMessage(agent.RoleAssistant, strings.Repeat("what it says ", 20)))
	}
	client := newLineClient(b, Config{Agent: newAgent(&script{}, store, time.Minute), Version: "1"})
	for b.Loop() {
		client.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":%q,"cwd":%q,"mcpServers":[]}}`, id, dir))
		if lines := client.until(`"id":1,`); lines < 2000 {
			b.Fatalf("%d lines, the last %.300s", lines, client.out.Text())
		}
	}
}
