package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/hermes-acp/hermes-acp/agent"
)

// maxLineage bounds every walk along parents and children.
const maxLineage = 100

// continues is the SQL condition that a session ended because another one goes
// on with its conversation.
const continues = `end_reason IN ('compression', 'turn_boundary_rollover', 'turn_boundary_rollover_recovered')`

// notBranch is the SQL condition that a child goes on with its parent's
// conversation: branches, delegated work and tools' sessions have marks of their
// own.
const notBranch = `source <> 'tool' AND coalesce(CASE WHEN json_valid(model_config) THEN
	coalesce(json_extract(model_config, '$._branched_from'), json_extract(model_config, '$._delegate_from')) END, '') = ''`

// tip returns the Hermes session that the conversation of id goes on in: id
// itself until compaction rotated it. Errors are agent.ErrUnknownSession, or the
// database's.
func tip(ctx context.Context, q queryer, id string) (string, error) {
	for range maxLineage {
		var rotated bool
		err := q.QueryRowContext(ctx, `SELECT coalesce(`+continues+`, 0) FROM sessions WHERE id = ?`, id).Scan(&rotated)
		if errors.Is(err, sql.ErrNoRows) {
			return "", agent.ErrUnknownSession
		}
		if err != nil || !rotated {
			return id, err
		}
		// Two children can continue one parent after a race in Hermes: the one
		// that went on itself, then one that is still open, counts.
		var child string
		err = q.QueryRowContext(ctx, `SELECT id FROM sessions WHERE parent_session_id = ? AND `+notBranch+`
			ORDER BY coalesce(`+continues+`, 0) DESC, ended_at IS NULL DESC, started_at DESC, id DESC LIMIT 1`, id).Scan(&child)
		if errors.Is(err, sql.ErrNoRows) {
			return id, nil
		}
		if err != nil {
			return "", err
		}
		id = child
	}
	return id, nil
}
