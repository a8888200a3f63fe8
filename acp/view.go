package acp

import (
	"maps"
	"slices"
	"sync"

	"github.com/hermes-acp/hermes-acp/agent"
)

// view is what this client has been shown of one session.
type view struct {
	// gate is held while updates are sent: a replay holds it for its whole
	// length, so that live updates follow it.
	gate sync.Mutex
	// openCalls are the announced calls of the running turn, true for those
	// whose output was streamed. Guarded by gate.
	openCalls map[string]bool
	// hermesID is the Hermes session that held the conversation when the client
	// was last told. Guarded by gate.
	hermesID string
	changes  changes

	// settings orders what changes the session: a prompt behind a set_mode runs
	// in that mode, one behind a load in that folder. prompts orders the turns, so
	// that each is answered before the next begins.
	settings, prompts lane

	mu      sync.Mutex
	running int // turns that have not been answered
}

// view returns the view of a session, a new one when there is none.
func (s *server) view(sessionID string) *view {
	s.viewsMu.Lock()
	defer s.viewsMu.Unlock()
	v, ok := s.views[sessionID]
	if !ok {
		v = &view{openCalls: map[string]bool{}}
		s.views[sessionID] = v
	}
	return v
}

// forget drops the view of a session that was closed or does not exist.
func (s *server) forget(sessionID string) {
	s.viewsMu.Lock()
	defer s.viewsMu.Unlock()
	delete(s.views, sessionID)
}

// openSessions are the sessions of which the client has been shown something.
func (s *server) openSessions() []string {
	s.viewsMu.Lock()
	defer s.viewsMu.Unlock()
	return slices.Collect(maps.Keys(s.views))
}

func (v *view) turnBegins() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.running++
}

func (v *view) turnEnds() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.running--
}

func (v *view) isRunning() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.running > 0
}

// note keeps what later requests need to know of an event. The caller holds
// gate.
func (v *view) note(e agent.Event) {
	switch e := e.(type) {
	case agent.CallStarted:
		v.openCalls[e.Call.ID] = false
	case agent.CallOutput:
		v.openCalls[e.CallID] = true
	case agent.CallEnded:
		delete(v.openCalls, e.Call.ID)
		if e.Err == nil && !e.Result.Failed {
			v.changes.add(e.Call.Access.Edits)
		}
	}
}
