package agent

import (
	"context"
	"time"
)

// SearchQuery asks for messages of any session, of editors or of Hermes itself.
type SearchQuery struct {
	// Text holds words, "quoted phrases", AND, OR, NOT and prefix*. Whatever
	// else it holds is taken as words.
	Text string
	// Limit is the most hits; 0 means 10.
	Limit int
}

// SearchHit is one message that a search found.
type SearchHit struct {
	SessionID string // the id under which the conversation is listed
	Title     string
	Source    string // acp, cli, telegram ...
	Role      Role
	ToolName  string
	Time      time.Time
	// Snippet is a part of the message, with >>> and <<< around what matched.
	Snippet string
	// Before and After are the beginnings of the neighbouring messages.
	Before, After string
}

// SessionIndex finds earlier conversations.
type SessionIndex interface {
	// Search finds messages, the best match first.
	Search(ctx context.Context, q SearchQuery) ([]SearchHit, error)
	// ListSessions returns one page of the conversations, the newest first.
	ListSessions(ctx context.Context, filter SessionFilter) (SessionPage, error)
}
