package agent

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// movedStore refuses one Append because another process has added messages.
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
