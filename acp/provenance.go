package acp

import (
	"context"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/agent"
)

// provenanceMeta is the `_meta` that tells which Hermes session holds a
// conversation, as Hermes' own adapter spells it.
func provenanceMeta(p agent.Provenance) map[string]any {
	fields := map[string]any{
		"acpSessionId":           p.SessionID,
		"currentHermesSessionId": p.Current,
		"rootHermesSessionId":    p.Root,
		"parentHermesSessionId":  nil,
		"sessionKind":            p.Kind,
		"compressionDepth":       p.CompressionDepth,
	}
	for key, value := range map[string]string{
		"parentHermesSessionId":   p.Parent,
		"previousHermesSessionId": p.Previous,
		"reason":                  p.Reason,
		"creatorKind":             p.Creator,
	} {
		if value != "" {
			fields[key] = value
		}
	}
	return map[string]any{"hermes": map[string]any{"sessionProvenance": fields}}
}

// firstProvenance is the lineage of a session that was just made: there is none.
func firstProvenance(sessionID string) agent.Provenance {
	return agent.Provenance{SessionID: sessionID, Current: sessionID, Root: sessionID, Kind: agent.KindRoot}
}

// provenance returns the `_meta` of a session for a response. A session whose
// lineage cannot be read has none.
func (s *server) provenance(ctx context.Context, session *agent.Session) map[string]any {
	p, err := session.Provenance(ctx, "")
	if err != nil {
		s.log.WarnContext(ctx, "provenance unknown", "session_id", session.ID(), "error", err)
		return nil
	}
	return s.telling(p)
}

// telling remembers what the client is told about a session.
func (s *server) telling(p agent.Provenance) map[string]any {
	v := s.view(p.SessionID)
	v.gate.Lock()
	defer v.gate.Unlock()
	v.hermesID = p.Current
	return provenanceMeta(p)
}

// rotation tells that another Hermes session holds the conversation now; nil
// when it is still the same. The caller holds the view's gate.
func (u *updates) rotation(ctx context.Context) any {
	before := u.view.hermesID
	p, err := u.server.agent.Session(u.sessionID).Provenance(ctx, before)
	if err != nil || p.Current == before {
		return nil
	}
	u.view.hermesID = p.Current
	return acpsdk.SessionSessionInfoUpdate{SessionUpdate: "session_info_update", Meta: provenanceMeta(p)}
}
