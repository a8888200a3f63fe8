package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/hermes-acp/hermes-acp/agent"
)

// continues is the SQL condition that the session in alias ended because another
// one goes on with its conversation.
func continues(alias string) string {
	return `coalesce(` + alias + `.end_reason IN ('compression', 'turn_boundary_rollover', 'turn_boundary_rollover_recovered'), 0)`
}

// branches is the SQL condition that the session s does not go on with its
// parent's conversation: Hermes marks branches, delegated work and tools' sessions.
func branches() string {
	return `(s.source = 'tool' OR ` + configHas("_branched_from") + ` OR ` + configHas("_delegate_from") + `)`
}

// configHas is the SQL condition that the model_config of session s has a key.
func configHas(key string) string {
	return `coalesce(CASE WHEN json_valid(s.model_config) THEN json_extract(s.model_config, '$.` + key + `') END, '') <> ''`
}

// conversation returns the Hermes sessions that the conversation of id goes
// through: id itself and, where compaction rotated it, one child after the other.
// Errors are agent.ErrUnknownSession, or the database's.
func conversation(ctx context.Context, q queryer, id string) (ids []string, err error) {
	for {
		var rotated bool
		err := q.QueryRowContext(ctx, `SELECT `+continues("s")+` FROM sessions s WHERE id = ?`, id).Scan(&rotated)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, agent.ErrUnknownSession
		}
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
		if !rotated {
			return ids, nil
		}
		// Two children can continue one parent after a race in Hermes: the one
		// that went on itself, then one that is still open, counts.
		err = q.QueryRowContext(ctx, `SELECT id FROM sessions s WHERE parent_session_id = ? AND NOT `+branches()+`
			ORDER BY `+continues("s")+` DESC, ended_at IS NULL DESC, started_at DESC, id DESC LIMIT 1`, id).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) || slices.Contains(ids, id) {
			return ids, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// tip is the Hermes session that holds the conversation of id now. Errors are
// those of conversation.
func tip(ctx context.Context, q queryer, id string) (string, error) {
	ids, err := conversation(ctx, q, id)
	if err != nil {
		return "", err
	}
	return ids[len(ids)-1], nil
}

// root is the inverse of tip: the first Hermes session of the conversation that
// the session hermesID holds a part of.
func root(ctx context.Context, q queryer, hermesID string) (string, error) {
	for seen := []string{hermesID}; ; seen = append(seen, hermesID) {
		var parent string
		err := q.QueryRowContext(ctx, `SELECT p.id FROM sessions s JOIN sessions p ON p.id = s.parent_session_id
			WHERE s.id = ? AND NOT `+branches()+` AND `+continues("p"), hermesID).Scan(&parent)
		if errors.Is(err, sql.ErrNoRows) || slices.Contains(seen, parent) {
			return hermesID, nil
		}
		if err != nil {
			return "", err
		}
		hermesID = parent
	}
}

// Provenance says where the conversation of a session comes from. previous is the
// Hermes session that held it when the caller last looked, or empty. Errors wrap
// agent.ErrUnknownSession.
func (db *DB) Provenance(ctx context.Context, id, previous string) (agent.Provenance, error) {
	newest, err := tip(ctx, db.readers, id)
	var p agent.Provenance
	if err == nil {
		p, err = agent.TraceLineage(ctx, db.link, id, newest, previous)
	}
	if err != nil {
		return agent.Provenance{}, fmt.Errorf("trace the lineage of session %s: %w", id, explain(err))
	}
	return p, nil
}

func (db *DB) link(ctx context.Context, hermesID string) (agent.SessionLink, error) {
	links, err := selectAll(ctx, db.readers, scanLink, `SELECT `+linkColumns()+` FROM sessions s WHERE s.id = ?`, hermesID)
	if err == nil && len(links) == 0 {
		err = agent.ErrUnknownSession
	}
	if err != nil {
		return agent.SessionLink{}, err
	}
	return links[0], nil
}

func linkColumns() string {
	return `s.id, coalesce(s.parent_session_id, ''), coalesce(s.end_reason, ''), ` + branches()
}

func scanLink(rows *sql.Rows) (l agent.SessionLink, err error) {
	err = rows.Scan(&l.ID, &l.Parent, &l.EndReason, &l.Branch)
	return l, err
}

// ForkSession begins the session rec, which branches off the session from, with
// a copy of the messages of its finished turns. Errors wrap
// agent.ErrUnknownSession.
func (db *DB) ForkSession(ctx context.Context, from string, rec agent.SessionRecord) error {
	err := db.write(ctx, true, func(tx *sql.Tx) error {
		parent, err := tip(ctx, tx, from)
		if err != nil {
			return err
		}
		rows, _, err := db.activeRows(ctx, tx, parent)
		if err != nil {
			return err
		}
		if err := db.create(ctx, tx, rec, parent); err != nil {
			return err
		}
		_, err = db.insertMessages(ctx, tx, rec.ID, rec.ID, rows)
		return err
	})
	if err != nil {
		return fmt.Errorf("fork session %s: %w", from, err)
	}
	return nil
}
