package acp

import (
	"context"
	"sync"
)

// lane keeps requests in the order in which the reader saw them: each waits for
// the one ahead of it to leave. The zero value is an empty lane.
type lane struct {
	mu   sync.Mutex
	last chan struct{} // closed when the last request has left; nil for none
}

// join takes the next place.
func (l *lane) join() (ahead place, leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := make(chan struct{})
	ahead, l.last = place{l.last}, left
	return ahead, func() { close(left) }
}

// tail is the last place that is taken now.
func (l *lane) tail() place {
	l.mu.Lock()
	defer l.mu.Unlock()
	return place{l.last}
}

// place is one request's place in a lane.
type place struct{ left <-chan struct{} }

// wait waits until the request has left, or ctx ends.
func (p place) wait(ctx context.Context) {
	if p.left == nil {
		return
	}
	select {
	case <-p.left:
	case <-ctx.Done():
	}
}
