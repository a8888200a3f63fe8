package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/hermes-acp/hermes-acp/agent"
)

// DeleteSession removes a conversation: every Hermes session that holds a part of
// it, their messages, search entries and actions, and the work it delegated.
// Forks stay and become sessions without a parent. Deleting one that does not
// exist is no error. Errors wrap agent.ErrSessionRunning while another process runs a
// turn; here none may run.
func (db *DB) DeleteSession(ctx context.Context, id string) error {
	if err := db.whileRunning(ctx, func() error { return db.deleteSession(ctx, id) }); err != nil {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	return nil
}

func (db *DB) deleteSession(ctx context.Context, id string) error {
	select {
	case <-db.writing:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { db.writing <- struct{}{} }()
	db.abandonTurn(id)
	l, err := lock(db.lockDir, id)
	if errors.Is(err, errLocked) {
		return agent.ErrSessionRunning
	}
	if err != nil {
		return err
	}
	defer l.unlock()
	return db.writeLocked(ctx, true, func(tx *sql.Tx) error {
		doomed, err := partsOf(ctx, tx, id)
		if err != nil {
			return err
		}
		for _, part := range doomed {
			if err := deletePart(ctx, tx, part); err != nil {
				return err
			}
		}
		return nil
	})
}

// partsOf returns an editor's session, what goes on with its conversation, and what it
// delegated.
func partsOf(ctx context.Context, tx *sql.Tx, id string) (ids []string, err error) {
	return selectAll(ctx, tx, scanText, `WITH RECURSIVE part (id) AS (
			SELECT id FROM sessions WHERE id = ? AND source = ?
			UNION
			SELECT s.id FROM part JOIN sessions p ON p.id = part.id JOIN sessions s ON s.parent_session_id = p.id
			WHERE (`+continues("p")+` AND NOT `+branches()+`) OR `+configHas("_delegate_from")+`)
		SELECT id FROM part`, id, source)
}

func deletePart(ctx context.Context, tx *sql.Tx, hermesID string) error {
	for _, statement := range []string{
		`UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?`,
		`DELETE FROM acp_messages WHERE message_id IN (SELECT id FROM messages WHERE session_id = ?)`,
		`DELETE FROM messages WHERE session_id = ?`, // its triggers clear the search indexes
		`DELETE FROM acp_turn WHERE session_id = ?`,
		`DELETE FROM acp_actions WHERE session_id = ?`,
		`DELETE FROM acp_sessions WHERE id = ?`,
		`DELETE FROM sessions WHERE id = ?`,
	} {
		if _, err := tx.ExecContext(ctx, statement, hermesID); err != nil {
			return err
		}
	}
	return nil
}
