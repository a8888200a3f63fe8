package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

// Segment is the part of a conversation that one Hermes session holds.
type Segment struct {
	HermesID  string
	EndReason string // why it ended, empty while it is open
	Started   time.Time
	Messages  []KeptMessage
}

// KeptMessage is a message with its place in the conversation.
type KeptMessage struct {
	agent.Message
	// PutAway marks what the model is no longer shown: compaction, or the
	// person, took it out.
	PutAway bool
}

// Transcript returns everything that is kept of a conversation, the oldest
// segment first, those that compaction left behind too. A turn that still runs is
// not part of it. Errors wrap agent.ErrUnknownSession.
func (db *DB) Transcript(ctx context.Context, id string) ([]Segment, error) {
	segments, err := db.transcript(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read the transcript of session %s: %w", id, explain(err))
	}
	return segments, nil
}

func (db *DB) transcript(ctx context.Context, id string) ([]Segment, error) {
	ids, err := conversation(ctx, db.readers, id)
	if err != nil {
		return nil, err
	}
	segments := make([]Segment, len(ids))
	for i, hermesID := range ids {
		s := &segments[i]
		var started float64
		err := db.readers.QueryRowContext(ctx, `SELECT id, coalesce(end_reason, ''), started_at FROM sessions WHERE id = ?`, hermesID).Scan(&s.HermesID, &s.EndReason, &started)
		if err != nil {
			return nil, err
		}
		s.Started = fromSeconds(started)
		if s.Messages, err = selectAll(ctx, db.readers, scanKept, db.selectMessages(""), hermesID); err != nil {
			return nil, err
		}
	}
	return segments, nil
}

func scanKept(rows *sql.Rows) (m KeptMessage, err error) {
	r, err := scanRow(rows)
	if err != nil {
		return m, err
	}
	m.PutAway = r.putAway
	m.Message, _ = r.message() // of a damaged row people see what can be read
	return m, nil
}

// Relative is a Hermes session in the family of another one: of the same oldest
// ancestor.
type Relative struct {
	agent.SessionLink
	Title    string
	Started  time.Time
	Messages int
}

// Family returns the oldest ancestor of a conversation and all that descends from
// it, by their start. Errors wrap agent.ErrUnknownSession.
func (db *DB) Family(ctx context.Context, id string) ([]Relative, error) {
	p, err := db.Provenance(ctx, id, "")
	if err != nil {
		return nil, err
	}
	family, err := selectAll(ctx, db.readers, func(rows *sql.Rows) (r Relative, err error) {
		var started float64
		err = rows.Scan(&r.ID, &r.Parent, &r.EndReason, &r.Branch, &r.Title, &started, &r.Messages)
		r.Started = fromSeconds(started)
		return r, err
	}, `WITH RECURSIVE family (id) AS (
			SELECT ? UNION SELECT s.id FROM family JOIN sessions s ON s.parent_session_id = family.id)
		SELECT `+linkColumns()+`, coalesce(s.title, ''), s.started_at, (SELECT count(*) FROM messages m WHERE m.session_id = s.id)
		FROM family JOIN sessions s ON s.id = family.id ORDER BY s.started_at, s.id`, p.Root)
	if err != nil {
		return nil, fmt.Errorf("read the family of session %s: %w", id, explain(err))
	}
	return family, nil
}
