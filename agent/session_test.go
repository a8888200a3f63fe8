package agent

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestForkIsIndependent(t *testing.T) {
	b := newBench(t, nil, says("one"), says("two"))
	b.prompt("first").Run(t.Context())
	fork, err := b.Fork(t.Context(), SessionOptions{Cwd: "/other"})
	if err != nil {
		t.Fatal(err)
	}
	if fork.ID() == b.ID() {
		t.Fatal("the fork has the id of its origin")
	}
	b.prompt("second").Run(t.Context())
	if rec, err := fork.Record(t.Context()); err != nil || rec.Cwd != "/other" {
		t.Fatalf("record %+v, %v", rec, err)
	}
	if got := len(fork.History()); got != 2 {
		t.Errorf("the fork has %d messages, want the two it began with", got)
	}
}

func TestCloseEndsTheRunningTurn(t *testing.T) {
	streamed := make(chan struct{})
	b := newBench(t, nil, stallsAfter("x", streamed))
	done := make(chan Outcome)
	turn := b.prompt("hi")
	go func() { done <- turn.Run(t.Context()) }()
	<-streamed
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out := <-done; out.Stop != StopCancelled {
		t.Errorf("outcome %+v", out)
	}
	if diff := cmp.Diff([]string{b.ID()}, b.store.endedIDs); diff != "" {
		t.Error(diff)
	}
	if history, err := b.agent.Session(b.ID()).Load(t.Context(), SessionOptions{Cwd: "/"}); err != nil || len(history) != 2 {
		t.Errorf("a closed session loads as %v, %v", history, err)
	}
}

func TestDelete(t *testing.T) {
	b := newBench(t, nil, says("one"))
	b.prompt("first").Run(t.Context())
	if err := b.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.agent.Session(b.ID()).Record(t.Context()); !errors.Is(err, ErrUnknownSession) {
		t.Errorf("a deleted session: %v", err)
	}
	if err := b.agent.Session("nope").Delete(t.Context()); err != nil {
		t.Errorf("deleting what is not there: %v", err)
	}
}

func TestUnknownModelIsRefused(t *testing.T) {
	b := newBench(t, nil)
	if err := b.SetModel(t.Context(), "nobody/serves-this"); !errors.Is(err, ErrUnknownModel) {
		t.Errorf("got %v", err)
	}
	if rec, _ := b.Record(t.Context()); rec.Model != "" {
		t.Errorf("the model is now %q", rec.Model)
	}
}

// TestD18_EndOfProcessEndsItsSessions: rows without an end are what cleanup
// passes over.
func TestD18_EndOfProcessEndsItsSessions(t *testing.T) {
	streamed := make(chan struct{})
	b := newBench(t, nil, stallsAfter("x", streamed))
	b.agent.Session("only named, never opened")
	done := make(chan Outcome)
	turn := b.prompt("hi")
	go func() { done <- turn.Run(t.Context()) }()
	<-streamed
	b.agent.Close(t.Context())
	if out := <-done; out.Stop != StopCancelled {
		t.Errorf("outcome %+v", out)
	}
	if diff := cmp.Diff([]string{b.ID()}, b.store.endedIDs); diff != "" {
		t.Error(diff)
	}
}

func TestCancelOfUnknownSessionLeavesNothing(t *testing.T) {
	b := newBench(t, nil)
	b.agent.Cancel("nope")
	if b.agent.sessions["nope"] != nil {
		t.Error("a handle was made")
	}
}
