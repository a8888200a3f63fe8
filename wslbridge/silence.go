package wslbridge

import (
	"sync"
	"time"
)

const (
	heartbeatInterval = 10 * time.Second
	silenceLimit      = 45 * time.Second
	standbyThreshold  = 30 * time.Second
)

// silence tells how long a reader has been waiting for a byte. Time during which the machine, or
// this process, stood still does not count.
type silence struct {
	mu       sync.Mutex
	waiting  bool
	since    time.Time
	lastTick time.Time
}

// wait marks the begin of a read.
func (s *silence) wait(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting, s.since = true, now
}

// heard marks the end of a read. A reader that is blocked elsewhere hears nothing and misses nothing.
func (s *silence) heard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = false
}

// tick must be called every interval. It reports whether the limit has passed.
func (s *silence) tick(now time.Time, interval time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.lastTick.IsZero() && now.Sub(s.lastTick) > interval+standbyThreshold {
		s.since = now
	}
	s.lastTick = now
	return s.waiting && now.Sub(s.since) >= silenceLimit
}
