package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hermes-acp/hermes-acp/agent"
)

// Messages returns the messages of a session that a model is shown, oldest
// first: those that compaction has not put away, and those of a turn that still
// runs. A turn of a process that died is completed first. What is missing between
// messages that another program wrote, such as the result of a call, is filled in,
// so that a model accepts them.
func (db *DB) Messages(ctx context.Context, id string) ([]agent.Message, error) {
	msgs, err := db.messages(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read the messages of session %s: %w", id, explain(err))
	}
	return msgs, nil
}

func (db *DB) messages(ctx context.Context, id string) ([]agent.Message, error) {
	if err := db.completeIfDead(ctx, id); err != nil {
		return nil, err
	}
	// One transaction, so that a turn which ends meanwhile is seen once.
	tx, err := db.readers.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // it only read
	newest, err := tip(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	rows, last, err := db.activeRows(ctx, tx, newest)
	if err != nil {
		return nil, err
	}
	running, err := turnRows(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	db.setSeen(id, last)
	msgs := fillGaps(db.decodeRows(ctx, append(rows, running...)))
	if len(running) == 0 {
		msgs = append(msgs, closeHistory(msgs)...)
	}
	return msgs, nil
}

// activeRows reads the messages of one Hermes session and returns the id of the
// last, compacted ones included.
func (db *DB) activeRows(ctx context.Context, q queryer, hermesID string) (rows []row, last int64, err error) {
	if last, err = lastMessage(ctx, q, hermesID); err != nil {
		return nil, 0, err
	}
	active := ""
	if db.cols.has("messages", "active") {
		active = "AND m.active IS NOT 0"
	}
	rows, err = selectAll(ctx, q, scanRow, db.selectMessages(active), hermesID)
	return rows, last, err
}

// selectMessages reads the rows of one Hermes session, as far as the file has
// the columns, that meet a further condition.
func (db *DB) selectMessages(and string) string {
	reasoning, putAway := "NULL", "0"
	switch {
	case db.cols.has("messages", "reasoning") && db.cols.has("messages", "reasoning_content"):
		reasoning = "coalesce(nullif(m.reasoning_content, ''), m.reasoning)"
	case db.cols.has("messages", "reasoning"):
		reasoning = "m.reasoning"
	}
	if db.cols.has("messages", "active") {
		putAway = "m.active IS 0"
	}
	return `SELECT m.role, m.content, m.tool_call_id, m.tool_calls, m.tool_name, ` + reasoning + `, m.timestamp, ` + putAway + `,
		coalesce(a.failed, 0), coalesce(a.authored, 0), coalesce(a.interrupted, 0), coalesce(a.summary, 0), a.images
		FROM messages m LEFT JOIN acp_messages a ON a.message_id = m.id
		WHERE m.session_id = ? AND m.role IN ('system', 'user', 'assistant', 'tool') ` + and + ` ORDER BY m.id`
}

func scanRow(rows *sql.Rows) (r row, err error) {
	var images []byte
	err = rows.Scan(&r.Role, &r.Content, &r.ToolCallID, &r.ToolCalls, &r.ToolName, &r.Reasoning, &r.Timestamp, &r.putAway,
		&r.Failed, &r.Authored, &r.Interrupted, &r.Summary, &images)
	if err == nil && images != nil {
		err = json.Unmarshal(images, &r.Images)
	}
	return r, err
}

// insertMessages adds rows to Hermes' table, keeps its counters and our index of
// conversations, and returns the id of the last row.
func (db *DB) insertMessages(ctx context.Context, tx *sql.Tx, id, hermesID string, rows []row) (last int64, err error) {
	if len(rows) == 0 {
		return lastMessage(ctx, tx, hermesID)
	}
	names := "session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp"
	reasoning := db.cols.has("messages", "reasoning")
	if reasoning {
		names += ", reasoning"
	}
	n := 7
	if reasoning {
		n++
	}
	insert, err := tx.PrepareContext(ctx, "INSERT INTO messages ("+names+") VALUES ("+placeholders(n)+")")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	var first int64
	calls := 0
	for _, r := range rows {
		args := []any{hermesID, r.Role, r.Content, r.ToolCallID, r.ToolCalls, r.ToolName, r.Timestamp, r.Reasoning}
		result, err := insert.ExecContext(ctx, args[:n]...)
		if err != nil {
			return 0, err
		}
		if last, err = result.LastInsertId(); err != nil {
			return 0, err
		}
		if first == 0 {
			first = last
		}
		if err := insertMarks(ctx, tx, last, r); err != nil {
			return 0, err
		}
		if r.ToolCalls != nil {
			made, err := decodeToolCalls(*r.ToolCalls)
			if err != nil {
				return 0, err
			}
			calls += len(made)
		}
	}
	_, err = tx.ExecContext(ctx, `UPDATE sessions SET message_count = message_count + ?, tool_call_count = tool_call_count + ? WHERE id = ?`,
		len(rows), calls, hermesID)
	if err != nil {
		return 0, err
	}
	return last, touch(ctx, tx, id, rows[len(rows)-1].Timestamp, first, last)
}

// insertMarks keeps what has no place in Hermes' row of a message.
func insertMarks(ctx context.Context, tx *sql.Tx, messageID int64, r row) error {
	if r.marks == (marks{}) && r.Images == nil {
		return nil
	}
	var images *string
	if r.Images != nil {
		text, err := marshal(r.Images)
		if err != nil {
			return err
		}
		images = optional(string(text))
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO acp_messages (message_id, failed, authored, interrupted, summary, images) VALUES (?, ?, ?, ?, ?, ?)`,
		messageID, r.Failed, r.Authored, r.Interrupted, r.Summary, images)
	return err
}

// touch moves a conversation to the top of the list. When nobody else has added
// messages before first, the list has now taken all up to last into account.
func touch(ctx context.Context, tx *sql.Tx, id string, active float64, first, last int64) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO acp_sessions (id, active_at) VALUES (?, ?)
		ON CONFLICT (id) DO UPDATE SET active_at = excluded.active_at`, id, active)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE acp_seen SET message_id = ? WHERE message_id = ?`, last, first-1)
	return err
}
