package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hermes-acp/hermes-acp/agent"
)

const (
	defaultHits   = 10
	maxQuery      = 2048 // bytes of a search text that are looked at
	maxNeighbour  = 200  // runes of a neighbouring message in a hit
	snippetTokens = 32
	trigram       = 3 // runes, the shortest text that a trigram index finds
	// maxRanked bounds the work for a word that is nearly everywhere: the best
	// of the newest messages that hold it are found.
	maxRanked = 2000
)

// Search finds messages in the search index of the file, compacted ones too, the
// best match first.
func (db *DB) Search(ctx context.Context, q agent.SearchQuery) ([]agent.SearchHit, error) {
	hits, err := db.search(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("search the sessions for %q: %w", q.Text, explain(err))
	}
	return hits, nil
}

func (db *DB) search(ctx context.Context, q agent.SearchQuery) ([]agent.SearchHit, error) {
	terms := parseQuery(q.Text)
	if len(terms) == 0 {
		return nil, nil
	}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultHits
	}
	found, err := db.selectHits(ctx, terms, limit)
	if err != nil {
		return nil, err
	}
	hits := make([]agent.SearchHit, len(found))
	for i, f := range found {
		if hits[i], err = db.hit(ctx, f); err != nil {
			return nil, err
		}
	}
	return hits, nil
}

// hitRow is a message that matches.
type hitRow struct {
	id                   int64
	hermesID, role       string
	tool, content, title sql.NullString
	timestamp            float64
	source               string
	snippet              sql.NullString
}

// selectHits asks the index that can answer: words, trigrams for scripts that are
// written without spaces, and the messages themselves for what is too short for
// those, or in a file without an index.
func (db *DB) selectHits(ctx context.Context, terms []term, limit int) ([]hitRow, error) {
	index := "messages_fts"
	if unspaced(terms) {
		index = "messages_fts_trigram"
	}
	visible := "1"
	if db.cols.has("messages", "active") && db.cols.has("messages", "compacted") {
		visible = "(m.active IS NOT 0 OR m.compacted = 1)" // not what the person took back
	}
	const columns = `m.id, m.session_id, m.role, m.tool_name, m.content, s.title, m.timestamp, s.source`
	var query string
	var args []any
	if db.cols[index] != nil && (index == "messages_fts" || longEnough(terms)) {
		query = fmt.Sprintf(`SELECT `+columns+`, best.snippet FROM (
				SELECT rowid, rank AS score, snippet(%[1]s, -1, '>>>', '<<<', '…', %[2]d) AS snippet
				FROM %[1]s WHERE %[1]s MATCH ? ORDER BY rowid DESC LIMIT %[3]d) best
			JOIN messages m ON m.id = best.rowid JOIN sessions s ON s.id = m.session_id
			WHERE `+visible+` ORDER BY best.score LIMIT ?`, index, snippetTokens, maxRanked)
		args = []any{matchExpression(terms)}
	} else {
		var where string
		where, args = likeExpression(terms)
		query = `SELECT ` + columns + `, NULL FROM messages m JOIN sessions s ON s.id = m.session_id
			WHERE ` + where + ` AND ` + visible + ` ORDER BY m.id DESC LIMIT ?`
	}
	return selectAll(ctx, db.readers, scanHit, query, append(args, limit)...)
}

func scanHit(rows *sql.Rows) (r hitRow, err error) {
	err = rows.Scan(&r.id, &r.hermesID, &r.role, &r.tool, &r.content, &r.title, &r.timestamp, &r.source, &r.snippet)
	return r, err
}

func (db *DB) hit(ctx context.Context, r hitRow) (h agent.SearchHit, err error) {
	h = agent.SearchHit{
		Title: r.title.String, Source: r.source, Role: agent.Role(r.role), ToolName: r.tool.String,
		Time: fromSeconds(r.timestamp), Snippet: strings.TrimSpace(r.snippet.String),
	}
	if !r.snippet.Valid {
		h.Snippet = preview(r.content)
	}
	if h.SessionID, err = root(ctx, db.readers, r.hermesID); err != nil {
		return h, err
	}
	// Both neighbours come straight from the index on (session_id, timestamp).
	if h.Before, err = db.neighbour(ctx, `timestamp <= ? AND id < ? ORDER BY timestamp DESC, id DESC`, r); err != nil {
		return h, err
	}
	h.After, err = db.neighbour(ctx, `timestamp >= ? AND id > ? ORDER BY timestamp, id`, r)
	return h, err
}

func (db *DB) neighbour(ctx context.Context, where string, r hitRow) (string, error) {
	var content sql.NullString
	err := db.readers.QueryRowContext(ctx, `SELECT content FROM messages WHERE session_id = ? AND `+where+` LIMIT 1`, r.hermesID, r.timestamp, r.id).Scan(&content)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return preview(content), err
}

// preview is the beginning of a message's text on one line.
func preview(content sql.NullString) string {
	text := content.String
	parts, err := decodeContent(text)
	if err == nil { // else it is shown as it stands
		text = agent.Message{Parts: parts}.Text()
	}
	return shorten(strings.Join(strings.Fields(text), " "), maxNeighbour)
}

// term is one operand of a search.
type term struct {
	text     string
	prefix   bool   // it may go on
	operator string // between the term before and this one: AND, OR or NOT
}

// parseQuery reads a search the way people write one. It has no syntax errors:
// operators that join nothing are dropped, and so are quotes without a partner.
func parseQuery(text string) (terms []term) {
	if len(text) > maxQuery {
		text = strings.ToValidUTF8(text[:maxQuery], "")
	}
	text = strings.ReplaceAll(text, "\x00", " ") // it would end the text for FTS5
	operator := "AND"
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		var word string
		quoted := false
		if text[0] == '"' {
			word, text, quoted = strings.Cut(text[1:], `"`)
		} else {
			end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
			if end < 0 {
				end = len(text)
			}
			word, text = text[:end], text[end:]
		}
		if !quoted && (word == "AND" || word == "OR" || word == "NOT") {
			operator = word
			continue
		}
		trimmed := strings.TrimRight(word, "*")
		prefix := !quoted && trimmed != word
		if strings.IndexFunc(trimmed, isWordRune) < 0 {
			continue // nothing that an index holds
		}
		if len(terms) == 0 {
			operator = ""
		}
		terms = append(terms, term{trimmed, prefix, operator})
		operator = "AND"
	}
	return terms
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// matchExpression is the search in the language of FTS5. Every term is a quoted
// string there, so that chat-send and a.b are phrases and nothing is an operator.
func matchExpression(terms []term) string {
	var b strings.Builder
	for _, t := range terms {
		if t.operator != "" {
			b.WriteString(" " + t.operator + " ")
		}
		b.WriteString(`"` + strings.ReplaceAll(t.text, `"`, `""`) + `"`)
		if t.prefix {
			b.WriteString("*")
		}
	}
	return b.String()
}

func likeExpression(terms []term) (where string, args []any) {
	escape := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
	var b strings.Builder
	b.WriteString("(")
	for _, t := range terms {
		switch t.operator {
		case "AND", "OR":
			b.WriteString(" " + t.operator + " ")
		case "NOT":
			b.WriteString(" AND NOT ")
		}
		b.WriteString(`coalesce(m.content, '') LIKE ? ESCAPE '\'`)
		args = append(args, "%"+escape.Replace(t.text)+"%")
	}
	return b.String() + ")", args
}

// unspaced reports whether a term is in a script that is written without spaces,
// in which the index of words finds only whole sentences.
func unspaced(terms []term) bool {
	for _, t := range terms {
		for _, r := range t.text {
			if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai) {
				return true
			}
		}
	}
	return false
}

func longEnough(terms []term) bool {
	for _, t := range terms {
		if utf8.RuneCountInString(t.text) < trigram {
			return false
		}
	}
	return true
}
