package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
)

// step is one answer of a scripted model.
type step func(ctx context.Context, req ModelRequest, emit func(Delta)) (Completion, error)

// scriptedModel answers each request with its next step and keeps the requests.
type scriptedModel struct {
	t *testing.T

	mu       sync.Mutex
	steps    []step
	requests []ModelRequest
}

func (m *scriptedModel) Info() ModelInfo { return ModelInfo{ID: "scripted", ContextWindow: 100_000} }

func (m *scriptedModel) Stream(ctx context.Context, req ModelRequest, emit func(Delta)) (Completion, error) {
	m.mu.Lock()
	m.requests = append(m.requests, req)
	if len(m.steps) == 0 {
		m.mu.Unlock()
		return Completion{}, fmt.Errorf("unexpected request %d", len(m.requests))
	}
	next := m.steps[0]
	m.steps = m.steps[1:]
	m.mu.Unlock()
	return next(ctx, req, emit)
}

func (m *scriptedModel) Model(_ context.Context, id string) (Model, error) {
	if id != "" && id != "scripted" {
		return nil, ErrUnknownModel
	}
	return m, nil
}

// modelsFunc finds models by a function.
type modelsFunc func(ctx context.Context, id string) (Model, error)

func (f modelsFunc) Model(ctx context.Context, id string) (Model, error) { return f(ctx, id) }

// says answers with text in two deltas.
func says(text string) step {
	return func(_ context.Context, _ ModelRequest, emit func(Delta)) (Completion, error) {
		emit(Delta{Text: text[:1]})
		emit(Delta{Text: text[1:]})
		return Completion{Message: TextMessage(RoleAssistant, text), Finish: FinishStop}, nil
	}
}

// calls answers with tool calls.
func calls(calls ...ToolCall) step {
	return func(context.Context, ModelRequest, func(Delta)) (Completion, error) {
		return Completion{Message: Message{Role: RoleAssistant, ToolCalls: slices.Clone(calls)}, Finish: FinishToolCalls}, nil
	}
}

// stallsAfter streams text, tells that it did, and waits for its ctx to end.
func stallsAfter(text string, streamed chan<- struct{}) step {
	return func(ctx context.Context, _ ModelRequest, emit func(Delta)) (Completion, error) {
		if text != "" {
			emit(Delta{Text: text})
		}
		close(streamed)
		<-ctx.Done()
		return Completion{Message: TextMessage(RoleAssistant, text)}, fmt.Errorf("stream: %w", context.Cause(ctx))
	}
}

// memoryStore is a Store without a disk.
type memoryStore struct {
	mu       sync.Mutex
	records  map[string]SessionRecord
	messages map[string][]Message
	finals   int // appends that asked to be on disk
	partials []Message
	actions  []Action
	endedIDs []string
	failing  error
}

func newMemoryStore() *memoryStore {
	return &memoryStore{records: map[string]SessionRecord{}, messages: map[string][]Message{}}
}

func (m *memoryStore) CreateSession(_ context.Context, rec SessionRecord) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[rec.ID] = rec
	return nil
}

func (m *memoryStore) Session(_ context.Context, id string) (SessionRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rec, ok := m.records[id]
	if !ok {
		return rec, ErrUnknownSession
	}
	return rec, nil
}

func (m *memoryStore) UpdateSession(_ context.Context, rec SessionRecord) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[rec.ID] = rec
	return nil
}

func (m *memoryStore) Messages(_ context.Context, id string) ([]Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.messages[id]), nil
}

func (m *memoryStore) Append(_ context.Context, id string, final bool, msgs ...Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failing != nil {
		return m.failing
	}
	m.messages[id] = append(m.messages[id], msgs...)
	if final {
		m.finals++
	}
	return nil
}

func (m *memoryStore) SavePartial(_ context.Context, id string, msg Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.partials = append(m.partials, msg)
	return nil
}

func (m *memoryStore) SetTitle(_ context.Context, id, title string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rec := m.records[id]
	rec.Title = title + " #2"
	m.records[id] = rec
	return rec.Title, nil
}

func (m *memoryStore) Compact(_ context.Context, id string, msgs []Message, _ bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.messages[id] = slices.Clone(msgs)
	return nil
}

func (m *memoryStore) RecordAction(_ context.Context, action Action) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.actions = append(m.actions, action)
	return nil
}

func (m *memoryStore) ListSessions(context.Context, SessionFilter) (SessionPage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var page SessionPage
	for _, rec := range m.records {
		page.Sessions = append(page.Sessions, ListedSession{SessionRecord: rec})
	}
	return page, nil
}

func (m *memoryStore) Provenance(_ context.Context, id, previous string) (Provenance, error) {
	return Provenance{SessionID: id, Current: id, Root: id, Kind: KindRoot, Previous: previous}, nil
}

func (m *memoryStore) EndSession(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.endedIDs = append(m.endedIDs, id)
	return nil
}

func (m *memoryStore) DeleteSession(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, id)
	delete(m.messages, id)
	return nil
}

func (m *memoryStore) ForkSession(_ context.Context, from string, rec SessionRecord) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[rec.ID] = rec
	m.messages[rec.ID] = slices.Clone(m.messages[from])
	return nil
}

// fakeTool runs a function; it needs no leave.
type fakeTool struct {
	name string
	run  func(ctx context.Context, progress func(Progress)) (Result, error)
}

func (f fakeTool) Spec() ToolSpec {
	return ToolSpec{Name: f.name, Kind: KindOther, Schema: json.RawMessage(`{"type":"object"}`)}
}

func (f fakeTool) Plan(context.Context, *Workspace, json.RawMessage) (Plan, error) {
	return Plan{Title: f.name, Run: f.run}, nil
}

// bench is an agent with a scripted model and one session.
type bench struct {
	t     *testing.T
	model *scriptedModel
	store *memoryStore
	agent *Agent
	*Session

	mu     sync.Mutex
	events []Event
}

func newBench(t *testing.T, tools []Tool, steps ...step) *bench {
	t.Helper()
	b := &bench{t: t, model: &scriptedModel{t: t, steps: steps}, store: newMemoryStore()}
	b.agent = b.newAgent(tools)
	s, err := b.agent.NewSession(t.Context(), SessionOptions{Cwd: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	b.Session = s
	return b
}

func (b *bench) newAgent(tools []Tool) *Agent {
	return New(Config{
		Models:       b.model,
		Tools:        tools,
		Store:        func(context.Context) (Store, error) { return b.store, nil },
		SystemPrompt: func(context.Context, *Workspace, ModelInfo) string { return "system" },
		MaxRequests:  5,
		Log:          slog.New(slog.DiscardHandler),
	})
}

// prompt enqueues text; its events are kept in b.
func (b *bench) prompt(text string) *Turn {
	return b.Enqueue(Prompt{Parts: []Part{{Text: text}}, Emit: func(_ context.Context, e Event) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.events = append(b.events, e)
	}})
}

// rows are the stored messages as "role: text", calls and marks included.
func (b *bench) rows() []string {
	b.t.Helper()
	msgs, err := b.store.Messages(b.t.Context(), b.ID())
	if err != nil {
		b.t.Fatal(err)
	}
	var rows []string
	for _, m := range msgs {
		row := string(m.Role) + ": " + m.Text()
		for _, c := range m.ToolCalls {
			row += "[" + c.Name + " " + c.ID + "]"
		}
		if m.ToolCallID != "" {
			row += " (" + m.ToolCallID + ")"
		}
		if m.Authored {
			row += " (authored)"
		}
		if m.Interrupted {
			row += " (interrupted)"
		}
		rows = append(rows, row)
	}
	return rows
}

// ended returns how many times each announced call ended.
func (b *bench) ended() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	ends := map[string]int{}
	for _, e := range b.events {
		switch e := e.(type) {
		case CallStarted:
			ends[e.Call.ID] += 0
		case CallEnded:
			ends[e.Call.ID]++
		}
	}
	return ends
}
