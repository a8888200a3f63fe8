package llm

import (
	"context"
	"io"
	"time"
)

// silenceWatch ends an exchange in which nothing comes for too long.
type silenceWatch struct {
	limit time.Duration
	timer *time.Timer
	end   context.CancelCauseFunc
}

// watchSilence returns a context that ends with ErrStalled when nothing was
// heard for the given time.
func watchSilence(ctx context.Context, limit time.Duration) (context.Context, *silenceWatch) {
	ctx, end := context.WithCancelCause(ctx)
	return ctx, &silenceWatch{
		limit: limit,
		timer: time.AfterFunc(limit, func() { end(ErrStalled) }),
		end:   end,
	}
}

// allow changes how long a silence may last, from now on.
func (w *silenceWatch) allow(limit time.Duration) {
	w.limit = limit
	w.timer.Reset(limit)
}

func (w *silenceWatch) stop() {
	w.timer.Stop()
	w.end(nil)
}

// watchedReader takes every byte read for a sign of life.
type watchedReader struct {
	r     io.Reader
	watch *silenceWatch
}

func (r watchedReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if n > 0 {
		r.watch.timer.Reset(r.watch.limit)
	}
	return n, err
}
