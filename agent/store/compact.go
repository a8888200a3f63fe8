package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
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
// conversation and its title.
func (db *DB) rotate(ctx context.Context, tx *sql.Tx, hermesID string) (child string, err error) {
	var model, config, title sql.NullString
	err = tx.QueryRowContext(ctx, `SELECT model, model_config, title FROM sessions WHERE id = ?`, hermesID).Scan(&model, &config, &title)
	if err != nil {
		return "", err
	}
	var settings sessionConfig
	if config.Valid {
		if err := json.Unmarshal([]byte(config.String), &settings); err != nil {
			return "", fmt.Errorf("decode the settings of session %s: %w", hermesID, err)
		}
	}
	settings.BranchedFrom = "" // the child goes on, it does not branch off
	now := time.Now()
	_, err = tx.ExecContext(ctx, `UPDATE sessions SET ended_at = ?, end_reason = 'compression', title = NULL WHERE id = ?`, seconds(now), hermesID)
	if err != nil {
		return "", err
	}
	child = newHermesID()
	err = db.insertSession(ctx, tx, hermesSession{id: child, parent: hermesID, model: model.String, config: settings, started: now})
	if err != nil {
		return "", err
	}
	_, err = setTitle(ctx, tx, child, title.String)
	return child, err
}

// newHermesID returns a random UUID, version 4.
func newHermesID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}
