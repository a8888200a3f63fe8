package store

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hermes-acp/hermes-acp/agent"
)

const defaultPage = 50

// ListSessions returns a page of the conversations that have messages, one entry
// each under the id the client knows, however often compaction rotated them.
// Errors wrap agent.ErrBadCursor.
func (db *DB) ListSessions(ctx context.Context, f agent.SessionFilter) (agent.SessionPage, error) {
	page, err := db.list(ctx, f)
	if err != nil {
		return agent.SessionPage{}, fmt.Errorf("list sessions: %w", explain(err))
	}
	return page, nil
}

func (db *DB) list(ctx context.Context, f agent.SessionFilter) (page agent.SessionPage, err error) {
	after, err := decodeCursor(f.Cursor)
	if err != nil {
		return page, err
	}
	if err := db.takeNews(ctx); errors.Is(err, ErrReadOnly) {
		db.log.DebugContext(ctx, "the session list may be out of date", "error", err)
	} else if err != nil {
		return page, err
	}
	limit := f.Limit
	if limit <= 0 {
		limit = defaultPage
	}
	found, err := db.selectPage(ctx, after, f.Cwd, limit+1)
	if err != nil {
		return page, err
	}
	if len(found) > limit {
		found = found[:limit]
		last := found[limit-1]
		page.Next = cursor{last.active.Float64, last.id}.encode()
	}
	for _, r := range found {
		s, err := db.listed(ctx, r)
		if err != nil {
			return page, err
		}
		page.Sessions = append(page.Sessions, s)
	}
	return page, nil
}

func (db *DB) selectPage(ctx context.Context, after cursor, keep func(cwd string) bool, n int) ([]recordRow, error) {
	// CROSS JOIN keeps SQLite to this order of the tables, in which rows come
	// sorted as they are asked for: a page costs no more than itself.
	query := `SELECT ` + recordColumns() + ` FROM acp_sessions a CROSS JOIN sessions s ON s.id = a.id WHERE a.active_at IS NOT NULL AND s.source = ?`
	args := []any{source}
	if after.id != "" {
		query += ` AND (a.active_at, a.id) < (?, ?)`
		args = append(args, after.active, after.id)
	}
	if keep != nil {
		folders, err := db.folders(ctx, keep)
		if err != nil {
			return nil, err
		}
		// What Hermes made says in its own columns where it works.
		query += ` AND (a.cwd IS NULL OR a.cwd IN (SELECT value FROM json_each(?)))`
		args = append(args, folders)
	}
	var page []recordRow
	err := eachRow(ctx, db.readers, func(rows *sql.Rows) (more bool, err error) {
		var r recordRow
		if err := rows.Scan(r.targets()...); err != nil {
			return false, err
		}
		if keep != nil {
			rec, err := r.record()
			if err != nil || !keep(rec.Cwd) {
				return true, err
			}
		}
		page = append(page, r)
		return len(page) < n, nil
	}, query+` ORDER BY a.active_at DESC, a.id DESC`, args...)
	return page, err
}

// folders returns the folders of sessions that keep accepts, as a JSON array. There
// are far fewer folders than sessions, so that SQLite can leave out the others'
// rows without showing each of them.
func (db *DB) folders(ctx context.Context, keep func(cwd string) bool) (string, error) {
	all, err := selectAll(ctx, db.readers, scanText, `SELECT DISTINCT cwd FROM acp_sessions WHERE cwd IS NOT NULL`)
	if err != nil {
		return "", err
	}
	kept, err := marshal(slices.DeleteFunc(nonNil(all), func(cwd string) bool { return !keep(cwd) }))
	return string(kept), err
}

func (db *DB) listed(ctx context.Context, r recordRow) (s agent.ListedSession, err error) {
	if s.SessionRecord, err = r.record(); err != nil {
		return s, err
	}
	newest := r.id
	if r.rotated {
		if newest, err = tip(ctx, db.readers, r.id); err != nil {
			return s, err
		}
		var title sql.NullString
		if err := db.readers.QueryRowContext(ctx, `SELECT title FROM sessions WHERE id = ?`, newest).Scan(&title); err != nil {
			return s, err
		}
		s.Title = title.String
	}
	if s.Title == "" {
		if s.Title, err = db.substituteTitle(ctx, r.id, s.Cwd); err != nil {
			return s, err
		}
	}
	if newest == r.id && r.parent == "" { // the common case needs no walk
		s.Provenance = agent.Provenance{SessionID: r.id, Current: r.id, Root: r.id, Kind: agent.KindRoot}
		return s, nil
	}
	s.Provenance, err = agent.TraceLineage(ctx, db.link, r.id, newest, "")
	return s, err
}

// maxPreview bounds a title that is made of a prompt, in runes.
const maxPreview = 80

// substituteTitle names a session that has no title.
func (db *DB) substituteTitle(ctx context.Context, id, cwd string) (string, error) {
	var content sql.NullString
	err := db.readers.QueryRowContext(ctx, `SELECT content FROM messages WHERE session_id = ? AND role = 'user' AND trim(coalesce(content, '')) <> ''
		ORDER BY timestamp LIMIT 1`, id).Scan(&content)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", err
	}
	parts, err := decodeContent(content.String)
	if err != nil {
		return "", err
	}
	if text := strings.Join(strings.Fields(agent.Message{Parts: parts}.Text()), " "); text != "" {
		return shorten(text, maxPreview), nil
	}
	if leaf := path.Base(strings.ReplaceAll(cwd, `\`, "/")); leaf != "." && leaf != "/" {
		return leaf, nil
	}
	return "New thread", nil
}

// shorten cuts a text to at most n runes.
func shorten(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

// cursor is the place in the list behind a session: lists are sorted by the time
// of the newest message, then by id.
type cursor struct {
	active float64
	id     string
}

func (c cursor) encode() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatFloat(c.active, 'f', 6, 64) + " " + c.id))
}

func decodeCursor(text string) (c cursor, err error) {
	if text == "" {
		return c, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return c, agent.ErrBadCursor
	}
	active, id, ok := strings.Cut(string(raw), " ")
	c.id = id
	if c.active, err = strconv.ParseFloat(active, 64); err != nil || !ok || id == "" {
		return c, agent.ErrBadCursor
	}
	return c, nil
}

// takeNews moves conversations to which others have added messages, such as
// Hermes itself, to their place in the list. Message ids only grow, so what is
// new has a higher id than what was seen. The first time, a file that Hermes made
// has all its sessions taken in.
func (db *DB) takeNews(ctx context.Context) error {
	const state = `SELECT message_id, (SELECT coalesce(max(id), 0) FROM messages) FROM acp_seen`
	var seen, newest int64
	if err := db.readers.QueryRowContext(ctx, state).Scan(&seen, &newest); err != nil || seen == newest {
		return err
	}
	return db.write(ctx, false, func(tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, state).Scan(&seen, &newest); err != nil {
			return err
		}
		changed, err := changedSessions(ctx, tx, seen)
		if err != nil {
			return err
		}
		for _, id := range changed {
			if err := takeIn(ctx, tx, id); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `UPDATE acp_seen SET message_id = ?`, newest)
		return err
	})
}

func changedSessions(ctx context.Context, tx *sql.Tx, seen int64) (ids []string, err error) {
	return selectAll(ctx, tx, scanText, `SELECT id FROM sessions WHERE source = ?1 AND ?2 = 0
		UNION SELECT DISTINCT m.session_id FROM messages m JOIN sessions s ON s.id = m.session_id WHERE ?2 > 0 AND m.id > ?2 AND s.source = ?1`, source, seen)
}

func takeIn(ctx context.Context, tx *sql.Tx, hermesID string) error {
	id, err := root(ctx, tx, hermesID)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO acp_sessions (id, active_at) SELECT ?1, max(timestamp) FROM messages WHERE session_id = ?2 HAVING count(*) > 0
		ON CONFLICT (id) DO UPDATE SET active_at = max(coalesce(active_at, 0), excluded.active_at)`, id, hermesID)
	return err
}
