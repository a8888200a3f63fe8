package acp

import (
	"context"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/agent"
)

// updates sends the session updates of one session.
type updates struct {
	server    *server
	sessionID string
	view      *view
	client    clientFeatures
}

func (s *server) updates(sessionID string) *updates {
	return &updates{server: s, sessionID: sessionID, view: s.view(sessionID), client: s.features()}
}

// sessionUpdate is the parameters of a session/update. Update is one of the
// SDK's variants with its discriminator set; the SDK's union around them costs
// several times as much to encode and lacks the newest ones.
type sessionUpdate struct {
	SessionID string `json:"sessionId"`
	Update    any    `json:"update"`
}

// send takes credit: it waits while the client reads too slowly, until ctx or
// the connection ends.
func (u *updates) send(ctx context.Context, update any) error {
	return u.server.conn.NotifyPaced(ctx, acpsdk.ClientMethodSessionUpdate, sessionUpdate{u.sessionID, update})
}

// show sends an update that is no event of a turn.
func (u *updates) show(ctx context.Context, update any) {
	u.view.gate.Lock()
	defer u.view.gate.Unlock()
	u.trySend(ctx, update)
}

// emit shows one event of a turn.
func (u *updates) emit(ctx context.Context, e agent.Event) {
	u.view.gate.Lock()
	defer u.view.gate.Unlock()
	u.trySend(ctx, u.render(e))
	u.view.note(e)
	if c, ok := e.(agent.CompactionChanged); ok && c.State == agent.CompactionDone {
		u.trySend(ctx, u.rotation(ctx))
	}
}

// trySend drops an update that cannot be sent: it belongs to a turn that was
// cancelled or a client that is gone. Nil is no update.
func (u *updates) trySend(ctx context.Context, update any) {
	if update == nil {
		return
	}
	if err := u.send(ctx, update); err != nil {
		u.server.log.DebugContext(ctx, "update dropped", "session_id", u.sessionID, "error", err)
	}
}

// render returns the update that shows an event; nil for one that this client
// cannot show.
func (u *updates) render(e agent.Event) any {
	switch e := e.(type) {
	case agent.TextDelta:
		return newChunk("agent_message_chunk", e.MessageID, e.Text)
	case agent.ThoughtDelta:
		return newChunk("agent_thought_chunk", e.MessageID, e.Text)
	case agent.CallStarted:
		return u.callStarted(e.Call)
	case agent.CallRunning:
		return callRunning(e.CallID)
	case agent.CallOutput:
		return u.callOutput(e)
	case agent.CallEnded:
		return u.callEnded(e)
	case agent.PlanChanged:
		return planUpdate(e.Entries)
	case agent.UsageChanged:
		return usageUpdate(e)
	case agent.CompactionChanged:
		return u.compaction(e)
	case agent.InfoChanged:
		return acpsdk.SessionSessionInfoUpdate{SessionUpdate: "session_info_update", Title: &e.Title, UpdatedAt: timestamp(time.Now())}
	case agent.Notice:
		return u.notice(e)
	default:
		return nil
	}
}

// chunk is a piece of a message.
type chunk struct {
	SessionUpdate string                  `json:"sessionUpdate"`
	Content       acpsdk.ContentBlockText `json:"content"`
	MessageID     string                  `json:"messageId,omitempty"`
	Meta          map[string]any          `json:"_meta,omitempty"`
}

// imageChunk is a chunk of a message that holds an image.
type imageChunk struct {
	SessionUpdate string                   `json:"sessionUpdate"`
	Content       acpsdk.ContentBlockImage `json:"content"`
	MessageID     string                   `json:"messageId,omitempty"`
}

func newChunk(kind, messageID, text string) any {
	if text == "" {
		return nil
	}
	return chunk{SessionUpdate: kind, Content: acpsdk.ContentBlockText{Type: "text", Text: text}, MessageID: messageID}
}

// planUpdate shows the complete plan. The protocol has no cancelled entries;
// they are completed ones that say so.
func planUpdate(entries []agent.PlanEntry) acpsdk.SessionUpdatePlan {
	plan := acpsdk.SessionUpdatePlan{SessionUpdate: "plan", Entries: []acpsdk.PlanEntry{}}
	for _, e := range entries {
		content, status := e.Content, acpsdk.PlanEntryStatus(e.Status)
		if content == "" {
			content = e.ID
		}
		if content == "" {
			continue
		}
		switch e.Status {
		case agent.EntryPending, agent.EntryInProgress, agent.EntryCompleted:
		case agent.EntryCancelled:
			content, status = "[cancelled] "+content, acpsdk.PlanEntryStatusCompleted
		default:
			status = acpsdk.PlanEntryStatusPending
		}
		plan.Entries = append(plan.Entries, acpsdk.PlanEntry{Content: content, Status: status, Priority: acpsdk.PlanEntryPriorityMedium})
	}
	return plan
}

func usageUpdate(e agent.UsageChanged) any {
	if e.Window <= 0 {
		return nil
	}
	update := acpsdk.SessionUsageUpdate{SessionUpdate: "usage_update", Used: e.Used, Size: e.Window}
	if e.CostUSD > 0 {
		update.Cost = &acpsdk.Cost{Amount: e.CostUSD, Currency: "USD"}
	}
	return update
}

// noticeUpdate is newer than the SDK.
type noticeUpdate struct {
	SessionUpdate string `json:"sessionUpdate"`
	Severity      string `json:"severity"`
	Title         string `json:"title"`
}

// notice is for clients that know notices. To others it would look like the
// model's words, so they see nothing.
func (u *updates) notice(e agent.Notice) any {
	if !u.client.notices {
		return nil
	}
	return noticeUpdate{SessionUpdate: "notice", Severity: "info", Title: e.Text}
}

// compactionUpdate is newer than the SDK.
type compactionUpdate struct {
	SessionUpdate string                    `json:"sessionUpdate"`
	CompactionID  string                    `json:"compactionId"`
	Status        string                    `json:"status"`
	Summary       []acpsdk.ContentBlockText `json:"summary,omitempty"`
	Error         string                    `json:"error,omitempty"`
}

// compaction is for clients that know compactions.
func (u *updates) compaction(e agent.CompactionChanged) any {
	if !u.client.compaction {
		return nil
	}
	update := compactionUpdate{SessionUpdate: "compaction_update", CompactionID: e.ID, Status: string(e.State)}
	if e.Summary != "" {
		update.Summary = []acpsdk.ContentBlockText{{Type: "text", Text: e.Summary}}
	}
	if e.Err != nil {
		update.Error = e.Err.Error()
	}
	return update
}

// usage tells how full the context window is, when its size is known.
func (u *updates) usage(ctx context.Context, session *agent.Session) {
	use, err := session.ContextUse(ctx)
	if err != nil {
		u.server.log.DebugContext(ctx, "context use unknown", "session_id", u.sessionID, "error", err)
		return
	}
	u.show(ctx, usageUpdate(agent.UsageChanged{Used: use.Used, Window: use.Window, CostUSD: session.CostUSD()}))
}
