package wslbridge

import (
	"errors"
	"io"
	"sync"
)

// errSpoolClosed is what a write gets after the reading side has given up.
var errSpoolClosed = errors.New("spool closed")

// maxSpareBytes is how much memory an idle spool may keep for the next batch.
const maxSpareBytes = 1 << 20

// spool is a bounded queue of bytes between two goroutines. The writer waits while it is full, or
// loses what does not fit when it is lossy, so that it never waits for the reader.
type spool struct {
	mu      sync.Mutex
	changed sync.Cond
	limit   int
	lossy   bool

	pending []byte
	taken   int // bytes handed to the reader that it has not finished with
	spare   []byte
	lost    int64
	ended   bool
	readErr error // why the reader gave up
}

func newSpool(limit int, lossy bool) *spool {
	s := &spool{limit: limit, lossy: lossy}
	s.changed.L = &s.mu
	return s
}

// Write queues all of p, in pieces when p is larger than the room that is left.
func (s *spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	written := 0
	for len(p) > 0 {
		if s.readErr != nil {
			return written, s.readErr
		}
		room := s.limit - len(s.pending) - s.taken
		if room <= 0 {
			if s.lossy {
				s.lost += int64(len(p))
				return written + len(p), nil
			}
			s.changed.Wait()
			continue
		}
		n := min(room, len(p))
		s.pending = append(s.pending, p[:n]...)
		p = p[n:]
		written += n
		s.changed.Broadcast()
	}
	return written, nil
}

// end tells the reader that nothing more comes.
func (s *spool) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.changed.Broadcast()
}

// giveUp makes every further write fail with err, or with errSpoolClosed when err is nil.
func (s *spool) giveUp(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = errSpoolClosed
	}
	s.readErr = err
	s.pending = nil
	s.changed.Broadcast()
}

// take waits for bytes and hands over all that are queued. The previous slice is the spool's again.
// At the end it returns nil.
func (s *spool) take() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = 0
	s.changed.Broadcast()
	for len(s.pending) == 0 && !s.ended && s.readErr == nil {
		s.changed.Wait()
	}
	if len(s.pending) == 0 {
		return nil
	}
	if cap(s.spare) > maxSpareBytes {
		s.spare = nil
	}
	batch := s.pending
	s.pending, s.spare = s.spare[:0], batch
	s.taken = len(batch)
	return batch
}

// lostBytes returns how much a lossy spool dropped since the last call.
func (s *spool) lostBytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.lost
	s.lost = 0
	return n
}

// drainTo writes everything to w until the end. When w fails the writers learn of it.
// progress, if given, is called after every write that succeeded.
func (s *spool) drainTo(w io.Writer, progress func()) error {
	for {
		batch := s.take()
		if batch == nil {
			return nil
		}
		if _, err := w.Write(batch); err != nil {
			s.giveUp(err)
			return err
		}
		if progress != nil {
			progress()
		}
	}
}

// spoolReader reads a spool as a stream.
type spoolReader struct {
	s    *spool
	rest []byte
}

func (r *spoolReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.rest = r.s.take(); r.rest == nil {
			return 0, io.EOF
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
