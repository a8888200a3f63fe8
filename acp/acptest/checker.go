package acptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Checker watches one connection and records every rule that the agent breaks.
// Its methods are safe for concurrent use. A client's line must be given before
// it is written, an agent's as it is read.
type Checker struct {
	schemas []*Schema

	mu           sync.Mutex
	violations   []string
	capabilities clientCapabilities
	requests     map[string][]request // the client's, unanswered, by id
	questions    map[string]question  // the agent's, unanswered, by id
	sessions     map[string]*session
	unreadable   int // client lines that may be answered with id null
}

// request is a client's request.
type request struct {
	method    string
	sessionID string
	isCommand bool
	// introduces is set when the session was unknown before.
	introduces bool
}

// question is an agent's request.
type question struct{ method, sessionID string }

// session is what the client knows of one.
type session struct {
	// prompts are the ids of the open ones, oldest first, without slash
	// commands, which are answered while a turn runs; commands counts those.
	prompts  []string
	commands int
	replays  int // open session/load requests
	calls    map[string]callState
}

// working reports whether updates of a turn may come.
func (s *session) working() bool { return len(s.prompts)+s.commands > 0 }

type callState int

const (
	callOpen callState = iota + 1
	callEnded
)

type clientCapabilities struct {
	FS struct {
		ReadTextFile  bool `json:"readTextFile"`
		WriteTextFile bool `json:"writeTextFile"`
	} `json:"fs"`
	Terminal    bool            `json:"terminal"`
	Elicitation json.RawMessage `json:"elicitation"`
}

// message is any JSON-RPC message.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// NewChecker returns a Checker that holds the agent to each schema that knows
// the method at hand.
func NewChecker(schemas ...*Schema) *Checker {
	return &Checker{
		schemas:   schemas,
		requests:  make(map[string][]request),
		questions: make(map[string]question),
		sessions:  make(map[string]*session),
	}
}

// Violations returns what was found so far, oldest first.
func (c *Checker) Violations() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.violations)
}

// Closed tells that the agent ended by itself after its input was closed. By
// then every request must have been answered.
func (c *Checker) Closed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, unanswered := range c.requests {
		for _, r := range unanswered {
			c.report("%s with id %s was never answered", r.method, id)
		}
	}
}

// ClientLine takes one line from the client to the agent.
func (c *Checker) ClientLine(line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
	if len(line) == 0 {
		return
	}
	var m message
	if json.Unmarshal(line, &m) != nil || !utf8.Valid(line) || string(m.ID) == "null" || m.JSONRPC != "2.0" {
		c.unreadable++
	}
	if m.Method == "" {
		delete(c.questions, string(m.ID))
		return
	}
	if len(m.ID) > 0 && string(m.ID) != "null" {
		c.clientRequest(m)
	}
}

func (c *Checker) clientRequest(m message) {
	var params struct {
		SessionID          string             `json:"sessionId"`
		ClientCapabilities clientCapabilities `json:"clientCapabilities"`
		Prompt             []struct {
			Text string `json:"text"`
		} `json:"prompt"`
	}
	_ = json.Unmarshal(m.Params, &params) // bad params are the agent's to answer
	r := request{method: m.Method, sessionID: params.SessionID}
	s := c.sessions[params.SessionID]
	switch m.Method {
	case "initialize":
		c.capabilities = params.ClientCapabilities
	case "session/prompt":
		r.isCommand = len(params.Prompt) > 0 && strings.HasPrefix(params.Prompt[0].Text, "/")
		switch {
		case s == nil:
		case r.isCommand:
			s.commands++
		default:
			s.prompts = append(s.prompts, string(m.ID))
		}
	case "session/load", "session/resume":
		if s == nil {
			s = c.introduce(params.SessionID)
			r.introduces = true
		}
		if m.Method == "session/load" {
			s.replays++
			if !s.working() {
				clear(s.calls) // the replay announces them anew
			}
		}
	}
	c.requests[string(m.ID)] = append(c.requests[string(m.ID)], r)
}

func (c *Checker) introduce(sessionID string) *session {
	s := &session{calls: make(map[string]callState)}
	c.sessions[sessionID] = s
	return s
}

// AgentLine takes one line from the agent to the client.
func (c *Checker) AgentLine(line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		c.report("a line is no JSON-RPC message (%v): %s", err, excerpt(line))
		return
	}
	if !utf8.Valid(line) {
		c.report("a line is not UTF-8: %s", excerpt(line))
	}
	if m.JSONRPC != "2.0" {
		c.report(`a line lacks "jsonrpc":"2.0": %s`, excerpt(line))
	}
	switch m.Method {
	case "":
		c.response(m, line)
	case "$/cancel_request":
		c.withdrawal(m)
	default:
		c.agentCall(m, line)
	}
}

func (c *Checker) response(m message, line []byte) {
	if (m.Result == nil) == (m.Error == nil) {
		c.report("a response has not exactly one of result and error: %s", excerpt(line))
	}
	id := string(m.ID)
	if id == "null" && c.unreadable > 0 {
		c.unreadable--
		c.checkError(m.Error, "the answer to an unreadable line")
		return
	}
	waiting := c.requests[id]
	if len(waiting) == 0 {
		c.report("a response to no open request: %s", excerpt(line))
		return
	}
	r := waiting[0]
	if c.requests[id] = waiting[1:]; len(waiting) == 1 {
		delete(c.requests, id)
	}
	if m.Error != nil {
		c.checkError(m.Error, r.method)
	} else {
		c.checkShape(r.method+" result", endpoint{"agent", r.method}, m.Result, (*Schema).resultRule)
	}
	c.settle(r, m)
}

// settle applies what a response ends and brings.
func (c *Checker) settle(r request, m message) {
	s := c.sessions[r.sessionID]
	switch r.method {
	case "session/new", "session/fork":
		var result struct {
			SessionID string `json:"sessionId"`
		}
		if m.Error != nil || json.Unmarshal(m.Result, &result) != nil {
			return
		}
		if c.sessions[result.SessionID] != nil {
			c.report("%s gave the id of an existing session, %s", r.method, result.SessionID)
		}
		c.introduce(result.SessionID)
	case "session/load", "session/resume":
		switch {
		case m.Error != nil && r.introduces:
			delete(c.sessions, r.sessionID)
		case s != nil && r.method == "session/load":
			s.replays--
			c.expectNoOpenCalls(r, s)
		}
	case "session/prompt":
		if s != nil {
			c.settlePrompt(r, s, string(m.ID))
		}
	case "session/close", "session/delete":
		if m.Error == nil {
			delete(c.sessions, r.sessionID)
		}
	}
}

// settlePrompt holds the oldest prompt, which is the one that ran, to its end:
// one that waited may be cancelled while it still runs.
func (c *Checker) settlePrompt(r request, s *session, id string) {
	if r.isCommand {
		s.commands--
		return
	}
	at := slices.Index(s.prompts, id)
	if at < 0 {
		return // sent before the session was known
	}
	s.prompts = slices.Delete(s.prompts, at, at+1)
	if at == 0 {
		c.expectNoOpenCalls(r, s)
		c.expectNoOpenQuestions(r)
	}
}

func (c *Checker) expectNoOpenCalls(r request, s *session) {
	if r.method == "session/load" && s.working() {
		return // a running session's calls may well be open
	}
	for id, state := range s.calls {
		if state == callOpen {
			c.report("%s was answered while tool call %s had no end", r.method, id)
		}
	}
}

func (c *Checker) expectNoOpenQuestions(r request) {
	for id, q := range c.questions {
		if q.sessionID == r.sessionID {
			c.report("%s was answered while %s with id %s was neither answered nor withdrawn", r.method, q.method, id)
		}
	}
}

// withdrawal takes back one of the agent's own requests.
func (c *Checker) withdrawal(m message) {
	c.checkShape(m.Method, endpoint{"protocol", m.Method}, m.Params, (*Schema).paramsRule)
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	_ = json.Unmarshal(m.Params, &params) // its shape was checked above
	delete(c.questions, string(params.RequestID))
}

// agentCall is a request or notification of the agent.
func (c *Checker) agentCall(m message, line []byte) {
	if strings.HasPrefix(m.Method, "_") {
		return // an extension: ours to define
	}
	if !c.advertised(m.Method) {
		c.report("%s was called though the client did not advertise it", m.Method)
	}
	c.checkShape(m.Method, endpoint{"client", m.Method}, m.Params, (*Schema).paramsRule)
	var params callParams
	if err := json.Unmarshal(m.Params, &params); err != nil {
		return // reported as a wrong shape
	}
	isRequest := m.Method != "session/update" && m.Method != "elicitation/complete"
	if isRequest != (len(m.ID) > 0) {
		c.report("%s is a request or a notification, and was sent as the other: %s", m.Method, excerpt(line))
	}
	if isRequest {
		if _, ok := c.questions[string(m.ID)]; ok {
			c.report("%s reuses the id %s of an open request", m.Method, m.ID)
		}
		c.questions[string(m.ID)] = question{m.Method, params.SessionID}
	}
	switch m.Method {
	case "session/update":
		c.update(params)
	case "session/request_permission":
		c.permission(params)
	}
}

func (c *Checker) advertised(method string) bool {
	switch {
	case method == "fs/read_text_file":
		return c.capabilities.FS.ReadTextFile
	case method == "fs/write_text_file":
		return c.capabilities.FS.WriteTextFile
	case strings.HasPrefix(method, "terminal/"):
		return c.capabilities.Terminal
	case strings.HasPrefix(method, "elicitation/"):
		return len(c.capabilities.Elicitation) > 0
	}
	return true
}

func (c *Checker) report(format string, args ...any) {
	c.violations = append(c.violations, fmt.Sprintf(format, args...))
}

func excerpt(line []byte) string {
	const limit = 300
	if len(line) <= limit {
		return string(line)
	}
	return strings.ToValidUTF8(string(line[:limit]), "") + "…"
}
