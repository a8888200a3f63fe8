package jsonrpc

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
)

// Call sends a request, waits for its answer and decodes the result into result,
// a pointer, unless that is nil. It returns the peer's *Error, ErrClosed when
// the connection ends first, or the cause of ctx when that ends first; then the
// peer is told with `$/cancel_request` and a late answer is dropped.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	id, answer, err := c.register()
	if err != nil {
		return fmt.Errorf("call %s: %w", method, err)
	}
	line, err := encode(callFrame{"2.0", id, method, params})
	if err == nil {
		err = c.out.put(frame{line: line})
	}
	if err != nil {
		c.forget(id)
		return fmt.Errorf("call %s: %w", method, err)
	}
	select {
	case msg, ok := <-answer:
		if !ok {
			return fmt.Errorf("call %s: %w", method, ErrClosed)
		}
		return msg.decodeResult(method, result)
	case <-ctx.Done():
		if c.forget(id) {
			_ = c.Notify(cancelMethod, cancelParams{id})
		}
		return fmt.Errorf("call %s: %w", method, context.Cause(ctx))
	}
}

type cancelParams struct {
	RequestID int64 `json:"requestId"`
}

// Notify enqueues a notification. It never waits, so it is for what is small
// and rare; it returns ErrClosed after the end.
func (c *Conn) Notify(method string, params any) error {
	line, err := encode(notificationFrame{"2.0", method, params})
	if err == nil {
		err = c.out.put(frame{line: line})
	}
	if err != nil {
		return fmt.Errorf("notify %s: %w", method, err)
	}
	return nil
}

// NotifyPaced enqueues a notification once there is credit for it. It waits
// while the peer reads too slowly, until ctx or the connection ends.
func (c *Conn) NotifyPaced(ctx context.Context, method string, params any) error {
	line, err := encode(notificationFrame{"2.0", method, params})
	if err == nil {
		err = c.out.putPaced(ctx, line)
	}
	if err != nil {
		return fmt.Errorf("notify %s: %w", method, err)
	}
	return nil
}

func (c *Conn) register() (int64, chan message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, nil, ErrClosed
	}
	c.lastID++
	answer := make(chan message, 1)
	c.calls[callKey(c.lastID)] = answer
	return c.lastID, answer, nil
}

// forget gives up waiting; it reports false when the answer is already there.
func (c *Conn) forget(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, waiting := c.calls[callKey(id)]
	delete(c.calls, callKey(id))
	return waiting
}

// deliver hands a response to the Call that waits for it.
func (c *Conn) deliver(msg message) {
	c.mu.Lock()
	answer, waiting := c.calls[string(msg.ID)]
	delete(c.calls, string(msg.ID))
	c.mu.Unlock()
	if !waiting {
		c.log.Warn("response without a request dropped", "id", string(msg.ID))
		return
	}
	answer <- msg
}

func callKey(id int64) string { return strconv.FormatInt(id, 10) }

func (m message) decodeResult(method string, result any) error {
	if m.Error != nil && string(m.Error) != "null" {
		var e Error
		if err := json.Unmarshal(m.Error, &e); err != nil {
			return fmt.Errorf("call %s: decode error: %w", method, err)
		}
		return &e
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(m.Result, result); err != nil {
		return fmt.Errorf("call %s: decode result: %w", method, err)
	}
	return nil
}
