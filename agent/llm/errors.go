package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

// Causes of an answer that did not come whole.
var (
	ErrCut       = errors.New("the answer was cut off before its end")
	ErrStalled   = errors.New("nothing came for too long")
	ErrNotAModel = errors.New("a web page came instead of a model's answer")
)

// Error is why a provider gave no answer, in words for the person. It never
// holds the key.
type Error struct {
	Provider string
	// Status is the HTTP status; 0 when the provider could not be reached or
	// broke off.
	Status int
	// Code and Param are the provider's own, empty when it sent none.
	Code    string
	Param   string
	Message string

	cause      error
	retryAfter time.Duration
	temporary  bool
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Provider)
	switch e.Status {
	case 0:
	case http.StatusUnauthorized:
		fmt.Fprintf(&b, " refused the key (%d)", e.Status)
	case http.StatusForbidden:
		fmt.Fprintf(&b, " does not allow this request (%d)", e.Status)
	case http.StatusPaymentRequired:
		fmt.Fprintf(&b, " asks for payment (%d)", e.Status)
	case http.StatusNotFound:
		fmt.Fprintf(&b, " does not know this model or address (%d)", e.Status)
	case http.StatusTooManyRequests:
		fmt.Fprintf(&b, " limits the rate of requests (%d)", e.Status)
	default:
		fmt.Fprintf(&b, " answered with an error (%d)", e.Status)
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	return b.String()
}

// Unwrap returns the cause: agent.ErrContextOverflow, ErrCut, ErrStalled,
// ErrNotAModel, or what the network said.
func (e *Error) Unwrap() error { return e.cause }

// statusError is the error for an HTTP status other than 200.
func (c *Client) statusError(resp *http.Response, body []byte) *Error {
	said := c.complaintOf(body)
	e := &Error{
		Provider:  c.options.Provider,
		Status:    resp.StatusCode,
		Code:      said.Code,
		Param:     said.Param,
		Message:   said.Message,
		temporary: isTemporary(resp.StatusCode, said),
	}
	switch {
	case isOverflow(resp.StatusCode, said):
		e.cause = agent.ErrContextOverflow
		e.temporary = false
	case resp.StatusCode == http.StatusUnauthorized:
		e.Message = joinSentences(e.Message, c.keyRemedy())
	case resp.StatusCode == http.StatusNotFound:
		e.Message = joinSentences(e.Message, "check the model's name ("+c.Info().ID+") and base_url ("+c.base.Redacted()+")")
	}
	e.retryAfter = retryAfter(resp.Header, time.Now())
	return e
}

// streamError is the error for an error event inside a stream.
func (c *Client) streamError(data []byte) *Error {
	said := c.complaintOf(data)
	e := &Error{Provider: c.options.Provider, Code: said.Code, Param: said.Param, Message: said.Message}
	if isOverflow(http.StatusBadRequest, said) {
		e.cause = agent.ErrContextOverflow
	}
	return e
}

// networkError is the error for a request that got no answer. The address in
// net/http's own error is left out, since a base URL can hold secrets.
func (c *Client) networkError(ctx context.Context, err error) *Error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if cause := context.Cause(ctx); cause != nil {
		return c.fault(cause, fmt.Sprintf("no answer from %s: %v", c.base.Host, cause))
	}
	said := fmt.Sprintf("no answer from %s: %v", c.base.Host, err)
	if errors.Is(err, syscall.ECONNREFUSED) {
		said += "; is the server running?"
	}
	return c.temporaryFault(err, said)
}

// cut is the error for a stream that ended too early, for the reason that the
// network gave.
func (c *Client) cut(err error) *Error {
	switch {
	case errors.Is(err, errEventTooLarge):
		return c.fault(err, err.Error())
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return c.temporaryFault(ErrCut, ErrCut.Error())
	}
	return c.temporaryFault(fmt.Errorf("%w: %w", ErrCut, err), fmt.Sprintf("%v: %v", ErrCut, err))
}

// fault is an error that no retry helps.
func (c *Client) fault(cause error, message string) *Error {
	return &Error{Provider: c.options.Provider, Message: message, cause: cause}
}

func (c *Client) temporaryFault(cause error, message string) *Error {
	e := c.fault(cause, message)
	e.temporary = true
	return e
}

// complaintOf reads what a provider said and takes the key out, which some
// repeat.
func (c *Client) complaintOf(body []byte) complaint {
	if looksLikeHTML(body) {
		return complaint{Message: ErrNotAModel.Error()}
	}
	said := readComplaint(body)
	if c.options.Key != "" {
		said.Message = strings.ReplaceAll(said.Message, c.options.Key, "[key]")
	}
	return said
}

func (c *Client) keyRemedy() string {
	if c.options.KeyName == "" {
		return "run hermes-acp --setup"
	}
	return "set " + c.options.KeyName + ", or run hermes-acp --setup"
}

func joinSentences(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// isTemporary reports whether the same request may succeed later.
func isTemporary(status int, said complaint) bool {
	switch status {
	case http.StatusTooManyRequests:
		// OpenAI's word for an account without credit, which no wait helps.
		return said.Code != "insufficient_quota"
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return true
	}
	return status >= 500 && status != http.StatusNotImplemented
}

// isOverflow reports whether a request was refused because the conversation is
// too long. Providers have no common code for it, so their words are looked for.
func isOverflow(status int, said complaint) bool {
	switch status {
	case http.StatusRequestEntityTooLarge:
		return true
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusPaymentRequired, http.StatusTooManyRequests:
		return false
	}
	if said.Code == "context_length_exceeded" || said.Code == "exceed_context_size_error" {
		return true
	}
	message := strings.ToLower(said.Message)
	for _, words := range []string{
		"context length", "context window", "context size", "context limit", "context_length", "maximum context",
		"prompt is too long", "input is too long", "too many tokens", "reduce the length",
		"exceeds the maximum number of tokens", "input token count", "exceed context",
	} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}

func looksLikeHTML(body []byte) bool {
	return strings.HasPrefix(strings.TrimSpace(string(body[:min(len(body), 256)])), "<")
}
