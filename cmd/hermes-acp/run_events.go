package main

import (
	"encoding/json"
	"io"
	"sync"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/acp/acpclient"
)

// eventsHelp documents what --json prints.
const eventsHelp = `With --json each line of the output is one JSON object, told apart by "type":

   session     {sessionId}: the session is open
   update      {update}: a session/update of the Agent Client Protocol, as it came
   permission  {request, option, by}: a session/request_permission, the id of the
               option that was chosen (empty: dismissed), and who chose
   notice      {text}: a line from hermes-acp itself
   end         {stopReason}: the turn ended; end_turn is the only success
   error       {text}: the turn did not end`

// eventWriter shows a conversation as JSON lines.
type eventWriter struct {
	mu  sync.Mutex
	out *json.Encoder
}

type event struct {
	Type       string                     `json:"type"`
	SessionID  acpsdk.SessionId           `json:"sessionId,omitempty"`
	Update     json.RawMessage            `json:"update,omitempty"`
	Request    json.RawMessage            `json:"request,omitempty"`
	Option     *acpsdk.PermissionOptionId `json:"option,omitempty"`
	By         answeredBy                 `json:"by,omitempty"`
	StopReason acpsdk.StopReason          `json:"stopReason,omitempty"`
	Text       string                     `json:"text,omitempty"`
}

func newEventWriter(w io.Writer) *eventWriter {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return &eventWriter{out: out}
}

func (e *eventWriter) write(ev event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_ = e.out.Encode(ev) // a reader that is gone ends the program by its signal
}

func (e *eventWriter) opened(id acpsdk.SessionId) { e.write(event{Type: "session", SessionID: id}) }
func (e *eventWriter) update(u acpclient.Update)  { e.write(event{Type: "update", Update: u.Raw}) }
func (e *eventWriter) notice(text string)         { e.write(event{Type: "notice", Text: text}) }
func (e *eventWriter) ended(reason acpsdk.StopReason) {
	e.write(event{Type: "end", StopReason: reason})
}
func (e *eventWriter) failed(err error) { e.write(event{Type: "error", Text: err.Error()}) }
func (e *eventWriter) answered(q acpclient.PermissionRequest, a answer) {
	e.write(event{Type: "permission", Request: q.Raw, Option: &a.option, By: a.by})
}
