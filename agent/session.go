package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Session is one conversation. One turn runs at a time; the others wait in the
// order in which they were enqueued.
type Session struct {
	agent     *Agent
	id        string
	approvals *Approvals

	// restoring is held while the session is read from the store, so that it is
	// read once. It is taken before mu.
	restoring sync.Mutex

	mu       sync.Mutex
	restored bool
	rec      SessionRecord
	history  []Message
	callIDs  map[string]bool // every tool call id in history
	plan     []PlanEntry     // compaction takes the calls it came from, not it
	turns    []*Turn         // the running turn, then the waiting ones
	servers  ServerTools     // nil without any

	// promptTokens is the size that the model's provider counted for the first
	// countedRows of history with all that goes with them; 0 when it did not.
	promptTokens, countedRows int
	// costUSD is what the providers say that the turns of this process cost.
	costUSD float64

	// Only the running turn uses these.
	nextCompaction    time.Time
	failedCompactions int
}

// ID is the id the client knows.
func (s *Session) ID() string { return s.id }

// Record returns what is kept of the session beside its messages, reading it
// from the store first when this process has not yet.
func (s *Session) Record(ctx context.Context) (SessionRecord, error) {
	if err := s.restore(ctx); err != nil {
		return SessionRecord{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rec, nil
}

// Load restores the session, moves it to the client's cwd and directories (they
// are never taken over from an earlier client), and returns its messages.
func (s *Session) Load(ctx context.Context, opts SessionOptions) ([]Message, error) {
	err := s.update(ctx, func(rec *SessionRecord) { rec.Cwd, rec.Dirs = opts.Cwd, opts.Dirs })
	if err != nil {
		return nil, err
	}
	s.connectServers(opts)
	return s.History(), nil
}

// SetMode changes the policy for edits. It counts at once, also for a turn that
// runs.
func (s *Session) SetMode(ctx context.Context, mode Mode) error {
	return s.update(ctx, func(rec *SessionRecord) { rec.Mode = mode })
}

// SetEffort changes the reasoning effort from the next turn on.
func (s *Session) SetEffort(ctx context.Context, effort string) error {
	return s.update(ctx, func(rec *SessionRecord) { rec.Effort = effort })
}

// SetModel changes the model from the next turn on.
func (s *Session) SetModel(ctx context.Context, id string) error {
	if _, err := s.agent.cfg.Models.Model(ctx, id); err != nil {
		return fmt.Errorf("set model %q: %w", id, err)
	}
	return s.update(ctx, func(rec *SessionRecord) { rec.Model = id })
}

// update changes the session's record here and in the store.
func (s *Session) update(ctx context.Context, change func(*SessionRecord)) error {
	if err := s.restore(ctx); err != nil {
		return err
	}
	store, err := s.agent.store(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	change(&s.rec)
	rec := s.rec
	s.mu.Unlock()
	if err := store.UpdateSession(ctx, rec); err != nil {
		return fmt.Errorf("update session %s: %w", s.id, err)
	}
	return nil
}

// opened reports whether this process has read or made the session.
func (s *Session) opened() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.restored
}

// restore reads the session from the store, once.
func (s *Session) restore(ctx context.Context) error {
	s.restoring.Lock()
	defer s.restoring.Unlock()
	if s.opened() {
		return nil
	}
	store, err := s.agent.store(ctx)
	if err != nil {
		return err
	}
	rec, err := store.Session(ctx, s.id)
	if err != nil {
		if errors.Is(err, ErrUnknownSession) {
			s.agent.forget(s)
		}
		return fmt.Errorf("restore session %s: %w", s.id, err)
	}
	if err := s.readHistory(ctx, store); err != nil {
		return fmt.Errorf("restore session %s: %w", s.id, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rec, s.restored = rec, true
	return nil
}

// readHistory reads the messages from the store.
func (s *Session) readHistory(ctx context.Context, store Store) error {
	history, err := store.Messages(ctx, s.id)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history, s.plan = history, planOf(history)
	for _, m := range history {
		for _, c := range m.ToolCalls {
			s.callIDs[c.ID] = true
		}
	}
	return nil
}

// Provenance says where the conversation comes from. previous is the Hermes
// session that held it when the caller last asked, or empty.
func (s *Session) Provenance(ctx context.Context, previous string) (Provenance, error) {
	store, err := s.agent.store(ctx)
	if err != nil {
		return Provenance{}, err
	}
	return store.Provenance(ctx, s.id, previous)
}

// Cancel ends the running turn and every waiting one. On an idle session it
// changes nothing.
func (s *Session) Cancel() {
	s.mu.Lock()
	turns := slices.Clone(s.turns)
	s.mu.Unlock()
	for _, t := range turns {
		t.Cancel()
	}
}

// Steer gives the running turn guidance that it reads before its next model
// request. It reports false when no turn runs.
func (s *Session) Steer(text string) bool {
	return s.addLeg(leg{text: text, steer: true})
}

// QueueLeg makes the running turn go on with text when it would otherwise end.
// It reports false when no turn runs.
func (s *Session) QueueLeg(text string) bool {
	return s.addLeg(leg{text: text})
}

func (s *Session) addLeg(l leg) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.turns) == 0 || s.turns[0].ended {
		return false
	}
	s.turns[0].legs = append(s.turns[0].legs, l)
	return true
}

// mode is the policy for edits as it stands now.
func (s *Session) mode() Mode {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rec.Mode
}

// Size is the conversation's size in tokens: what the provider counted last,
// and an estimate of what has come since.
func (s *Session) Size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.promptTokens == 0 {
		return EstimateTokens(s.history...)
	}
	return s.promptTokens + EstimateTokens(s.history[min(s.countedRows, len(s.history)):]...)
}

// CostUSD is what the session's turns have cost since this process opened it; 0
// when the providers do not say.
func (s *Session) CostUSD() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.costUSD
}

// History returns the session's messages.
func (s *Session) History() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.history)
}

// Reset clears the conversation. It must not run beside a turn of the session.
func (s *Session) Reset(ctx context.Context) error {
	if err := s.restore(ctx); err != nil {
		return err
	}
	store, err := s.agent.store(ctx)
	if err != nil {
		return err
	}
	err = store.Compact(ctx, s.id, nil, true)
	if errors.Is(err, ErrSessionMoved) {
		// What another process added is cleared with the rest.
		if err = s.readHistory(ctx, store); err == nil {
			err = store.Compact(ctx, s.id, nil, true)
		}
	}
	if err != nil {
		return fmt.Errorf("reset session %s: %w", s.id, err)
	}
	s.replaceHistory(nil)
	return nil
}

func (s *Session) replaceHistory(msgs []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history, s.promptTokens, s.countedRows = msgs, 0, 0
}

func (s *Session) entries() []PlanEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plan
}

func (s *Session) setEntries(plan []PlanEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan = plan
}

// claimCallID returns id, or a new one when id is empty or used before.
func (s *Session) claimCallID(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id == "" || s.callIDs[id] {
		id = newCallID()
	}
	s.callIDs[id] = true
	return id
}
