package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

// What stands where a turn was cut off. The first is a tool message, the second
// an authored assistant message.
const (
	noResult = "This call did not complete: hermes-acp ended before its result came."
	noAnswer = "This turn did not complete: hermes-acp ended before the answer came."
)

// fillGaps puts in what is missing between the messages of a history: a result
// for each call, and an answer between two turns. Results without a call are left
// out. What is open at the end stays open, since it may be running.
func fillGaps(msgs []agent.Message) []agent.Message {
	filled := make([]agent.Message, 0, len(msgs))
	var open []agent.ToolCall // without a result so far
	answered := true          // the last user message has an answer
	for _, m := range msgs {
		if m.Role == agent.RoleTool {
			i := indexOfCall(open, m.ToolCallID)
			if i < 0 {
				continue
			}
			open = append(open[:i:i], open[i+1:]...)
			filled = append(filled, m)
			continue
		}
		for _, c := range open {
			filled = append(filled, failedResult(c, m.Time))
		}
		if m.Role == agent.RoleUser && !answered && filled[len(filled)-1].Role == agent.RoleUser {
			filled = append(filled, authoredAnswer(m.Time))
		}
		open = m.ToolCalls
		answered = m.Role != agent.RoleUser
		filled = append(filled, m)
	}
	return filled
}

func indexOfCall(calls []agent.ToolCall, id string) int {
	for i, c := range calls {
		if c.ID == id {
			return i
		}
	}
	return -1
}

func failedResult(c agent.ToolCall, when time.Time) agent.Message {
	m := agent.TextMessage(agent.RoleTool, noResult)
	m.ToolCallID, m.ToolName, m.Failed, m.Time = c.ID, c.Name, true, when
	return m
}

func authoredAnswer(when time.Time) agent.Message {
	m := agent.TextMessage(agent.RoleAssistant, noAnswer)
	m.Authored, m.Time = true, when
	return m
}

// closeHistory returns what has to follow the messages of a turn whose process
// died, so that a model accepts them: a result for each call that has none, and
// an answer. The part of an answer that was kept closes the turn by itself.
func closeHistory(msgs []agent.Message) []agent.Message {
	var closing []agent.Message
	var open []agent.ToolCall
	for _, m := range msgs {
		if m.Role != agent.RoleTool {
			open = m.ToolCalls
		} else if i := indexOfCall(open, m.ToolCallID); i >= 0 {
			open = append(open[:i:i], open[i+1:]...)
		}
	}
	if len(msgs) == 0 {
		return nil
	}
	last := msgs[len(msgs)-1]
	for _, c := range open {
		closing = append(closing, failedResult(c, last.Time))
	}
	if len(closing) > 0 || last.Role == agent.RoleUser || last.Role == agent.RoleTool {
		closing = append(closing, authoredAnswer(last.Time))
	}
	return closing
}

// closeTail closes what another program, such as Hermes when it crashed, left
// open at the end of a Hermes session. last is the id of its last message.
func (db *DB) closeTail(ctx context.Context, tx *sql.Tx, id, hermesID string, last int64) error {
	var open bool
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM messages WHERE id = ? AND (role IN ('user', 'tool') OR tool_calls IS NOT NULL))`, last).Scan(&open)
	if err != nil || !open {
		return err
	}
	rows, _, err := db.activeRows(ctx, tx, hermesID)
	if err != nil {
		return err
	}
	closing, err := db.closingRows(ctx, rows)
	if err != nil {
		return err
	}
	_, err = db.insertMessages(ctx, tx, id, hermesID, closing)
	return err
}

// completeIfDead completes the turn of a process that died, if there is one.
func (db *DB) completeIfDead(ctx context.Context, id string) error {
	var running bool
	err := db.readers.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM acp_turn WHERE session_id = ?)`, id).Scan(&running)
	if err != nil || !running {
		return err
	}
	select {
	case <-db.writing:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { db.writing <- struct{}{} }()
	if db.turns[id] != nil {
		return nil // it runs here
	}
	l, err := lock(db.lockDir, id)
	if errors.Is(err, errLocked) {
		return nil // it runs in another process
	}
	if err != nil {
		return err
	}
	defer l.unlock()
	return db.completeDeadTurn(ctx, id)
}
