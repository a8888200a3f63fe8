package jsonrpc

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// frame is one line to write.
type frame struct {
	line []byte
	// credit is what the frame holds of the outbox's credit until it is written.
	credit int64
	// written, when set, is called once the frame is written or thrown away.
	written func()
}

// outbox is the connection's only writer. Frames are written in the order of
// put; neighbours are joined into one Write.
type outbox struct {
	w      io.Writer
	trace  func(Direction, []byte)
	credit *semaphore.Weighted
	limit  int64
	wake   chan struct{} // holds a token when run has something to look at

	mu     sync.Mutex
	queue  []frame
	closed bool

	givingBack sync.Mutex // held by the one turn of several that frees memory
}

func newOutbox(w io.Writer, credit int64, trace func(Direction, []byte)) *outbox {
	return &outbox{
		w:      w,
		trace:  trace,
		credit: semaphore.NewWeighted(credit),
		limit:  credit,
		wake:   make(chan struct{}, 1),
	}
}

// put enqueues a frame. After close it throws the frame away and returns
// ErrClosed.
func (o *outbox) put(f frame) error {
	o.mu.Lock()
	closed := o.closed
	if !closed {
		o.queue = append(o.queue, f)
	}
	o.mu.Unlock()
	if closed {
		o.release(f)
		return ErrClosed
	}
	o.signal()
	return nil
}

// frameOverhead is what a queued frame may cost in memory beside its line, in
// bytes: its place in the queue, in the larger array that the queue grows into
// and in the one that it came from. Short lines would otherwise hold half as much
// again as the credit says.
const frameOverhead = 128

// putPaced waits for credit and then enqueues the line. A line larger than the
// whole credit waits for all of it.
func (o *outbox) putPaced(ctx context.Context, line []byte) error {
	n := min(int64(cap(line))+frameOverhead, o.limit)
	if err := o.acquire(ctx, n); err != nil {
		return err
	}
	return o.put(frame{line: line, credit: n})
}

// stallTime is how long a peer that has used up all credit is taken for a slow
// one.
const stallTime = 2 * time.Second

func (o *outbox) acquire(ctx context.Context, n int64) error {
	if o.credit.TryAcquire(n) {
		return nil
	}
	stalled := time.AfterFunc(stallTime, o.giveBack)
	defer stalled.Stop()
	return o.credit.Acquire(ctx, n)
}

// giveBack frees memory: while everybody waits for the peer nothing is allocated,
// so that no collection would run, and what the frames left behind, as much again
// as they hold themselves, would be kept as long as the peer does not read.
func (o *outbox) giveBack() {
	if o.givingBack.TryLock() {
		debug.FreeOSMemory()
		o.givingBack.Unlock()
	}
}

// close refuses frames from now on; run ends when the queue is written.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.signal()
}

// discard closes the outbox and throws away what is queued, so that nobody
// waits for a peer that is gone.
func (o *outbox) discard() {
	o.close()
	frames, _ := o.take()
	for _, f := range frames {
		o.release(f)
	}
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *outbox) take() (frames []frame, closed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	frames, o.queue = o.queue, nil
	return frames, o.closed
}

func (o *outbox) release(f frame) {
	if f.credit > 0 {
		o.credit.Release(f.credit)
	}
	if f.written != nil {
		f.written()
	}
}

// run writes until the outbox is closed and empty, or a write fails.
func (o *outbox) run() error {
	joined := make([]byte, 0, 64<<10)
	for range o.wake {
		frames, closed := o.take()
		for len(frames) > 0 {
			batch, err := o.writeBatch(joined, frames)
			for _, f := range frames[:batch] {
				o.release(f)
			}
			if err != nil {
				for _, f := range frames[batch:] {
					o.release(f)
				}
				o.discard()
				return fmt.Errorf("write: %w", err)
			}
			frames = frames[batch:]
		}
		if closed {
			return nil
		}
	}
	return nil
}

// writeBatch writes the first frame and as many of the next ones as fit into
// joined with it. It returns how many frames it took.
func (o *outbox) writeBatch(joined []byte, frames []frame) (int, error) {
	batch, size := 1, len(frames[0].line)
	for batch < len(frames) && size+len(frames[batch].line) <= cap(joined) {
		size += len(frames[batch].line)
		batch++
	}
	if o.trace != nil {
		for _, f := range frames[:batch] {
			o.trace(Outbound, f.line)
		}
	}
	if batch == 1 {
		_, err := o.w.Write(frames[0].line)
		return batch, err
	}
	for _, f := range frames[:batch] {
		joined = append(joined, f.line...)
	}
	_, err := o.w.Write(joined)
	return batch, err
}
