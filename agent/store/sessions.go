package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

// source is Hermes' name for sessions of editors. Sessions of other sources
// (its command line, its chat gateways) are searched but not opened.
const source = "acp"

// endReason marks a session whose client closed it or went away. It is one that
// Hermes itself uses.
const endReason = "user_exit"

// CreateSession adds a session. See SetTitle for its title.
func (db *DB) CreateSession(ctx context.Context, rec agent.SessionRecord) error {
	err := db.write(ctx, false, func(tx *sql.Tx) error { return db.create(ctx, tx, rec, "") })
	if err != nil {
		return fmt.Errorf("create session %s: %w", rec.ID, err)
	}
	db.setSeen(rec.ID, 0)
	return nil
}

// create adds a session, which branches off another one when that is not empty.
func (db *DB) create(ctx context.Context, tx *sql.Tx, rec agent.SessionRecord, branchedFrom string) error {
	started := rec.CreatedAt
	if started.IsZero() {
		started = time.Now()
	}
	if err := db.insertSession(ctx, tx, rec, started, branchedFrom); err != nil {
		return err
	}
	if rec.Title != "" { // a new session mostly has none, and many are opened at once
		if _, err := setTitle(ctx, tx, rec.ID, rec.Title); err != nil {
			return err
		}
	}
	return putRecord(ctx, tx, rec)
}

// sessionConfig is what Hermes' own adapter keeps of an editor's session in the
// model_config column, and how it tells branches from continuations.
type sessionConfig struct {
	Cwd          string `json:"cwd"`
	BranchedFrom string `json:"_branched_from,omitempty"`
}

func (db *DB) insertSession(ctx context.Context, tx *sql.Tx, rec agent.SessionRecord, started time.Time, branchedFrom string) error {
	config, err := marshal(sessionConfig{Cwd: rec.Cwd, BranchedFrom: branchedFrom})
	if err != nil {
		return err
	}
	names := "id, source, model, model_config, parent_session_id, started_at, message_count, tool_call_count"
	args := []any{rec.ID, source, optional(rec.Model), string(config), optional(branchedFrom), seconds(started), 0, 0}
	if db.cols.has("sessions", "cwd") {
		names += ", cwd"
		args = append(args, rec.Cwd)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO sessions ("+names+") VALUES ("+placeholders(len(args))+")", args...)
	return err
}

func placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

func putRecord(ctx context.Context, tx *sql.Tx, rec agent.SessionRecord) error {
	dirs, err := marshal(nonNil(rec.Dirs))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO acp_sessions (id, cwd, dirs, mode, model, effort) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET cwd = excluded.cwd, dirs = excluded.dirs, mode = excluded.mode, model = excluded.model, effort = excluded.effort`,
		rec.ID, rec.Cwd, string(dirs), string(rec.Mode), rec.Model, rec.Effort)
	return err
}

func nonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// Session returns the record of a session that an editor began, here or in
// Hermes. Errors wrap agent.ErrUnknownSession.
func (db *DB) Session(ctx context.Context, id string) (agent.SessionRecord, error) {
	rec, err := db.record(ctx, id)
	if err != nil {
		return agent.SessionRecord{}, fmt.Errorf("read session %s: %w", id, explain(err))
	}
	return rec, nil
}

func (db *DB) record(ctx context.Context, id string) (agent.SessionRecord, error) {
	newest, err := tip(ctx, db.readers, id)
	if err != nil {
		return agent.SessionRecord{}, err
	}
	var r recordRow
	err = db.readers.QueryRowContext(ctx, `SELECT `+recordColumns()+` FROM sessions s LEFT JOIN acp_sessions a ON a.id = s.id WHERE s.id = ?`, id).Scan(r.targets()...)
	if err != nil {
		return agent.SessionRecord{}, err
	}
	if r.source != source {
		return agent.SessionRecord{}, agent.ErrUnknownSession
	}
	if newest != id {
		if err := db.readers.QueryRowContext(ctx, `SELECT title FROM sessions WHERE id = ?`, newest).Scan(&r.title); err != nil {
			return agent.SessionRecord{}, err
		}
	}
	return r.record()
}

// recordColumns are what recordRow holds, of sessions s and acp_sessions a.
func recordColumns() string {
	return `s.id, s.source, s.title, s.model_config, s.started_at, coalesce(s.parent_session_id, ''), ` + continues("s") + `,
		a.cwd, a.dirs, a.mode, a.model, a.effort, a.active_at`
}

// recordRow is a session in the columns of both tables.
type recordRow struct {
	id, source                     string
	title, config                  sql.NullString
	started                        float64
	parent                         string
	rotated                        bool // the conversation goes on in a child
	cwd, dirs, mode, model, effort sql.NullString
	active                         sql.NullFloat64
}

func (r *recordRow) targets() []any {
	return []any{&r.id, &r.source, &r.title, &r.config, &r.started, &r.parent, &r.rotated, &r.cwd, &r.dirs, &r.mode, &r.model, &r.effort, &r.active}
}

func (r *recordRow) record() (agent.SessionRecord, error) {
	rec := agent.SessionRecord{
		ID: r.id, Cwd: r.cwd.String, Mode: agent.Mode(r.mode.String), Model: r.model.String, Effort: r.effort.String,
		Title: r.title.String, CreatedAt: fromSeconds(r.started), UpdatedAt: fromSeconds(r.started),
	}
	if r.active.Valid {
		rec.UpdatedAt = fromSeconds(r.active.Float64)
	}
	if r.dirs.Valid {
		if err := json.Unmarshal([]byte(r.dirs.String), &rec.Dirs); err != nil {
			return rec, fmt.Errorf("decode the directories of session %s: %w", r.id, err)
		}
	}
	if !r.cwd.Valid && r.config.Valid {
		var config sessionConfig
		if err := json.Unmarshal([]byte(r.config.String), &config); err != nil {
			return rec, fmt.Errorf("decode the settings of session %s: %w", r.id, err)
		}
		rec.Cwd = config.Cwd
	}
	return rec, nil
}

// UpdateSession replaces the cwd, directories, mode, model, effort and title of a
// session, and opens it again when it was ended.
func (db *DB) UpdateSession(ctx context.Context, rec agent.SessionRecord) error {
	err := db.write(ctx, false, func(tx *sql.Tx) error {
		newest, err := tip(ctx, tx, rec.ID)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE sessions SET model = coalesce(?, model),
			model_config = json_set(CASE WHEN json_valid(model_config) THEN model_config ELSE '{}' END, '$.cwd', ?) WHERE id = ?`,
			optional(rec.Model), rec.Cwd, newest)
		if err != nil {
			return err
		}
		if err := reopen(ctx, tx, newest); err != nil {
			return err
		}
		if db.cols.has("sessions", "cwd") {
			if _, err := tx.ExecContext(ctx, `UPDATE sessions SET cwd = ? WHERE id = ?`, rec.Cwd, newest); err != nil {
				return err
			}
		}
		if _, err := setTitle(ctx, tx, newest, rec.Title); err != nil {
			return err
		}
		return putRecord(ctx, tx, rec)
	})
	if err != nil {
		return fmt.Errorf("update session %s: %w", rec.ID, err)
	}
	return nil
}

// reopen takes the end mark off a Hermes session that goes on. One whose
// conversation goes on elsewhere keeps it.
func reopen(ctx context.Context, tx *sql.Tx, hermesID string) error {
	_, err := tx.ExecContext(ctx, `UPDATE sessions SET ended_at = NULL, end_reason = NULL
		WHERE id = ? AND ended_at IS NOT NULL AND NOT `+continues("sessions"), hermesID)
	return err
}

// SetTitle gives a session a title and returns it as it is kept: titles are
// unique in Hermes, so one that is taken gets " #2", " #3" and so on.
func (db *DB) SetTitle(ctx context.Context, id, title string) (kept string, err error) {
	err = db.write(ctx, false, func(tx *sql.Tx) error {
		newest, err := tip(ctx, tx, id)
		if err != nil {
			return err
		}
		kept, err = setTitle(ctx, tx, newest, title)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("set the title of session %s: %w", id, err)
	}
	return kept, nil
}

// maxTitle bounds a title in runes, with room for a number: Hermes takes 100.
const maxTitle = 90

func setTitle(ctx context.Context, tx *sql.Tx, hermesID, title string) (kept string, err error) {
	title = shorten(strings.Join(strings.Fields(title), " "), maxTitle)
	if title != "" {
		if kept, err = freeTitle(ctx, tx, hermesID, title); err != nil {
			return "", err
		}
	}
	_, err = tx.ExecContext(ctx, `UPDATE sessions SET title = ? WHERE id = ?`, optional(kept), hermesID)
	return kept, err
}

// freeTitle returns the title, with a number behind it when another session has
// it. A thousand sessions may begin with the same prompt, so that the search for a
// free number begins behind as many as are taken.
func freeTitle(ctx context.Context, tx *sql.Tx, hermesID, title string) (string, error) {
	taken := func(title string) (yes bool, err error) {
		err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sessions WHERE title = ? AND id <> ?)`, title, hermesID).Scan(&yes)
		return yes, err
	}
	if yes, err := taken(title); err != nil || !yes {
		return title, err
	}
	var numbered int
	err := tx.QueryRowContext(ctx, `SELECT count(*) FROM sessions WHERE title > ?1 || ' #' AND title < ?1 || ' $'`, title).Scan(&numbered)
	if err != nil {
		return "", err
	}
	for n := numbered + 2; ; n++ {
		candidate := title + " #" + strconv.Itoa(n)
		if yes, err := taken(candidate); err != nil || !yes {
			return candidate, err
		}
	}
}

// EndSession marks a session as ended: its client closed it or went away. A
// session that has ended already keeps its mark. No turn may run here.
func (db *DB) EndSession(ctx context.Context, id string) error {
	err := db.write(ctx, false, func(tx *sql.Tx) error {
		db.abandonTurn(id)
		newest, err := tip(ctx, tx, id)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE sessions SET ended_at = ?, end_reason = ? WHERE id = ? AND ended_at IS NULL`,
			seconds(time.Now()), endReason, newest)
		return err
	})
	if err != nil {
		return fmt.Errorf("end session %s: %w", id, err)
	}
	return nil
}
