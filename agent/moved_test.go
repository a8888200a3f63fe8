package agent

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// movedStore refuses one change because another process has added messages.
type movedStore struct {
	*memoryStore
	moved bool
}

func (m *movedStore) Append(ctx context.Context, id string, final bool, msgs ...Message) error {
	if m.moved {
		m.moved = false
		return fmt.Errorf("append: %w", ErrSessionMoved)
	}
	return m.memoryStore.Append(ctx, id, final, msgs...)
}

func (m *movedStore) Compact(ctx context.Context, id string, msgs []Message, inPlace bool) error {
	if m.moved {
		m.moved = false
		return fmt.Errorf("compact: %w", ErrSessionMoved)
	}
	return m.memoryStore.Compact(ctx, id, msgs, inPlace)
}

// What another process added is not lost to a summary that was made without it,
// and the next try has it.
func TestCompactFollowsAnotherProcess(t *testing.T) {
	b := newBench(t, nil, says("a summary"), says("a summary of all"))
	store := &movedStore{memoryStore: b.store, moved: true}
	b.agent.store = func(context.Context) (Store, error) { return store, nil }
	b.seed(longHistory(200))
	whole := append(longHistory(200), TextMessage(RoleUser, "elsewhere"), TextMessage(RoleAssistant, "two"))
	b.store.messages[b.ID()] = whole
	none := func(context.Context, Event) {}
	if _, _, err := b.Compact(t.Context(), none); !errors.Is(err, ErrSessionMoved) {
		t.Fatalf("got %v", err)
	}
	if _, _, err := b.Compact(t.Context(), none); err != nil {
		t.Fatal(err)
	}
	rows := b.rows()
	if last := rows[len(rows)-2:]; last[0] != "user: elsewhere" || last[1] != "assistant: two" {
		t.Errorf("the conversation ends with %q", last)
	}
}

func TestResetClearsWhatAnotherProcessAdded(t *testing.T) {
	b := newBench(t, nil)
	store := &movedStore{memoryStore: b.store, moved: true}
	b.agent.store = func(context.Context) (Store, error) { return store, nil }
	b.seed(longHistory(1))
	if err := b.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rows := b.rows(); len(rows) != 0 {
		t.Errorf("there are still %q", rows)
	}
}

func TestTurnFollowsAnotherProcess(t *testing.T) {
	b := newBench(t, nil, says("one"), says("three"))
	store := &movedStore{memoryStore: b.store}
	b.agent.store = func(context.Context) (Store, error) { return store, nil }
	if out := b.prompt("first").Run(t.Context()); out.Err != nil {
		t.Fatal(out.Err)
	}
	if err := b.store.Append(t.Context(), b.ID(), true, TextMessage(RoleUser, "elsewhere"), TextMessage(RoleAssistant, "two")); err != nil {
		t.Fatal(err)
	}
	store.moved = true
	if out := b.prompt("third").Run(t.Context()); out.Err != nil {
		t.Fatal(out.Err)
	}
	want := []string{"user: first", "assistant: one", "user: elsewhere", "assistant: two", "user: third", "assistant: three"}
	if diff := cmp.Diff(want, b.rows()); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	var asked []string
	for _, m := range b.model.requests[len(b.model.requests)-1].Messages[1:] {
		asked = append(asked, string(m.Role)+": "+m.Text())
	}
	if diff := cmp.Diff(want[:5], asked); diff != "" {
		t.Errorf("the model was asked with (-want +got):\n%s", diff)
	}
}

// heldStore waits for another process to give the session back.
type heldStore struct {
	*memoryStore
	waiting func()
}

func (h *heldStore) Append(ctx context.Context, _ string, _ bool, _ ...Message) error {
	h.waiting()
	<-ctx.Done()
	return context.Cause(ctx)
}

func TestCancelWhileAnotherProcessHoldsTheSession(t *testing.T) {
	b := newBench(t, nil)
	store := &heldStore{memoryStore: b.store, waiting: b.Cancel}
	b.agent.store = func(context.Context) (Store, error) { return store, nil }
	if out := b.prompt("hi").Run(t.Context()); out.Err != nil || out.Stop != StopCancelled {
		t.Errorf("outcome %+v", out)
	}
}
