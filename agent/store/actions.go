package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/hermes-acp/hermes-acp/agent"
)

// RecordAction keeps what a tool call did, without what looks like a secret.
func (db *DB) RecordAction(ctx context.Context, a agent.Action) error {
	paths, err := marshal(nonNil(a.Paths))
	if err == nil {
		err = db.write(ctx, false, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO acp_actions (session_id, call_id, tool, paths, command, granted_by, failure, started_at, ended_at)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				a.SessionID, a.CallID, a.Tool, string(paths), redact(a.Command), string(a.Grant), redact(a.Failure), seconds(a.Started), seconds(a.Ended))
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("record an action of session %s: %w", a.SessionID, err)
	}
	return nil
}

// Actions returns what the tool calls of a session did, oldest first.
func (db *DB) Actions(ctx context.Context, id string) ([]agent.Action, error) {
	actions, err := db.actions(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read the actions of session %s: %w", id, explain(err))
	}
	return actions, nil
}

func (db *DB) actions(ctx context.Context, id string) ([]agent.Action, error) {
	return selectAll(ctx, db.readers, func(rows *sql.Rows) (agent.Action, error) {
		a := agent.Action{SessionID: id}
		var paths []byte
		var started, ended float64
		if err := rows.Scan(&a.CallID, &a.Tool, &paths, &a.Command, &a.Grant, &a.Failure, &started, &ended); err != nil {
			return a, err
		}
		if err := json.Unmarshal(paths, &a.Paths); err != nil {
			return a, fmt.Errorf("decode the paths of call %s: %w", a.CallID, err)
		}
		a.Started, a.Ended = fromSeconds(started), fromSeconds(ended)
		return a, nil
	}, `SELECT call_id, tool, paths, command, granted_by, failure, started_at, ended_at FROM acp_actions WHERE session_id = ? ORDER BY id`, id)
}
