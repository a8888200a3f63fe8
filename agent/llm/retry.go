package llm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	maxRetries   = 3
	firstBackoff = time.Second
	// maxRetryWait is the longest wait that a person is asked to sit through.
	maxRetryWait = 2 * time.Minute
)

// retryDelay says how long to wait before the retry of the given number,
// counted from 0; ok is false when there shall be none.
func retryDelay(e *Error, retry int) (delay time.Duration, ok bool) {
	if !e.temporary || retry >= maxRetries {
		return 0, false
	}
	if e.retryAfter > maxRetryWait {
		e.Message = joinSentences(e.Message, fmt.Sprintf("it asks to wait %s before the next try", e.retryAfter.Round(time.Second)))
		return 0, false
	}
	backoff := firstBackoff << retry
	backoff += rand.N(backoff / 4)
	return max(backoff, e.retryAfter), true
}

// retryAfter reads how long a provider asks to wait, 0 when it does not say.
// The forms are those of RFC 9110 section 10.2.3 and the milliseconds of OpenAI
// and Azure.
func retryAfter(h http.Header, now time.Time) time.Duration {
	for _, name := range []string{"Retry-After-Ms", "X-Ms-Retry-After-Ms"} {
		if ms, err := strconv.ParseFloat(h.Get(name), 64); err == nil {
			return inUnits(ms, time.Millisecond)
		}
	}
	value := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return inUnits(s, time.Second)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// inUnits turns a number from a header into a duration of at most a day.
func inUnits(n float64, unit time.Duration) time.Duration {
	const day = 24 * time.Hour
	if !(n > 0) { // also NaN
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(day)))
}

// wait returns early with the context's cause when it is cancelled.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
