package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// longHistory is n exchanges of about 500 tokens each, some with a tool call.
func longHistory(n int) []Message {
	var msgs []Message
	filler := strings.Repeat("word ", 200)
	for i := range n {
		msgs = append(msgs, TextMessage(RoleUser, fmt.Sprintf("question %d %s", i, filler)))
		if i%3 == 1 {
			call := ToolCall{ID: fmt.Sprintf("call-%d", i), Name: "noop", Arguments: "{}"}
			msgs = append(msgs, Message{Role: RoleAssistant, ToolCalls: []ToolCall{call}}, toolMessage(call, "ok", false))
		}
		msgs = append(msgs, TextMessage(RoleAssistant, fmt.Sprintf("answer %d %s", i, filler)))
	}
	return msgs
}

// seed gives the bench's session a history, here and in the store.
func (b *bench) seed(history []Message) {
	b.store.messages[b.ID()] = history
	b.replaceHistory(history)
	for _, m := range history {
		for _, c := range m.ToolCalls {
			b.callIDs[c.ID] = true
		}
	}
}

func TestSplitKeepsCallsWithTheirResults(t *testing.T) {
	history := longHistory(60)
	for tokens := 0; tokens < 40_000; tokens += 37 {
		head, middle, tail := split(history, tokens)
		if len(head)+len(middle)+len(tail) != len(history) {
			t.Fatalf("%d tokens: split lost rows", tokens)
		}
		if len(tail) > 0 && tail[0].Role == RoleTool {
			t.Fatalf("%d tokens: the tail begins with a tool result", tokens)
		}
		if len(middle) > 0 && len(unanswered(middle)) > 0 {
			t.Fatalf("%d tokens: the middle ends between a call and its result", tokens)
		}
	}
}

func TestP45_CompressSurvivesARestart(t *testing.T) {
	b := newBench(t, nil, says("they talked about words"), says("yes"))
	b.seed(longHistory(200))
	before, after, err := b.Compact(t.Context(), func(context.Context, Event) {})
	if err != nil || after >= before/2 {
		t.Fatalf("%d -> %d tokens, %v", before, after, err)
	}
	restarted := b.newAgent(nil)
	history, err := restarted.Session(b.ID()).Load(t.Context(), SessionOptions{Cwd: "/"})
	if err != nil {
		t.Fatal(err)
	}
	if history[0].Text() != longHistory(1)[0].Text() || !history[2].Summary {
		t.Errorf("the history begins with %q, %q, %q", history[0].Text()[:10], history[1].Text()[:10], history[2].Text()[:10])
	}
	if !strings.Contains(history[2].Text(), "they talked about words") {
		t.Errorf("summary row %q", history[2].Text())
	}
}

func TestCompactionAtTheThreshold(t *testing.T) {
	b := newBench(t, nil, says("a summary"), says("fine"))
	b.seed(longHistory(200)) // about 100,000 tokens, the whole window
	if out := b.prompt("go on").Run(t.Context()); out.Stop != StopEndTurn {
		t.Fatalf("outcome %+v", out)
	}
	var states []CompactionState
	for _, e := range b.events {
		if e, ok := e.(CompactionChanged); ok {
			states = append(states, e.State)
		}
	}
	if diff := cmp.Diff([]CompactionState{CompactionRunning, CompactionDone}, states); diff != "" {
		t.Error(diff)
	}
	sent := b.model.requests[1].Messages
	if last := sent[len(sent)-1].Text(); last != "go on" {
		t.Errorf("the request ends with %q", last)
	}
	for i := range sent[1:] {
		if sent[i].Role == sent[i+1].Role && sent[i].Role != RoleTool {
			t.Errorf("rows %d and %d are both by %s", i, i+1, sent[i].Role)
		}
	}
}

// TestM34_M36_OverflowCompactsOnce shows that a request which the provider finds too
// large is sent once more, compacted, and then fails with the cause.
func TestM34_M36_OverflowCompactsOnce(t *testing.T) {
	overflow := func(context.Context, ModelRequest, func(Delta)) (Completion, error) {
		return Completion{}, fmt.Errorf("400: %w", ErrContextOverflow)
	}
	b := newBench(t, nil, overflow, says("a summary"), overflow)
	b.seed(longHistory(100))
	if out := b.prompt("go on").Run(t.Context()); !errors.Is(out.Err, ErrContextOverflow) {
		t.Fatalf("outcome %+v", out)
	}
	if len(b.model.requests) != 3 {
		t.Errorf("%d requests, want the first, the summary and one more try", len(b.model.requests))
	}
}

func TestFailedCompactionWaitsBeforeTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := func(context.Context, ModelRequest, func(Delta)) (Completion, error) {
			return Completion{}, errors.New("overloaded")
		}
		b := newBench(t, nil, fails, says("one"), says("two"), says("a summary"), says("three"))
		b.seed(longHistory(200))
		b.prompt("1").Run(t.Context())
		b.prompt("2").Run(t.Context())
		time.Sleep(compactionCooldowns[0])
		b.prompt("3").Run(t.Context())
		if rest := len(b.model.steps); rest != 0 {
			t.Errorf("%d steps of the model were not asked for", rest)
		}
	})
}

func TestNothingToCompact(t *testing.T) {
	b := newBench(t, nil, says("hello"))
	b.prompt("hi").Run(t.Context())
	if _, _, err := b.Compact(t.Context(), func(context.Context, Event) {}); !errors.Is(err, ErrNothingToCompact) {
		t.Errorf("got %v", err)
	}
}

func TestThresholdTokens(t *testing.T) {
	for _, tt := range []struct {
		name   string
		c      Compaction
		window int
		want   int
	}{
		{"small windows wait for three quarters", Compaction{}, 100_000, 75_000},
		{"large windows half", Compaction{}, 512_000, 256_000},
		{"never above the cap", Compaction{Threshold: 0.9}, 1_000_000, 256_000},
		{"never above the configured cap", Compaction{MaxTokens: 9000}, 1_000_000, 9000},
		{"configured", Compaction{Threshold: 0.9}, 200_000, 180_000},
		{"unknown window", Compaction{}, 0, 0},
	} {
		if got := tt.c.ThresholdTokens(tt.window); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestPartialAnswerIsKeptByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil, func(_ context.Context, _ ModelRequest, emit func(Delta)) (Completion, error) {
			for range 10 {
				for range 1000 {
					emit(Delta{Text: "x"})
				}
				time.Sleep(partialInterval * 3 / 8) // never at the instant of a save
			}
			return Completion{Message: TextMessage(RoleAssistant, "done"), Finish: FinishStop}, nil
		})
		b.prompt("hi").Run(t.Context())
		saved := b.store.partials
		if len(saved) != 3 {
			t.Errorf("10,000 chunks in 3.75 s were saved %d times", len(saved))
		}
		if last := saved[len(saved)-1]; !last.Interrupted || len(last.Text()) < 8000 {
			t.Errorf("the last partial answer has %d bytes", len(last.Text()))
		}
	})
}

func TestTitleComesFromTheFirstExchange(t *testing.T) {
	b := newBench(t, nil, says("done"), says("done"))
	b.prompt("  Rename the   function parse in reader.go to decode, and every caller of it\nthanks").Run(t.Context())
	b.prompt("and now the tests").Run(t.Context())
	var titles []string
	for _, e := range b.events {
		if e, ok := e.(InfoChanged); ok {
			titles = append(titles, e.Title)
		}
	}
	want := "Rename the function parse in reader.go to decode, and every… #2" // as the store kept it
	if diff := cmp.Diff([]string{want}, titles); diff != "" {
		t.Error(diff)
	}
}

func TestEveryCallLeavesAnAction(t *testing.T) {
	fails := fakeTool{name: "fails", run: func(context.Context, func(Progress)) (Result, error) { return Result{}, errors.New("no luck") }}
	b := newBench(t, []Tool{fails}, calls(ToolCall{ID: "a", Name: "fails"}, ToolCall{ID: "b", Name: "unknown"}), says("done"))
	b.prompt("go").Run(t.Context())
	if len(b.store.actions) != 2 {
		t.Fatalf("%d actions", len(b.store.actions))
	}
	first, second := b.store.actions[0], b.store.actions[1]
	if first.Grant != GrantNotNeeded || first.Failure != "no luck" || first.Ended.Before(first.Started) {
		t.Errorf("first action %+v", first)
	}
	if second.Grant != GrantDenied || second.Failure == "" {
		t.Errorf("second action %+v", second)
	}
}
