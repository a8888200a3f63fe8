package tools

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// sessionState is what the tools remember of one session.
type sessionState struct {
	mu sync.Mutex
	// seen holds a hash of each file's content as the agent last read or wrote
	// it, by resolved path.
	seen map[string]uint64
	seed maphash.Seed

	background []*backgroundCommand // in the order of their starts
	started    int
	ended      bool
}

func newSessionState() *sessionState {
	return &sessionState{seen: map[string]uint64{}, seed: maphash.MakeSeed()}
}

// saw notes the content of a file that the agent knows now.
func (s *sessionState) saw(target string, data []byte) {
	hash := maphash.Bytes(s.seed, data)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[target] = hash
}

// forget drops what was noted of a file that is gone.
func (s *sessionState) forget(target string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, target)
}

// changedSince reports whether the agent has read target and it has other
// content now.
func (s *sessionState) changedSince(target string, data []byte) bool {
	hash := maphash.Bytes(s.seed, data)
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, ok := s.seen[target]
	return ok && seen != hash
}

// seenFiles returns the files that the agent knows, by resolved path.
func (s *sessionState) seenFiles() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.seen))
}

// backgroundCommand is a command that lives on after its call.
type backgroundCommand struct {
	*shellCommand
	id      string
	line    string
	started time.Time

	mu     sync.Mutex
	polled int64 // how much of the output the model has seen
}

const (
	maxBackground = 16 // running at once in a session
	keptCommands  = 32 // ended ones included
)

var errSessionEnded = errors.New("the session has ended")

// addBackground starts a command that start makes and keeps it.
func (s *sessionState) addBackground(line string, start func() (*shellCommand, error)) (*backgroundCommand, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	running := 0
	for _, c := range s.background {
		if c.running() {
			running++
		}
	}
	switch {
	case s.ended:
		return nil, errSessionEnded
	case running == maxBackground:
		return nil, fmt.Errorf("%d commands run in the background already; end one with process kill", running)
	}
	shell, err := start()
	if err != nil {
		return nil, err
	}
	s.started++
	c := &backgroundCommand{shellCommand: shell, id: fmt.Sprintf("proc_%d", s.started), line: line, started: time.Now()}
	if len(s.background) == keptCommands {
		oldest := slices.IndexFunc(s.background, func(c *backgroundCommand) bool { return !c.running() })
		s.background = slices.Delete(s.background, oldest, oldest+1)
	}
	s.background = append(s.background, c)
	return c, nil
}

// find returns a background command.
func (s *sessionState) find(id string) (*backgroundCommand, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for _, c := range s.background {
		if c.id == id {
			return c, nil
		}
		ids = append(ids, c.id)
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("there is no background command %q; none was started", id)
	}
	return nil, fmt.Errorf("there is no background command %q; there are %s", id, strings.Join(ids, ", "))
}

func (s *sessionState) list() []*backgroundCommand {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.background)
}

// end stops the background commands, side by side.
func (s *sessionState) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, c := range s.list() {
		wg.Go(func() { c.stop() })
	}
	wg.Wait()
}
