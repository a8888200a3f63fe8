package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hermes-acp/hermes-acp/agent"
)

// openTurn is a turn that this process runs: it has rows in acp_turn, and holds
// the session's lock.
type openTurn struct {
	lock    *lockFile
	rows    bool // there are rows
	partial bool // one of them is partial
}

// Append adds messages at the end of a session. The first one opens a turn and
// takes the session for this process; final closes it. When final is true
// everything the turn brought is on disk, through a crash of the machine, before
// Append returns; otherwise it survives the death of this process. Errors wrap
// agent.ErrUnknownSession, agent.ErrSessionRunning when another process runs the
// session and does not end soon, agent.ErrSessionMoved when one has added to it
// since it was read here, and the causes of a failed write.
func (db *DB) Append(ctx context.Context, id string, final bool, msgs ...agent.Message) error {
	rows, err := encodeRows(msgs)
	if err == nil {
		err = db.withTurn(ctx, id, func(t *openTurn) error { return db.appendRows(ctx, id, t, final, rows) })
	}
	if err != nil {
		return fmt.Errorf("save messages of session %s: %w", id, err)
	}
	return nil
}

// SavePartial keeps what has been streamed of an answer, in place of what it kept
// before, until Append adds the whole of it. It costs one small write whatever
// came before.
func (db *DB) SavePartial(ctx context.Context, id string, msg agent.Message) error {
	msg.Interrupted = true // unless the whole of it follows
	rows, err := encodeRows([]agent.Message{msg})
	if err == nil {
		err = db.withTurn(ctx, id, func(t *openTurn) error {
			err := db.writeLocked(ctx, false, func(tx *sql.Tx) error { return insertTurnRow(ctx, tx, id, rows[0], true) })
			if err == nil {
				t.rows, t.partial = true, true
			}
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("save a partial answer of session %s: %w", id, err)
	}
	return nil
}

func encodeRows(msgs []agent.Message) ([]row, error) {
	rows := make([]row, len(msgs))
	for i, m := range msgs {
		var err error
		if rows[i], err = encodeRow(m); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// withTurn runs fn as the writer, with the session's turn open.
func (db *DB) withTurn(ctx context.Context, id string, fn func(*openTurn) error) error {
	return db.whileRunning(ctx, func() error { return db.tryWithTurn(ctx, id, fn) })
}

// tryWithTurn is withTurn for a session that no other process runs.
func (db *DB) tryWithTurn(ctx context.Context, id string, fn func(*openTurn) error) error {
	select {
	case <-db.writing:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { db.writing <- struct{}{} }()
	t := db.turns[id]
	if t == nil {
		var err error
		if t, err = db.openTurn(ctx, id); err != nil {
			return err
		}
		db.turns[id] = t
	}
	err := fn(t)
	if err != nil && !t.rows {
		db.closeTurn(id)
	}
	return err
}

// openTurn takes the session, and completes a turn that a dead process left in it.
func (db *DB) openTurn(ctx context.Context, id string) (_ *openTurn, err error) {
	l, err := lock(db.lockDir, id)
	if errors.Is(err, errLocked) {
		return nil, agent.ErrSessionRunning
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.unlock()
		}
	}()
	if err := db.completeDeadTurn(ctx, id); err != nil { // which may move the session
		return nil, err
	}
	var moved bool
	err = db.writeLocked(ctx, false, func(tx *sql.Tx) error {
		newest, err := tip(ctx, tx, id)
		if err != nil {
			return err
		}
		last, err := lastMessage(ctx, tx, newest)
		if err != nil {
			return err
		}
		if moved = db.moved(id, last); moved {
			return nil
		}
		if err := db.closeTail(ctx, tx, id, newest, last); err != nil {
			return err
		}
		return reopen(ctx, tx, newest)
	})
	if err == nil && moved {
		err = agent.ErrSessionMoved
	}
	if err != nil {
		return nil, err
	}
	return &openTurn{lock: l}, nil
}

// moved reports whether others have added to a session since this process, which
// knows it, has read or written it. last is its newest message now.
func (db *DB) moved(id string, last int64) bool {
	db.seenMu.Lock()
	defer db.seenMu.Unlock()
	seen, known := db.seen[id]
	return known && seen != last
}

func (db *DB) setSeen(id string, last int64) {
	db.seenMu.Lock()
	defer db.seenMu.Unlock()
	db.seen[id] = last
}

func lastMessage(ctx context.Context, q queryer, hermesID string) (last int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM messages WHERE session_id = ?`, hermesID).Scan(&last)
	return last, err
}

func (db *DB) appendRows(ctx context.Context, id string, t *openTurn, final bool, rows []row) error {
	var last int64
	err := db.writeLocked(ctx, final, func(tx *sql.Tx) (err error) {
		if t.partial {
			if _, err := tx.ExecContext(ctx, `DELETE FROM acp_turn WHERE session_id = ? AND partial`, id); err != nil {
				return err
			}
		}
		if final {
			last, err = db.settle(ctx, tx, id, rows)
			return err
		}
		for _, r := range rows {
			if err := insertTurnRow(ctx, tx, id, r, false); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	t.rows, t.partial = true, false
	if final {
		db.setSeen(id, last)
		db.closeTurn(id)
	}
	return nil
}

// closeTurn lets other processes have the session. The caller holds the writing
// token.
func (db *DB) closeTurn(id string) {
	db.turns[id].lock.unlock()
	delete(db.turns, id)
}

// abandonTurn is closeTurn for a session that is done with here, in case its turn
// could not be saved to its end, as when the disk was full. The caller holds the
// writing token.
func (db *DB) abandonTurn(id string) {
	if db.turns[id] != nil {
		db.closeTurn(id)
	}
}

func insertTurnRow(ctx context.Context, tx *sql.Tx, id string, r row, partial bool) error {
	text, err := marshal(r)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO acp_turn (session_id, message, partial) VALUES (?, ?, ?)
		ON CONFLICT (session_id) WHERE partial DO UPDATE SET message = excluded.message`, id, string(text), partial)
	return err
}

// settle moves the rows of a session's turn to Hermes' table, further rows behind
// them, and returns the id of the last.
func (db *DB) settle(ctx context.Context, tx *sql.Tx, id string, further []row) (last int64, err error) {
	rows, err := turnRows(ctx, tx, id)
	if err != nil {
		return 0, err
	}
	newest, err := tip(ctx, tx, id)
	if err != nil {
		return 0, err
	}
	if last, err = db.insertMessages(ctx, tx, id, newest, append(rows, further...)); err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM acp_turn WHERE session_id = ?`, id)
	return last, err
}

func turnRows(ctx context.Context, q queryer, id string) ([]row, error) {
	return selectAll(ctx, q, func(rows *sql.Rows) (r row, err error) {
		var text []byte
		if err := rows.Scan(&text); err != nil {
			return r, err
		}
		if err := json.Unmarshal(text, &r); err != nil {
			return r, fmt.Errorf("decode a message of the running turn: %w", err)
		}
		return r, nil
	}, `SELECT message FROM acp_turn WHERE session_id = ? ORDER BY partial, seq`, id)
}

// completeDeadTurn makes the turn of a process that died part of the history,
// closed so that a model accepts it. The caller holds the session's lock and the
// writing token.
func (db *DB) completeDeadTurn(ctx context.Context, id string) error {
	var dead bool
	err := db.writer.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM acp_turn WHERE session_id = ?)`, id).Scan(&dead)
	if err != nil || !dead {
		return err
	}
	return db.writeLocked(ctx, true, func(tx *sql.Tx) error {
		rows, err := turnRows(ctx, tx, id)
		if err != nil {
			return err
		}
		closing, err := db.closingRows(ctx, rows)
		if err != nil {
			return err
		}
		_, err = db.settle(ctx, tx, id, closing)
		return err
	})
}

func (db *DB) closingRows(ctx context.Context, rows []row) ([]row, error) {
	return encodeRows(closeHistory(db.decodeRows(ctx, rows)))
}

// decodeRows takes what can be read of damaged rows: one of them must not keep a
// whole conversation shut.
func (db *DB) decodeRows(ctx context.Context, rows []row) []agent.Message {
	msgs := make([]agent.Message, len(rows))
	for i, r := range rows {
		var err error
		if msgs[i], err = r.message(); err != nil {
			db.log.WarnContext(ctx, "a stored message is damaged", "role", r.Role, "error", err)
		}
	}
	return msgs
}
