package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

// Rules returns the rules of one folder, the oldest first.
func (db *DB) Rules(ctx context.Context, dir string) ([]agent.Rule, error) {
	return db.selectRules(ctx, `WHERE dir = ?`, dir)
}

// AllRules returns the rules of every folder.
func (db *DB) AllRules(ctx context.Context) ([]agent.Rule, error) {
	return db.selectRules(ctx, ``)
}

func (db *DB) selectRules(ctx context.Context, where string, args ...any) ([]agent.Rule, error) {
	rules, err := selectAll(ctx, db.readers, scanRule, `SELECT id, dir, words, external, allow FROM acp_rules `+where+` ORDER BY id`, args...)
	if err != nil {
		return nil, fmt.Errorf("read the rules: %w", explain(err))
	}
	return rules, nil
}

func scanRule(rows *sql.Rows) (r agent.Rule, err error) {
	var words []byte
	if err := rows.Scan(&r.ID, &r.Dir, &words, &r.External, &r.Allow); err != nil {
		return r, err
	}
	if err := json.Unmarshal(words, &r.Words); err != nil {
		return r, fmt.Errorf("decode rule %d: %w", r.ID, err)
	}
	return r, nil
}

// AddRule keeps a rule. It replaces one for the same command or tool in the same
// folder; its ID is given here.
func (db *DB) AddRule(ctx context.Context, r agent.Rule) error {
	words, err := marshal(r.Words)
	if err == nil {
		err = db.write(ctx, true, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO acp_rules (dir, words, external, allow, created_at) VALUES (?, ?, ?, ?, ?)
				ON CONFLICT (dir, words, external) DO UPDATE SET allow = excluded.allow, created_at = excluded.created_at`,
				r.Dir, string(words), r.External, r.Allow, seconds(time.Now()))
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("keep a rule for %s: %w", r.Dir, err)
	}
	return nil
}

// RemoveRule revokes a rule and reports whether there was one.
func (db *DB) RemoveRule(ctx context.Context, id int64) (found bool, err error) {
	err = db.write(ctx, true, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM acp_rules WHERE id = ?`, id)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		found = n > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("remove rule %d: %w", id, err)
	}
	return found, nil
}
