package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

const (
	// afterFinish bounds the wait for what follows a finish reason: usage, and
	// the end mark that some servers never send.
	afterFinish = 10 * time.Second
	// afterDone bounds the wait for the end of a body behind the end mark, which
	// frees the connection for the next request.
	afterDone = 50 * time.Millisecond
	// maxPlainAnswer bounds an answer that is not streamed, in bytes.
	maxPlainAnswer = 64 << 20
)

// answer collects one answer while it arrives.
type answer struct {
	client *Client
	emit   func(agent.Delta)

	text      strings.Builder
	reasoning strings.Builder
	calls     callAssembler
	finish    string
	refused   bool
	streamed  bool // some of it came as deltas
	usage     agent.Usage

	sentReasoningContent bool
}

// read reads a response to its end. The stream is whole when it has a finish
// reason or the end mark; without either it was cut.
func (a *answer) read(resp *http.Response, watch *silenceWatch) error {
	events := newEventReader(watchedReader{resp.Body, watch})
	start := events.firstByte()
	watch.allow(a.client.options.IdleTimeout)
	switch {
	case start == '<':
		return a.client.fault(ErrNotAModel, fmt.Sprintf("%v; check base_url (%s)", ErrNotAModel, a.client.base.Redacted()))
	case start == '{' && !isEventStream(resp.Header):
		return a.readPlain(events.r)
	}
	for {
		ev, err := events.next()
		if err != nil {
			if a.finish != "" {
				return nil
			}
			return a.client.cut(err)
		}
		if isDone(ev.data) {
			watch.allow(afterDone)
			_, _ = io.Copy(io.Discard, resp.Body) // only to reuse the connection
			return nil
		}
		if ev.name == "error" {
			return a.client.streamError(ev.data)
		}
		if err := a.add(ev.data); err != nil {
			return err
		}
		if a.finish != "" {
			watch.allow(afterFinish)
		}
	}
}

// readPlain reads an answer that was not streamed although a stream was asked
// for.
func (a *answer) readPlain(r io.Reader) error {
	body, err := io.ReadAll(io.LimitReader(r, maxPlainAnswer))
	if err != nil || !json.Valid(body) {
		return a.client.cut(err)
	}
	return a.add(body)
}

// add takes one event's JSON. Fields of another type than they should have are
// passed over.
func (a *answer) add(data []byte) error {
	var c chunk
	err := json.Unmarshal(data, &c)
	if _, odd := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !odd {
		return a.client.fault(err, fmt.Sprintf("read an event of the answer: %v", err))
	}
	if isSet(c.Error) || c.isBareError(data) {
		return a.client.streamError(data)
	}
	if c.Usage != nil {
		a.usage = c.Usage.domain()
	}
	if len(c.Choices) == 0 {
		return nil
	}
	choice := c.Choices[0]
	a.streamed = a.addDelta(choice.Delta) || a.streamed
	if !a.streamed { // some end their stream with the whole message once more
		a.addDelta(choice.Message)
	}
	if choice.FinishReason == "error" {
		return a.client.fault(ErrCut, fmt.Sprintf("%v by an error that it does not name", ErrCut))
	}
	if choice.FinishReason != "" {
		a.finish = choice.FinishReason
	}
	return nil
}

// addDelta reports whether there was anything in d.
func (a *answer) addDelta(d delta) bool {
	if d.ReasoningContent != "" {
		a.sentReasoningContent = true
		d.Reasoning = d.ReasoningContent // some send both, with the same text
	}
	if d.Reasoning != "" {
		a.reasoning.WriteString(string(d.Reasoning))
		a.emit(agent.Delta{Reasoning: string(d.Reasoning)})
	}
	if d.Refusal != "" {
		a.refused = true
	}
	if said := string(d.Content + d.Refusal); said != "" {
		a.text.WriteString(said)
		a.emit(agent.Delta{Text: said})
	}
	for _, part := range d.ToolCalls {
		a.calls.add(part)
	}
	return d.Reasoning+d.Refusal+d.Content != "" || len(d.ToolCalls) > 0
}

// completion is what arrived. After an error it holds no tool calls, whose
// arguments may be incomplete.
func (a *answer) completion(err error) agent.Completion {
	m := agent.Message{Role: agent.RoleAssistant, Reasoning: a.reasoning.String()}
	if a.text.Len() > 0 {
		m.Parts = []agent.Part{{Text: a.text.String()}}
	}
	if err != nil {
		m.Interrupted = a.text.Len()+a.reasoning.Len() > 0
		return agent.Completion{Message: m, Usage: a.usage}
	}
	m.ToolCalls = a.calls.finish()
	return agent.Completion{Message: m, Finish: a.finishReason(len(m.ToolCalls) > 0), Usage: a.usage}
}

func (a *answer) finishReason(calls bool) agent.Finish {
	switch {
	case calls:
		return agent.FinishToolCalls
	case a.refused:
		return agent.FinishRefusal
	}
	switch a.finish {
	case "length", "max_tokens", "model_length":
		return agent.FinishLength
	case "content_filter", "refusal", "safety":
		return agent.FinishRefusal
	}
	return agent.FinishStop
}

// isBareError recognises {"object":"error", "message": ...}, as vLLM sends it.
func (c *chunk) isBareError(data []byte) bool {
	if len(c.Choices) > 0 || c.Usage != nil {
		return false
	}
	var kind struct {
		Object string `json:"object"`
	}
	return json.Unmarshal(data, &kind) == nil && kind.Object == "error"
}

func isEventStream(h http.Header) bool {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return kind == "text/event-stream"
}
