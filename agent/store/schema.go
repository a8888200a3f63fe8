package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed hermes.sql
var hermesSchema string

// Each migration of the acp_* tables is one file, applied in the order of the
// names and in one transaction. A published file is never changed.
//
//go:embed migrations/*.sql
var migrations embed.FS

// ErrNewer is wrapped when the acp_* tables were made by a newer hermes-acp.
var ErrNewer = errors.New("state.db was written by a newer hermes-acp")

// ErrForeign is wrapped when the file's tables are not the ones we know.
var ErrForeign = errors.New("not a session database that hermes-acp can use")

// columns are the columns of each table that a file has.
type columns map[string][]string

func (c columns) has(table, column string) bool { return slices.Contains(c[table], column) }

// required are the columns without which nothing can be kept. Whatever else
// Hermes has, or has not yet, is optional.
var required = columns{
	"sessions":     {"id", "source", "model", "model_config", "parent_session_id", "started_at", "ended_at", "end_reason", "message_count", "tool_call_count", "title"},
	"messages":     {"id", "session_id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp"},
	"acp_sessions": {"id", "cwd", "dirs", "mode", "model", "effort", "active_at"},
	"acp_messages": {"message_id", "failed", "authored", "interrupted", "summary", "images"},
	"acp_turn":     {"seq", "session_id", "message", "partial"},
	"acp_rules":    {"id", "dir", "words", "external", "allow", "created_at"},
	"acp_actions":  {"id", "session_id", "call_id", "tool", "paths", "command", "granted_by", "failure", "started_at", "ended_at"},
	"acp_seen":     {"message_id"},
}

// migration is one step of the acp_* tables' schema.
type migration struct{ name, script string }

// prepareSchema makes the tables that are missing and returns the columns of all
// of them.
func prepareSchema(ctx context.Context, db *sql.DB) (columns, error) {
	steps, err := ourMigrations()
	if err != nil {
		return nil, err
	}
	// The version comes first: when it is current, so are the columns.
	version, err := acpVersion(ctx, db)
	if err != nil {
		return nil, err
	}
	if version > len(steps) {
		return nil, fmt.Errorf("%w (its tables have version %d, this program knows %d): update hermes-acp", ErrNewer, version, len(steps))
	}
	cols, err := readColumns(ctx, db)
	if err != nil {
		return nil, err
	}
	if len(cols) > 0 && !cols.has("sessions", "id") {
		return nil, fmt.Errorf("%w: it has tables, but none named sessions", ErrForeign)
	}
	if version < len(steps) {
		if err := migrate(ctx, db, steps); err != nil {
			return nil, err
		}
		if cols, err = readColumns(ctx, db); err != nil {
			return nil, err
		}
	}
	for table, names := range required {
		for _, name := range names {
			if !cols.has(table, name) {
				return nil, fmt.Errorf("%w: table %s has no column %s", ErrForeign, table, name)
			}
		}
	}
	return cols, nil
}

func readColumns(ctx context.Context, db *sql.DB) (columns, error) {
	cols := columns{}
	err := eachRow(ctx, db, func(rows *sql.Rows) (more bool, err error) {
		var table, column string
		err = rows.Scan(&table, &column)
		cols[table] = append(cols[table], column)
		return true, err
	}, `SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\'`)
	return cols, err
}

// acpVersion is the version of the acp_* tables, 0 when there are none.
func acpVersion(ctx context.Context, db *sql.DB) (version int, err error) {
	var tables int
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name = 'acp_schema'`).Scan(&tables); err != nil || tables == 0 {
		return 0, err
	}
	if err := db.QueryRowContext(ctx, `SELECT version FROM acp_schema`).Scan(&version); err != nil {
		return 0, fmt.Errorf("read the version of the acp tables: %w", err)
	}
	return version, nil
}

func ourMigrations() ([]migration, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	steps := make([]migration, len(names))
	for i, name := range names {
		script, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		steps[i] = migration{strings.TrimSuffix(path.Base(name), ".sql"), string(script)}
	}
	return steps, nil
}

// migrate brings the file to the version that steps lead to. Several processes
// may do so at once: each step looks again, in its own transaction, whether it is
// still due.
func migrate(ctx context.Context, db *sql.DB, steps []migration) error {
	err := inTx(ctx, db, func(tx *sql.Tx) error {
		var tables int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name IN ('sessions', 'acp_schema')`).Scan(&tables); err != nil {
			return err
		}
		if tables == 0 {
			if _, err := tx.ExecContext(ctx, hermesSchema); err != nil {
				return fmt.Errorf("create the tables of Hermes: %w", err)
			}
		}
		_, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS acp_schema (version INTEGER NOT NULL);
			INSERT INTO acp_schema (version) SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM acp_schema)`)
		return err
	})
	if err != nil {
		return err
	}
	for i, step := range steps {
		if err := inTx(ctx, db, func(tx *sql.Tx) error { return step.apply(ctx, tx, i+1) }); err != nil {
			return fmt.Errorf("migrate to %s: %w", step.name, err)
		}
	}
	return nil
}

// apply runs the step unless the file has the version that it leads to.
func (m migration) apply(ctx context.Context, tx *sql.Tx, version int) error {
	var have int
	if err := tx.QueryRowContext(ctx, `SELECT version FROM acp_schema`).Scan(&have); err != nil {
		return err
	}
	if have >= version {
		return nil
	}
	if _, err := tx.ExecContext(ctx, m.script); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE acp_schema SET version = ?`, version)
	return err
}

func inTx(ctx context.Context, db *sql.DB, fn func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
