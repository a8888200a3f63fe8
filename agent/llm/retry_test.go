package llm_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
	"github.com/hermes-acp/hermes-acp/agent/llm"
)

// canned is an answer made beforehand.
type canned struct {
	status int
	body   string
	header map[string]string
}

func (c canned) response() *http.Response {
	h := http.Header{}
	for name, value := range c.header {
		h.Set(name, value)
	}
	return &http.Response{StatusCode: c.status, Header: h, Body: io.NopCloser(strings.NewReader(c.body))}
}

// answers is a transport that gives one answer a request and notes when each
// was asked for. Used inside synctest, where time is fake.
type answers struct {
	list  []canned
	asked []time.Time
}

func (a *answers) RoundTrip(*http.Request) (*http.Response, error) {
	a.asked = append(a.asked, time.Now())
	if len(a.asked) > len(a.list) {
		return nil, errors.New("no route to host")
	}
	return a.list[len(a.asked)-1].response(), nil
}

const okStream = `data: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}` + "\n\n"

func fakeClient(tb testing.TB, transport http.RoundTripper) *llm.Client {
	tb.Helper()
	c, err := llm.New(llm.Options{Provider: "custom", BaseURL: "http://model.test/v1", Model: "m"}, transport)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestM30_RetryAfter(t *testing.T) {
	tests := map[string]struct {
		header   map[string]string
		min, max time.Duration // of the wait
	}{
		"seconds":             {map[string]string{"Retry-After": "20"}, 20 * time.Second, 20 * time.Second},
		"fraction":            {map[string]string{"Retry-After": "20.5"}, 20500 * time.Millisecond, 20500 * time.Millisecond},
		"milliseconds":        {map[string]string{"Retry-After-Ms": "2500", "Retry-After": "60"}, 2500 * time.Millisecond, 2500 * time.Millisecond},
		"date":                {map[string]string{"Retry-After": time.Date(2000, 1, 1, 0, 0, 30, 0, time.UTC).Format(http.TimeFormat)}, 30 * time.Second, 30 * time.Second},
		"date in the past":    {map[string]string{"Retry-After": "Mon, 02 Jan 1995 15:04:05 GMT"}, time.Second, 1250 * time.Millisecond},
		"0":                   {map[string]string{"Retry-After": "0"}, time.Second, 1250 * time.Millisecond},
		"negative":            {map[string]string{"Retry-After": "-5"}, time.Second, 1250 * time.Millisecond},
		"junk":                {map[string]string{"Retry-After": "soon"}, time.Second, 1250 * time.Millisecond},
		"not a number":        {map[string]string{"Retry-After": "NaN"}, time.Second, 1250 * time.Millisecond},
		"no header":           {nil, time.Second, 1250 * time.Millisecond},
		"less than a backoff": {map[string]string{"Retry-After": "0.1"}, time.Second, 1250 * time.Millisecond},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // its clock starts at 2000-01-01 UTC
				a := &answers{list: []canned{{429, `{"error":{"message":"slow down"}}`, tt.header}, {200, okStream, nil}}}
				var s shown
				if _, err := fakeClient(t, a).Stream(t.Context(), hi(), s.emit); err != nil {
					t.Fatal(err)
				}
				if len(a.asked) != 2 {
					t.Fatalf("%d requests", len(a.asked))
				}
				if waited := a.asked[1].Sub(a.asked[0]); waited < tt.min || waited > tt.max {
					t.Errorf("waited %s, want %s to %s", waited, tt.min, tt.max)
				}
				if !strings.Contains(s.notices, "custom limits the rate of requests (429): slow down; trying again in ") || s.text != "ok" {
					t.Errorf("shown %+v", s)
				}
			})
		})
	}
}

func TestRetriesEnd(t *testing.T) {
	cut, whole := canned{status: 200, body: ": wait\n\n"}, canned{status: 200, body: okStream}
	failed := func(status int) canned { return canned{status: status, body: "{}"} }
	tests := map[string]struct {
		list  []canned
		asks  int
		cause error
		says  string
	}{
		"M31 cut before any text, then whole": {[]canned{cut, whole}, 2, nil, ""},
		"M31 always cut before any text":      {[]canned{cut, cut, cut, cut}, 4, llm.ErrCut, "cut off"},
		"server errors":                       {[]canned{failed(500), failed(502), failed(503), failed(529)}, 4, nil, "answered with an error (529)"},
		"network errors":                      {nil, 4, nil, "custom: no answer from model.test: no route to host"},
		"a wrong request":                     {[]canned{failed(400)}, 1, nil, "answered with an error (400)"},
		"a bad key":                           {[]canned{failed(401)}, 1, nil, "run hermes-acp --setup"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &answers{list: tt.list}
				_, err := fakeClient(t, a).Stream(t.Context(), hi(), func(agent.Delta) {})
				if len(a.asked) != tt.asks {
					t.Errorf("%d requests, want %d", len(a.asked), tt.asks)
				}
				if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
					t.Errorf("error %v, want %q", err, tt.says)
				}
				if tt.cause != nil && !errors.Is(err, tt.cause) {
					t.Errorf("error %v does not wrap %v", err, tt.cause)
				}
			})
		})
	}
}

func TestM30_CancelEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := errors.New("the person pressed stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		a := &answers{list: []canned{{429, "{}", map[string]string{"Retry-After": "60"}}}}
		start := time.Now()
		_, err := fakeClient(t, a).Stream(ctx, hi(), func(d agent.Delta) {
			if d.Notice != "" {
				cancel(stop)
			}
		})
		if !errors.Is(err, stop) || time.Since(start) != 0 || len(a.asked) != 1 {
			t.Errorf("error %v after %s and %d requests", err, time.Since(start), len(a.asked))
		}
	})
}

// A heartbeat is no silence, however long it goes on; a silence ends the answer.
func TestSilence(t *testing.T) {
	const text = `data: {"choices":[{"delta":{"content":"Hel"}}]}` + "\n\n"
	tests := map[string]struct {
		write func(w io.Writer)
		after time.Duration
	}{
		"before the first byte": {func(io.Writer) {}, llm.DefaultFirstByteTimeout},
		"in the middle":         {func(w io.Writer) { _, _ = io.WriteString(w, text) }, llm.DefaultIdleTimeout},
		"after heartbeats": {func(w io.Writer) {
			for range 60 {
				_, _ = io.WriteString(w, ": heartbeat\n\n")
				time.Sleep(time.Minute)
			}
		}, 59*time.Minute + llm.DefaultIdleTimeout},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, err := fakeClient(t, silent{tt.write}).Stream(t.Context(), hi(), func(agent.Delta) {})
				if !errors.Is(err, llm.ErrStalled) || time.Since(start) != tt.after {
					t.Errorf("error %v after %s, want after %s", err, time.Since(start), tt.after)
				}
			})
		})
	}
}

// silent answers with what write writes and then holds the connection until the
// request is given up.
type silent struct{ write func(io.Writer) }

func (s silent) RoundTrip(req *http.Request) (*http.Response, error) {
	r, w := io.Pipe()
	go func() {
		s.write(w)
		<-req.Context().Done()
		_ = w.CloseWithError(req.Context().Err())
	}()
	return &http.Response{StatusCode: http.StatusOK, Body: r}, nil
}
