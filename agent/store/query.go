package store

import (
	"context"
	"database/sql"
	"errors"
)

// queryer is what *sql.DB and *sql.Tx have in common.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// eachRow runs a query and calls do for each row until it wants no more.
func eachRow(ctx context.Context, q queryer, do func(*sql.Rows) (more bool, err error), query string, args ...any) (err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if more, err := do(rows); err != nil || !more {
			return err
		}
	}
	return rows.Err()
}

// selectAll runs a query and scans every row of its result.
func selectAll[T any](ctx context.Context, q queryer, scan func(*sql.Rows) (T, error), query string, args ...any) (all []T, err error) {
	err = eachRow(ctx, q, func(rows *sql.Rows) (bool, error) {
		row, err := scan(rows)
		all = append(all, row)
		return true, err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

func scanText(rows *sql.Rows) (text string, err error) {
	err = rows.Scan(&text)
	return text, err
}
