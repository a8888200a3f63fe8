package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

// Compact makes msgs the messages that Messages returns; the earlier ones, those
// of a running turn too, stay in the file and are still found by Search. Unless
// inPlace is set, or when it is and the file is of a Hermes that cannot put
// messages away, the conversation goes on in a new Hermes session, a child of the
// old one, which ends with the reason "compression". The client's id stays.
func (db *DB) Compact(ctx context.Context, id string, msgs []agent.Message, inPlace bool) error {
	rows, err := encodeRows(msgs)
	if err == nil {
		err = db.withTurn(ctx, id, func(t *openTurn) error { return db.compact(ctx, id, t, rows, inPlace) })
	}
	if err != nil {
		return fmt.Errorf("compact session %s: %w", id, err)
	}
	return nil
}

func (db *DB) compact(ctx context.Context, id string, t *openTurn, rows []row, inPlace bool) error {
	var last int64
	err := db.writeLocked(ctx, true, func(tx *sql.Tx) (err error) {
		if _, err := db.settle(ctx, tx, id, nil); err != nil {
			return err
		}
		newest, err := tip(ctx, tx, id)
		if err != nil {
			return err
		}
		if inPlace && db.cols.has("messages", "active") && db.cols.has("messages", "compacted") {
			err = putAway(ctx, tx, newest)
		} else {
			newest, err = db.rotate(ctx, tx, newest)
		}
		if err != nil {
			return err
		}
		last, err = db.insertMessages(ctx, tx, id, newest, rows)
		return err
	})
	if err != nil {
		return err
	}
	db.setSeen(id, last)
	if !t.rows { // no turn runs
		db.closeTurn(id)
	}
	t.partial = false
	return nil
}

// putAway hides a session's messages from the model.
func putAway(ctx context.Context, tx *sql.Tx, hermesID string) error {
	if _, err := tx.ExecContext(ctx, `UPDATE messages SET active = 0, compacted = 1 WHERE session_id = ? AND active IS NOT 0`, hermesID); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE sessions SET message_count = 0, tool_call_count = 0 WHERE id = ?`, hermesID)
	return err
}

// rotate ends a Hermes session and begins the one that goes on with its
// conversation, its settings and its title.
func (db *DB) rotate(ctx context.Context, tx *sql.Tx, hermesID string) (child string, err error) {
	var title sql.NullString
	if err := tx.QueryRowContext(ctx, `SELECT title FROM sessions WHERE id = ?`, hermesID).Scan(&title); err != nil {
		return "", err
	}
	now := seconds(time.Now())
	_, err = tx.ExecContext(ctx, `UPDATE sessions SET ended_at = ?, end_reason = 'compression', title = NULL WHERE id = ?`, now, hermesID)
	if err != nil {
		return "", err
	}
	cwd := ""
	if db.cols.has("sessions", "cwd") {
		cwd = ", cwd"
	}
	child = agent.NewID()
	// The child goes on with the conversation, it does not branch off.
	_, err = tx.ExecContext(ctx, `INSERT INTO sessions (id, source, model, model_config, parent_session_id, started_at, message_count, tool_call_count`+cwd+`)
		SELECT ?, source, model, CASE WHEN json_valid(model_config) THEN json_remove(model_config, '$._branched_from') END, id, ?, 0, 0`+cwd+`
		FROM sessions WHERE id = ?`, child, now, hermesID)
	if err != nil {
		return "", err
	}
	_, err = setTitle(ctx, tx, child, title.String)
	return child, err
}
