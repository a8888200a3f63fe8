package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Error codes of JSON-RPC 2.0, and CodeCancelled, which ACP adds for a request
// that ended because of `$/cancel_request`.
const (
	CodeParseError     = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternalError  = -32603
	CodeCancelled      = -32800
)

// Error is a JSON-RPC error object. A Responder that returns one decides the
// response's code; Call returns the one that the peer answered with.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Errorf returns an Error with a formatted message.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

var (
	emptyParams = json.RawMessage("{}")
	nullID      = json.RawMessage("null")
)

// message is one line in any of its roles. Fields that the line does not have
// are nil; a null in the line is the four bytes "null".
type message struct {
	Version json.RawMessage `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  json.RawMessage `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// parseMessage decodes a line. Its error is the answer that the line deserves.
func parseMessage(line []byte) (message, *Error) {
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		if _, ok := errors.AsType[*json.SyntaxError](err); ok {
			return message{}, Errorf(CodeParseError, "not valid JSON: %v", err)
		}
		return message{}, Errorf(CodeInvalidRequest, "a message must be one JSON object (batches are not supported)")
	}
	if line[0] != '{' { // null decodes into anything
		return message{}, Errorf(CodeInvalidRequest, "a message must be one JSON object (batches are not supported)")
	}
	return m, nil
}

// isResponse reports whether the message answers a call of ours.
func (m message) isResponse() bool {
	return m.Method == nil && m.ID != nil && (m.Result != nil || m.Error != nil)
}

// request returns the request or notification in the message, or the error to
// answer with.
func (m message) request() (*Request, *Error) {
	req := &Request{ID: m.ID, Params: m.Params}
	if m.Version != nil && string(m.Version) != `"2.0"` {
		return req, Errorf(CodeInvalidRequest, "jsonrpc must be \"2.0\"")
	}
	if m.ID != nil && !validID(m.ID) {
		req.ID = nullID
		return req, Errorf(CodeInvalidRequest, "id must be a string, a number or null")
	}
	if m.Method == nil || m.Method[0] != '"' {
		if req.ID == nil {
			req.ID = nullID
		}
		return req, Errorf(CodeInvalidRequest, "method must be a string")
	}
	if err := json.Unmarshal(m.Method, &req.Method); err != nil {
		return req, Errorf(CodeInvalidRequest, "method: %v", err)
	}
	if req.Params == nil {
		req.Params = emptyParams
	}
	if req.Params[0] != '{' {
		return req, Errorf(CodeInvalidParams, "params of %s must be an object", req.Method)
	}
	return req, nil
}

func validID(id json.RawMessage) bool {
	switch c := id[0]; {
	case c == '"', c == '-', '0' <= c && c <= '9':
		return true
	default:
		return string(id) == "null"
	}
}

// idKey makes ids comparable: a string id may be escaped in more than one way.
func idKey(id json.RawMessage) string {
	var s string
	if len(id) > 0 && id[0] == '"' && json.Unmarshal(id, &s) == nil {
		return "string " + s
	}
	return string(id)
}

// Shapes of outgoing messages.
type (
	notificationFrame struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}
	callFrame struct {
		Version string `json:"jsonrpc"`
		ID      int64  `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}
	resultFrame struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}
	errorFrame struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *Error          `json:"error"`
	}
)

// encode returns v as one line of valid UTF-8, its newline included.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	line := buf.Bytes()
	if !utf8.Valid(line) { // a json.RawMessage inside v is copied as it is
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	return line, nil
}
