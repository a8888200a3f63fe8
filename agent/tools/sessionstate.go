package tools

import (
	"crypto/sha256"
	"sync"
)

// sessionState is what the tools remember of one session.
type sessionState struct {
	mu sync.Mutex
	// seen holds a hash of each file's content as the agent last read or wrote
	// it, by resolved path.
	seen map[string][sha256.Size]byte
}

// saw notes the content of a file that the agent knows now.
func (s *sessionState) saw(target string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string][sha256.Size]byte{}
	}
	s.seen[target] = sha256.Sum256(data)
}

// changedSince reports whether the agent has read target and it has other
// content now.
func (s *sessionState) changedSince(target string, data []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	hash, ok := s.seen[target]
	return ok && hash != sha256.Sum256(data)
}

func (s *sessionState) end() {}
