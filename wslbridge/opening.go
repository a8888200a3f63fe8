package wslbridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// maxOpeningBytes bounds what is remembered for a second start.
const maxOpeningBytes = 4 << 20

// opening is the conversation before the first session request decides about the distro. What the
// client said is remembered, so that it can be said again to an agent in another distro, whose
// answers to what was answered already are then swallowed.
type opening struct {
	out io.Writer // to the client

	mu      sync.Mutex
	agent   *agentOutput // the current one; what others still write is dropped
	frames  [][]byte
	size    int
	sent    int             // frames that the current agent has got
	waiting map[string]bool // ids of requests without an answer
	swallow map[string]int  // ids that the current agent will answer once too often
	over    bool
	partial []byte // of a line of the agent
	cut     bool   // the agent's last line has no end
}

func newOpening(out io.Writer) *opening {
	return &opening{out: out, waiting: map[string]bool{}, swallow: map[string]int{}}
}

// add remembers a frame of the client and reports whether there is room for more.
func (o *opening) add(frame []byte, r sessionRequest) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.frames = append(o.frames, frame)
	o.size += len(frame)
	if len(r.ID) > 0 {
		o.waiting[string(r.ID)] = true
	}
	return o.size < maxOpeningBytes
}

// unsent returns what the current agent has not got yet, as lines.
func (o *opening) unsent() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	var lines []byte
	for _, frame := range o.frames[o.sent:] {
		lines = append(append(lines, frame...), '\n')
	}
	o.sent = len(o.frames)
	return lines
}

// newAgent prepares for an agent, the first or another one, and returns where its output goes.
func (o *opening) newAgent() *agentOutput {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.agent = &agentOutput{opening: o}
	for _, frame := range o.frames[:o.sent] {
		if r, ok := parseRequest(frame); ok && len(r.ID) > 0 && !o.waiting[string(r.ID)] {
			o.swallow[string(r.ID)]++
		}
	}
	o.sent = 0
	o.partial = nil
	return o.agent
}

// agentOutput takes the output of one agent.
type agentOutput struct{ *opening }

// end forgets the conversation: from here on bytes are only moved.
func (o *opening) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over, o.frames, o.waiting = true, nil, nil
}

func (o *agentOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.agent != o {
		return len(p), nil
	}
	rest := p
	for !o.over || len(o.swallow) > 0 {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			o.partial = append(o.partial, rest...)
			return len(p), nil
		}
		line := append(o.partial, rest[:end+1]...)
		o.partial, rest = nil, rest[end+1:]
		if o.isRepeated(line) {
			continue
		}
		if _, err := o.out.Write(line); err != nil {
			return 0, err
		}
	}
	if len(o.partial) > 0 {
		rest = append(o.partial, rest...)
		o.partial = nil
	}
	if _, err := o.out.Write(rest); err != nil {
		return 0, err
	}
	return len(p), nil
}

// isRepeated notes an answer and reports whether the client has it already.
func (o *opening) isRepeated(line []byte) bool {
	var answer struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(line, &answer) != nil || answer.Method != "" || len(answer.ID) == 0 {
		return false
	}
	id := string(answer.ID)
	delete(o.waiting, id)
	if o.swallow[id] == 0 {
		return false
	}
	if o.swallow[id]--; o.swallow[id] == 0 {
		delete(o.swallow, id)
	}
	return true
}

// awaitsClient reports whether the client has not said anything yet.
func (o *opening) awaitsClient() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.over && len(o.frames) == 0
}

// flush passes on a last line without an end.
func (o *opening) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.partial) > 0 {
		_, _ = o.out.Write(o.partial) // a client that is gone misses nothing
		o.partial, o.cut = nil, true
	}
}

// fail answers what is waiting with err, so that the client can show why there is no agent.
func (o *opening) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cut && len(o.waiting) > 0 {
		fmt.Fprintln(o.out)
	}
	message, _ := json.Marshal("hermes-acp: " + err.Error()) // a string always marshals
	for _, frame := range o.frames {
		r, ok := parseRequest(frame)
		if !ok || !o.waiting[string(r.ID)] {
			continue
		}
		delete(o.waiting, string(r.ID))
		fmt.Fprintf(o.out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":%s}}`+"\n", r.ID, message)
	}
}
