package llm

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hermes-acp/hermes-acp/agent"
)

// callAssembler puts tool calls together from the pieces of a stream.
// Providers disagree about what ties the pieces of one call together, and some
// get it wrong, so nothing is indexed by a number that a provider sent.
type callAssembler struct {
	calls []*openCall
}

type openCall struct {
	index     *int
	id        string
	name      string
	arguments strings.Builder
}

// add takes one piece.
func (a *callAssembler) add(p callPart) {
	call := a.continued(p)
	if call == nil {
		call = &openCall{index: p.Index, id: p.ID}
		a.calls = append(a.calls, call)
	}
	if call.id == "" {
		call.id = p.ID
	}
	if p.Function.Name != call.name { // some repeat the name with each piece
		call.name += p.Function.Name
	}
	call.arguments.WriteString(string(p.Function.Arguments))
}

// continued returns the call that a piece belongs to, nil when it opens one.
//
//   - An id that was not seen opens a call, whatever the index says: some send
//     index 0, or none, for every call.
//   - A piece with a name and the start of arguments opens a call when the one
//     it would continue is whole: some repeat one id for all calls, or send none.
//   - Otherwise the newest call with the piece's index goes on, or the newest
//     call: some send the tail of a call under another index than its head.
func (a *callAssembler) continued(p callPart) *openCall {
	last := a.newest(func(*openCall) bool { return true })
	if last == nil {
		return nil
	}
	if p.ID != "" {
		same := a.newest(func(c *openCall) bool { return c.id == p.ID })
		if same != nil && (differ(same.index, p.Index) || same.restarts(p)) {
			return nil
		}
		return same
	}
	call := last
	if p.Index != nil {
		call = a.newest(func(c *openCall) bool { return c.index != nil && *c.index == *p.Index })
	}
	if p.Function.Name == "" {
		if call == nil {
			return last
		}
		return call
	}
	if call == nil || call.restarts(p) || p.Index == nil && call.name != p.Function.Name {
		return nil
	}
	return call
}

func (a *callAssembler) newest(match func(*openCall) bool) *openCall {
	for _, c := range slices.Backward(a.calls) {
		if match(c) {
			return c
		}
	}
	return nil
}

// restarts reports whether a piece with a name begins another call, because this
// one is whole already or the name is another.
func (c *openCall) restarts(p callPart) bool {
	if p.Function.Name == "" || c.arguments.Len() == 0 {
		return false
	}
	if p.Function.Name != c.name {
		return true
	}
	return p.Function.Arguments != "" && json.Valid([]byte(c.arguments.String()))
}

func differ(a, b *int) bool { return a != nil && b != nil && *a != *b }

// finish returns the calls. Their ids are the provider's own, which may be empty
// or repeated; the session gives each call one that is unique in it. A call
// without arguments gets an empty object.
func (a *callAssembler) finish() []agent.ToolCall {
	var out []agent.ToolCall
	for _, c := range a.calls {
		args := c.arguments.String()
		if c.name == "" && args == "" {
			continue
		}
		if strings.TrimSpace(args) == "" {
			args = "{}"
		}
		out = append(out, agent.ToolCall{ID: c.id, Name: c.name, Arguments: args})
	}
	return out
}
