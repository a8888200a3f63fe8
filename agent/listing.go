package agent

import "errors"

// ErrBadCursor is wrapped when a cursor is not one that a list returned.
var ErrBadCursor = errors.New("this is not a cursor of a session list")

// SessionFilter selects a page of the list of sessions.
type SessionFilter struct {
	// Cwd, when set, keeps the sessions whose cwd it accepts.
	Cwd func(cwd string) bool
	// Cursor is the Next of the page before; empty begins at the newest.
	Cursor string
	// Limit is the most sessions of a page; 0 means 50.
	Limit int
}

// SessionPage is a part of the list of sessions, the most recently active first.
type SessionPage struct {
	Sessions []ListedSession
	Next     string // empty on the last page
}

// ListedSession is one conversation. Its title is never empty: without one of its
// own it is the beginning of the first prompt, or the name of the cwd.
type ListedSession struct {
	SessionRecord
	Provenance Provenance
}
