package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

func TestPlainAnswer(t *testing.T) {
	b := newBench(t, nil, says("hello there"))
	out := b.prompt("hi").Run(t.Context())
	if out.Err != nil || out.Stop != StopEndTurn {
		t.Fatalf("outcome %+v", out)
	}
	if diff := cmp.Diff([]string{"user: hi", "assistant: hello there"}, b.rows()); diff != "" {
		t.Error(diff)
	}
	if b.store.finals != 1 {
		t.Errorf("%d appends were made durable, want the turn's last one", b.store.finals)
	}
	first, ok1 := b.events[0].(TextDelta)
	second, ok2 := b.events[1].(TextDelta)
	if !ok1 || !ok2 || first.Text+second.Text != "hello there" || first.MessageID != second.MessageID || first.MessageID == "" {
		t.Errorf("events %+v", b.events)
	}
}

func TestToolCall(t *testing.T) {
	lookup := fakeTool{name: "lookup", run: func(_ context.Context, progress func(Progress)) (Result, error) {
		progress(Progress{Output: "looking"})
		return Result{Text: "found"}, nil
	}}
	b := newBench(t, []Tool{lookup}, calls(ToolCall{ID: "c1", Name: "lookup", Arguments: "{}"}), says("done"))
	if out := b.prompt("find it").Run(t.Context()); out.Stop != StopEndTurn {
		t.Fatalf("outcome %+v", out)
	}
	want := []string{"user: find it", "assistant: [lookup c1]", "tool: found (c1)", "assistant: done"}
	if diff := cmp.Diff(want, b.rows()); diff != "" {
		t.Error(diff)
	}
	var kinds []string
	for _, e := range b.events {
		switch e.(type) {
		case CallStarted:
			kinds = append(kinds, "started")
		case CallRunning:
			kinds = append(kinds, "running")
		case CallOutput:
			kinds = append(kinds, "output")
		case CallEnded:
			kinds = append(kinds, "ended")
		}
	}
	if diff := cmp.Diff([]string{"started", "running", "output", "ended"}, kinds); diff != "" {
		t.Error(diff)
	}
	last := b.model.requests[1].Messages
	if got := last[len(last)-1].Text(); got != "found" {
		t.Errorf("the second request ends with %q", got)
	}
}

// TestM19_M21_BadCalls shows that calls which cannot run go back to the model
// as errors and are never run with guessed arguments.
func TestM19_M21_BadCalls(t *testing.T) {
	lookup := fakeTool{name: "lookup", run: func(context.Context, func(Progress)) (Result, error) {
		t.Error("a call with broken arguments ran")
		return Result{}, nil
	}}
	b := newBench(t, []Tool{lookup},
		calls(ToolCall{ID: "c1", Name: "lookup", Arguments: `{"path": "a`}, ToolCall{ID: "c2", Name: "multi_tool_use.parallel", Arguments: "{}"}),
		says("sorry"))
	if out := b.prompt("go").Run(t.Context()); out.Stop != StopEndTurn {
		t.Fatalf("outcome %+v", out)
	}
	rows := b.rows()
	if !strings.Contains(rows[2], "not valid JSON") || !strings.Contains(rows[3], "the tools are lookup") {
		t.Errorf("rows %q", rows)
	}
	if diff := cmp.Diff(map[string]int{"c1": 1, "c2": 1}, b.ended()); diff != "" {
		t.Error(diff)
	}
}

// TestM06_M07_CallIDsAreUnique: some providers give no id, or the same one again.
func TestM06_M07_CallIDsAreUnique(t *testing.T) {
	noop := fakeTool{name: "noop", run: func(context.Context, func(Progress)) (Result, error) { return Result{Text: "ok"}, nil }}
	same := ToolCall{ID: "call_0", Name: "noop", Arguments: ""}
	b := newBench(t, []Tool{noop}, calls(same, same), calls(same, ToolCall{Name: "noop"}), says("done"))
	b.prompt("go").Run(t.Context())
	ends := b.ended()
	if len(ends) != 4 {
		t.Errorf("%d different call ids, want 4: %v", len(ends), ends)
	}
	if rows := b.rows(); len(unanswered(mustMessages(t, b))) != 0 {
		t.Errorf("unanswered calls in %q", rows)
	}
}

func mustMessages(t *testing.T, b *bench) []Message {
	t.Helper()
	msgs, err := b.store.Messages(t.Context(), b.ID())
	if err != nil {
		t.Fatal(err)
	}
	return msgs
}

func TestCancelWhileStreaming(t *testing.T) {
	streamed := make(chan struct{})
	b := newBench(t, nil, stallsAfter("half an ans", streamed), says("next"))
	turn := b.prompt("hi")
	go func() {
		<-streamed
		b.Cancel()
	}()
	if out := turn.Run(t.Context()); out.Err != nil || out.Stop != StopCancelled {
		t.Fatalf("outcome %+v", out)
	}
	b.Cancel() // idle: must not reach the next turn
	if out := b.prompt("again").Run(t.Context()); out.Stop != StopEndTurn {
		t.Fatalf("the turn after a cancel: %+v", out)
	}
	want := []string{"user: hi", "assistant: half an ans (interrupted)", "user: again", "assistant: next"}
	if diff := cmp.Diff(want, b.rows()); diff != "" {
		t.Error(diff)
	}
}

func TestCancelBeforeAnythingArrived(t *testing.T) {
	streamed := make(chan struct{})
	b := newBench(t, nil, stallsAfter("", streamed))
	turn := b.prompt("hi")
	go func() {
		<-streamed
		b.Cancel()
	}()
	turn.Run(t.Context())
	want := []string{"user: hi", "assistant: This turn was cancelled by the user. (authored)"}
	if diff := cmp.Diff(want, b.rows()); diff != "" {
		t.Error(diff)
	}
}

// TestCancelRightBehindPrompt is the frame order that the SDK's connection
// loses: the cancel arrives before the prompt's goroutine runs.
// TestP01_CancelWithTheLastWords: whoever cancels before the response is told
// cancelled, and what came is kept.
func TestP01_CancelWithTheLastWords(t *testing.T) {
	for _, finish := range []Finish{FinishStop, FinishLength, FinishRefusal} {
		b := newBench(t, nil)
		b.model.steps = []step{func(context.Context, ModelRequest, func(Delta)) (Completion, error) {
			b.Cancel()
			return Completion{Message: TextMessage(RoleAssistant, "the whole answer"), Finish: finish}, nil
		}}
		if out := b.prompt("hi").Run(t.Context()); out.Err != nil || out.Stop != StopCancelled {
			t.Errorf("finish %q: outcome %+v", finish, out)
		}
		if diff := cmp.Diff([]string{"user: hi", "assistant: the whole answer"}, b.rows()); diff != "" {
			t.Error(diff)
		}
	}
}

// TestCancelWhileTheModelIsLookedUp: a lookup that fails since the turn was
// cancelled is no failure.
func TestCancelWhileTheModelIsLookedUp(t *testing.T) {
	b := newBench(t, nil)
	turn := b.prompt("hi")
	b.agent.cfg.Models = modelsFunc(func(ctx context.Context, _ string) (Model, error) {
		b.Cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if out := turn.Run(t.Context()); out.Err != nil || out.Stop != StopCancelled {
		t.Errorf("outcome %+v", out)
	}
}

func TestCancelRightBehindPrompt(t *testing.T) {
	b := newBench(t, nil)
	turn := b.prompt("hi")
	b.Cancel()
	if out := turn.Run(t.Context()); out.Err != nil || out.Stop != StopCancelled {
		t.Fatalf("outcome %+v", out)
	}
	if len(b.model.requests) != 0 {
		t.Error("the model was asked after the cancel")
	}
}

// TestM22_CancelDuringTool shows that every call has a result afterwards and
// that no further call runs.
func TestM22_CancelDuringTool(t *testing.T) {
	running := make(chan struct{})
	slow := fakeTool{name: "slow", run: func(ctx context.Context, _ func(Progress)) (Result, error) {
		close(running)
		<-ctx.Done()
		return Result{}, context.Cause(ctx)
	}}
	never := fakeTool{name: "never", run: func(context.Context, func(Progress)) (Result, error) {
		t.Error("a call ran after the cancel")
		return Result{}, nil
	}}
	b := newBench(t, []Tool{slow, never}, calls(ToolCall{ID: "a", Name: "slow"}, ToolCall{ID: "b", Name: "never"}))
	turn := b.prompt("go")
	go func() {
		<-running
		b.Cancel()
	}()
	if out := turn.Run(t.Context()); out.Err != nil || out.Stop != StopCancelled {
		t.Fatalf("outcome %+v", out)
	}
	msgs := mustMessages(t, b)
	if open := unanswered(msgs); len(open) != 0 {
		t.Errorf("calls without a result: %v", open)
	}
	if last := msgs[len(msgs)-1]; last.Role != RoleAssistant || !last.Authored {
		t.Errorf("the history ends with %+v", last)
	}
	if diff := cmp.Diff(map[string]int{"a": 1}, b.ended()); diff != "" {
		t.Error(diff)
	}
}

func TestTurnsRunInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var steps []step
		var want []string
		for range 50 {
			steps = append(steps, says("ok"))
		}
		b := newBench(t, nil, steps...)
		var turns []*Turn
		for i := range 50 {
			text := strings.Repeat("x", i+1)
			turns = append(turns, b.prompt(text))
			want = append(want, "user: "+text, "assistant: ok")
		}
		done := make(chan Outcome)
		for _, turn := range slices.Backward(turns) { // started last first
			go func() { done <- turn.Run(t.Context()) }()
		}
		for range turns {
			if out := <-done; out.Stop != StopEndTurn {
				t.Errorf("outcome %+v", out)
			}
		}
		if diff := cmp.Diff(want, b.rows()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCancelEndsWaitingTurnsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		streamed := make(chan struct{})
		b := newBench(t, nil, stallsAfter("x", streamed))
		done := make(chan Outcome)
		for _, text := range []string{"one", "two", "three"} {
			turn := b.prompt(text)
			go func() { done <- turn.Run(t.Context()) }()
		}
		<-streamed
		b.Cancel()
		for range 3 {
			if out := <-done; out.Err != nil || out.Stop != StopCancelled {
				t.Errorf("outcome %+v", out)
			}
		}
		if len(b.model.requests) != 1 {
			t.Errorf("%d requests, want the running turn's alone", len(b.model.requests))
		}
	})
}

func TestFailedTurnClosesTheHistory(t *testing.T) {
	refused := errors.New("the provider refused: quota exceeded")
	fails := func(context.Context, ModelRequest, func(Delta)) (Completion, error) { return Completion{}, refused }
	b := newBench(t, nil, fails, says("better"))
	if out := b.prompt("hi").Run(t.Context()); !errors.Is(out.Err, refused) {
		t.Fatalf("outcome %+v", out)
	}
	if out := b.prompt("again").Run(t.Context()); out.Stop != StopEndTurn {
		t.Fatalf("the turn after a failure: %+v", out)
	}
	want := []string{
		"user: hi", "assistant: This turn did not complete: the provider refused: quota exceeded (authored)",
		"user: again", "assistant: better",
	}
	if diff := cmp.Diff(want, b.rows()); diff != "" {
		t.Error(diff)
	}
}

func TestPanicInToolFailsTheTurnOnly(t *testing.T) {
	bad := fakeTool{name: "bad", run: func(context.Context, func(Progress)) (Result, error) { panic("boom") }}
	b := newBench(t, []Tool{bad}, calls(ToolCall{ID: "a", Name: "bad"}), says("still here"))
	if out := b.prompt("go").Run(t.Context()); out.Err == nil || !strings.Contains(out.Err.Error(), "boom") {
		t.Fatalf("outcome %+v", out)
	}
	if diff := cmp.Diff(map[string]int{"a": 1}, b.ended()); diff != "" {
		t.Error(diff)
	}
	if out := b.prompt("again").Run(t.Context()); out.Stop != StopEndTurn {
		t.Fatalf("the turn after a panic: %+v", out)
	}
	if open := unanswered(mustMessages(t, b)); len(open) != 0 {
		t.Errorf("calls without a result: %v", open)
	}
}

func TestStoreFailureIsAnErrorAndLosesNoTurn(t *testing.T) {
	full := errors.New("disk full")
	b := newBench(t, nil, says("hello"))
	b.store.failing = full
	if out := b.prompt("hi").Run(t.Context()); !errors.Is(out.Err, full) {
		t.Fatalf("outcome %+v", out)
	}
	b.store.failing = nil
	if out := b.prompt("hi").Run(t.Context()); out.Stop != StopEndTurn {
		t.Fatalf("the turn after the disk had room: %+v", out)
	}
}

func TestSteerAndQueue(t *testing.T) {
	var b *bench
	working := fakeTool{name: "work", run: func(context.Context, func(Progress)) (Result, error) {
		if !b.QueueLeg("then rest") || !b.Steer("gently") {
			t.Error("a running turn took no text")
		}
		return Result{Text: "worked"}, nil
	}}
	b = newBench(t, []Tool{working}, calls(ToolCall{ID: "a", Name: "work"}), says("worked gently"), says("resting"))
	if out := b.prompt("work").Run(t.Context()); out.Stop != StopEndTurn {
		t.Fatalf("outcome %+v", out)
	}
	want := []string{
		"user: work", "assistant: [work a]", "tool: worked (a)",
		"user: gently", "assistant: worked gently", "user: then rest", "assistant: resting",
	}
	if diff := cmp.Diff(want, b.rows()); diff != "" {
		t.Error(diff)
	}
	if b.Steer("too late") || b.QueueLeg("too late") {
		t.Error("an idle session took text for a turn that is over")
	}
}

func TestCancelDropsQueuedText(t *testing.T) {
	var b *bench
	working := fakeTool{name: "work", run: func(context.Context, func(Progress)) (Result, error) {
		b.QueueLeg("then rest")
		b.Cancel()
		return Result{Text: "worked"}, nil
	}}
	b = newBench(t, []Tool{working}, calls(ToolCall{ID: "a", Name: "work"}))
	if out := b.prompt("work").Run(t.Context()); out.Stop != StopCancelled {
		t.Fatalf("outcome %+v", out)
	}
	if rows := b.rows(); slices.Contains(rows, "user: then rest") {
		t.Errorf("rows %q", rows)
	}
}

func TestMaxRequests(t *testing.T) {
	again := calls(ToolCall{Name: "noop"})
	noop := fakeTool{name: "noop", run: func(context.Context, func(Progress)) (Result, error) { return Result{Text: "ok"}, nil }}
	b := newBench(t, []Tool{noop}, again, again, again, again, again)
	if out := b.prompt("loop").Run(t.Context()); out.Stop != StopMaxTurnRequests {
		t.Fatalf("outcome %+v", out)
	}
	if rows := b.rows(); !strings.Contains(rows[len(rows)-1], "(authored)") {
		t.Errorf("the history ends with %q", rows[len(rows)-1])
	}
}

func TestStopReasons(t *testing.T) {
	for finish, want := range map[Finish]StopReason{FinishStop: StopEndTurn, FinishLength: StopMaxTokens, FinishRefusal: StopRefusal} {
		b := newBench(t, nil, func(context.Context, ModelRequest, func(Delta)) (Completion, error) {
			return Completion{Message: TextMessage(RoleAssistant, "text"), Finish: finish}, nil
		})
		if out := b.prompt("hi").Run(t.Context()); out.Stop != want {
			t.Errorf("%s: %+v", finish, out)
		}
	}
}

// TestP24_RestartGoesOn shows that a new process has the conversation.
func TestP24_RestartGoesOn(t *testing.T) {
	b := newBench(t, nil, says("first answer"), says("second answer"))
	b.prompt("first").Run(t.Context())

	restarted := b.newAgent(nil)
	history, err := restarted.Session(b.ID()).Load(t.Context(), SessionOptions{Cwd: "/elsewhere"})
	if err != nil || len(history) != 2 {
		t.Fatalf("history %v, %v", history, err)
	}
	rec, err := restarted.Session(b.ID()).Record(t.Context())
	if err != nil || rec.Cwd != "/elsewhere" {
		t.Fatalf("record %+v, %v", rec, err)
	}
	b.Session = restarted.Session(b.ID())
	b.prompt("second").Run(t.Context())
	sent := b.model.requests[1].Messages
	if len(sent) != 4 || sent[1].Text() != "first" || sent[2].Text() != "first answer" {
		t.Errorf("the model saw %+v", sent)
	}
}

func TestUnknownSession(t *testing.T) {
	b := newBench(t, nil)
	unknown := b.agent.Session("nope")
	if out := unknown.Enqueue(Prompt{}).Run(t.Context()); !errors.Is(out.Err, ErrUnknownSession) {
		t.Fatalf("outcome %+v", out)
	}
	if b.agent.sessions["nope"] != nil {
		t.Error("the handle of a session that does not exist is kept")
	}
}
