package wslbridge

import (
	"io"
	"sync/atomic"
	"time"
)

const (
	pumpBufferBytes = 64 << 10
	drainQuiet      = time.Second // without a byte, after the process behind a pump has ended
)

// pump copies one stream, and can be told that the process behind it has ended.
type pump struct {
	from io.ReadCloser
	done chan struct{}
	// waitingSince is when the read that is going on began, in Unix nanoseconds; 0 while the pump
	// is not reading.
	waitingSince atomic.Int64
}

// startPump copies from to sink until either fails; a failing sink does not stop it from reading,
// so that whoever writes to from is never blocked by it.
func startPump(from io.ReadCloser, sink func([]byte) error) *pump {
	p := &pump{from: from, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		buf := make([]byte, pumpBufferBytes)
		var sinkErr error
		for {
			p.waitingSince.Store(time.Now().UnixNano())
			n, err := from.Read(buf)
			p.waitingSince.Store(0)
			if n > 0 && sinkErr == nil {
				sinkErr = sink(buf[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	return p
}

// finish is called once the process that fed the pump has ended. It waits until everything was
// copied, however slow the sink is. A grandchild may keep the stream open for ever: after quiet
// without a byte the stream is closed.
func (p *pump) finish(quiet time.Duration) {
	tick := time.NewTicker(quiet / 8)
	defer tick.Stop()
	for {
		select {
		case <-p.done:
			_ = p.from.Close()
			return
		case now := <-tick.C:
			since := p.waitingSince.Load()
			if since == 0 || now.UnixNano()-since < int64(quiet) {
				continue
			}
			// On Windows a blocked read cannot be interrupted, and Close waits for it.
			closed := make(chan struct{})
			go func() {
				defer close(closed)
				_ = p.from.Close()
			}()
			select {
			case <-p.done:
				<-closed
			case <-time.After(quiet):
			}
			return
		}
	}
}
