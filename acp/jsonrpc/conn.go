package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// ErrClosed is returned by what is sent on a connection that has ended, and is
// the cause of the contexts of the requests that were running then.
var ErrClosed = errors.New("connection closed")

// ErrCancelRequest is the cause of a request's context after the peer sent
// `$/cancel_request` for it.
var ErrCancelRequest = errors.New("cancelled by the peer")

const cancelMethod = "$/cancel_request"

// Handler is called by the reader for each request and notification, in order
// of arrival; nothing further is read until it returns. The Responder that it
// returns runs in its own goroutine with a context that ends on
// `$/cancel_request` and with the connection. For a notification it may be nil.
type Handler func(ctx context.Context, req *Request) Responder

// Responder computes the answer of one request. An error that wraps an *Error
// is answered with it; any other error is an internal error, or CodeCancelled
// once the peer has cancelled the request. The result of a notification is
// dropped.
type Responder func(ctx context.Context) (result any, err error)

// Request is an incoming request, or a notification when ID is nil.
type Request struct {
	// ID is the id exactly as the peer spelled it.
	ID     json.RawMessage
	Method string
	// Params is always a JSON object.
	Params json.RawMessage

	// AfterResponse, when the handler or its Responder has set it, is called
	// once the response is enqueued: what it sends follows the response.
	AfterResponse func()
}

// IsNotification reports whether the peer expects no answer.
func (r *Request) IsNotification() bool { return r.ID == nil }

// Fail returns a Responder that answers with err.
func Fail(err error) Responder {
	return func(context.Context) (any, error) { return nil, err }
}

// Direction says which way a frame went.
type Direction string

// Directions, as seen from the holder of the Conn.
const (
	Inbound  Direction = "in"
	Outbound Direction = "out"
)

// Options tune a Conn. The zero value of a field means its default.
type Options struct {
	Logger *slog.Logger // default: none
	// MaxLine is the longest line accepted, in bytes; default 64 MiB. A longer
	// one is skipped and answered with CodeInvalidRequest.
	MaxLine int
	// MaxUnanswered is how many requests may wait for their response to be
	// written before the reader pauses; default 1024.
	MaxUnanswered int
	// Credit is how many bytes of memory NotifyPaced may have enqueued, the
	// queue's own included; default 8 MiB.
	Credit int64
	// Drain is how long running requests may still take to end by themselves
	// once the peer has closed its side; default 500 ms.
	Drain time.Duration
	// Trace, when set, is shown every frame. It is called from two goroutines,
	// in order for each direction.
	Trace func(dir Direction, frame []byte)
}

// Each of the two steps after Drain, ending the requests and flushing the
// output, may take this long.
const stepTimeout = time.Second

// Conn is one connection. Make it with New, then call Serve once.
type Conn struct {
	opts    Options
	log     *slog.Logger
	in      *lineReader
	out     *outbox
	slots   chan struct{} // one for each request whose response is not yet written
	ended   chan struct{} // closed when Serve stops taking requests
	running sync.WaitGroup

	mu      sync.Mutex
	closed  bool                               // no calls any more
	stopped bool                               // no requests any more
	inbound map[string]context.CancelCauseFunc // by idKey
	calls   map[string]chan message            // by id
	lastID  int64
}

// New returns a connection that reads lines from r and writes lines to w. Both
// stay the caller's: a Read or Write that still blocks when Serve returns ends
// only when the caller closes r or w.
func New(r io.Reader, w io.Writer, opts Options) *Conn {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.MaxLine == 0 {
		opts.MaxLine = 64 << 20
	}
	if opts.MaxUnanswered == 0 {
		opts.MaxUnanswered = 1024
	}
	if opts.Credit == 0 {
		opts.Credit = 8 << 20
	}
	if opts.Drain == 0 {
		opts.Drain = 500 * time.Millisecond
	}
	return &Conn{
		opts:    opts,
		log:     opts.Logger,
		in:      newLineReader(r, opts.MaxLine),
		out:     newOutbox(w, opts.Credit, opts.Trace),
		slots:   make(chan struct{}, opts.MaxUnanswered),
		ended:   make(chan struct{}),
		inbound: make(map[string]context.CancelCauseFunc),
		calls:   make(map[string]chan message),
	}
}

// Serve reads and writes until the peer closes its side (it returns nil then),
// a read or a write fails, or ctx ends. Before it returns it fails all Calls,
// lets running requests end, cancels those that do not, waits for them and
// writes what is queued; each step is bounded in time.
func (c *Conn) Serve(ctx context.Context, h Handler) error {
	requests, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	read := make(chan error, 1)
	go func() { read <- c.readAll(requests, h) }()
	written := make(chan error, 1)
	go func() { written <- c.out.run() }()

	var err error
	select {
	case err = <-read:
		c.stopCalls()
		c.waitRunning(c.opts.Drain)
	case err = <-written:
		written <- nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	c.stop()
	cancel(ErrClosed)
	if !c.waitRunning(stepTimeout) {
		c.log.WarnContext(ctx, "requests did not end in time")
	}
	c.out.close()
	select {
	case werr := <-written:
		err = errors.Join(err, werr)
	case <-time.After(stepTimeout):
		err = errors.Join(err, errors.New("the peer did not read the last messages"))
	}
	c.out.discard()
	return err
}

// stop takes no more requests and fails all calls.
func (c *Conn) stop() {
	c.stopCalls()
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	close(c.ended)
}

func (c *Conn) stopCalls() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for id, answer := range c.calls {
		close(answer)
		delete(c.calls, id)
	}
}

func (c *Conn) waitRunning(limit time.Duration) bool {
	done := make(chan struct{})
	go func() {
		c.running.Wait()
		close(done)
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// readAll is the reader. It returns nil at the end of the input.
func (c *Conn) readAll(ctx context.Context, h Handler) error {
	for {
		line, err := c.in.next()
		switch {
		case errors.Is(err, errLineTooLong):
			c.refuse(nullID, Errorf(CodeInvalidRequest, "line longer than %d bytes", c.opts.MaxLine))
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read: %w", err)
		}
		if c.opts.Trace != nil {
			c.opts.Trace(Inbound, line)
		}
		msg, bad := parseMessage(line)
		switch {
		case bad != nil:
			c.refuse(nullID, bad)
		case msg.isResponse():
			c.deliver(msg)
		default:
			c.receive(ctx, h, msg)
		}
		select {
		case <-c.ended:
			return nil
		default:
		}
	}
}

// receive routes one request or notification.
func (c *Conn) receive(ctx context.Context, h Handler, msg message) {
	req, bad := msg.request()
	switch {
	case bad != nil && req.IsNotification():
		c.log.WarnContext(ctx, "bad notification dropped", "method", req.Method, "error", bad)
	case bad != nil:
		c.refuse(req.ID, bad)
	case req.Method == cancelMethod && req.IsNotification():
		c.cancelInbound(req.Params)
	case req.IsNotification():
		if respond := c.route(ctx, h, req); respond != nil {
			c.start(func() { _, _ = c.run(ctx, req, respond) })
		}
	case c.takeSlot():
		rctx, cancel := context.WithCancelCause(ctx)
		key := idKey(req.ID)
		c.mu.Lock()
		c.inbound[key] = cancel
		c.mu.Unlock()
		respond := c.route(rctx, h, req)
		c.start(func() {
			result, err := c.run(rctx, req, respond)
			c.mu.Lock()
			delete(c.inbound, key)
			c.mu.Unlock()
			c.answer(rctx, req, result, err)
			cancel(nil)
		})
	}
}

// takeSlot waits until one more unanswered request is allowed. It reports false
// when the connection ends meanwhile.
func (c *Conn) takeSlot() bool {
	select {
	case c.slots <- struct{}{}:
		return true
	case <-c.ended:
		return false
	}
}

func (c *Conn) freeSlot() { <-c.slots }

// start runs f in a goroutine that Serve waits for. Once Serve has stopped
// taking requests it does nothing.
func (c *Conn) start(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped {
		c.running.Go(f)
	}
}

// route calls the handler; a panic becomes the request's answer.
func (c *Conn) route(ctx context.Context, h Handler, req *Request) (respond Responder) {
	defer func() {
		if err := c.recovered(req.Method, recover()); err != nil {
			respond = Fail(err)
		}
	}()
	return h(ctx, req)
}

func (c *Conn) run(ctx context.Context, req *Request, respond Responder) (result any, err error) {
	defer func() {
		if perr := c.recovered(req.Method, recover()); perr != nil {
			result, err = nil, perr
		}
	}()
	return respond(ctx)
}

// recovered logs a panic with its stack and returns the error to answer with;
// nil when there was none.
func (c *Conn) recovered(method string, p any) error {
	if p == nil {
		return nil
	}
	c.log.Error("panic while serving", "method", method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	return Errorf(CodeInternalError, "internal error in %s; its stack is in the log", method)
}

// answer enqueues the response of a request.
func (c *Conn) answer(ctx context.Context, req *Request, result any, err error) {
	var line []byte
	if err == nil {
		line, err = encode(resultFrame{"2.0", req.ID, result})
	}
	if err != nil {
		line = encodeError(req.ID, wireError(ctx, err))
	}
	c.putAnswer(line)
	if req.AfterResponse != nil {
		defer func() { _ = c.recovered(req.Method, recover()) }()
		req.AfterResponse()
	}
}

// refuse answers what never became a running request.
func (c *Conn) refuse(id json.RawMessage, e *Error) {
	c.log.Warn("message refused", "code", e.Code, "error", e.Message)
	if c.takeSlot() {
		c.putAnswer(encodeError(id, e))
	}
}

func (c *Conn) putAnswer(line []byte) {
	if err := c.out.put(frame{line: line, written: c.freeSlot}); err != nil {
		c.log.Debug("response dropped", "error", err)
	}
}

// wireError turns any error into an error object.
func wireError(ctx context.Context, err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(context.Cause(ctx), ErrCancelRequest):
		return Errorf(CodeCancelled, "request cancelled")
	default:
		return Errorf(CodeInternalError, "%v", err)
	}
}

func encodeError(id json.RawMessage, e *Error) []byte {
	line, err := encode(errorFrame{"2.0", id, e})
	if err != nil { // only Data can fail to encode
		line, _ = encode(errorFrame{"2.0", id, &Error{Code: e.Code, Message: e.Message}})
	}
	return line
}

// cancelInbound serves `$/cancel_request`. An id that is not running is ignored.
func (c *Conn) cancelInbound(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return
	}
	c.mu.Lock()
	cancel := c.inbound[idKey(p.RequestID)]
	c.mu.Unlock()
	if cancel != nil {
		cancel(ErrCancelRequest)
	}
}
