// Package store keeps sessions in $HERMES_HOME/state.db, the SQLite file that
// Hermes itself uses.
//
// # Whose file it is
//
// The tables sessions, messages and their FTS5 indexes are Hermes'. A file that
// Hermes made is used as it is: its columns are read at open, and no table,
// index or trigger of its is ever altered. A file that we make has the schema of
// hermes-agent 0.19.0. Everything else we keep stands in tables named acp_*,
// which have embedded migrations and no foreign keys into Hermes' tables, so that
// they can never get in the way of one of its own migrations.
//
// # Ids
//
// The id a client knows is the id of the first Hermes session of a conversation.
// Compaction may end that Hermes session and go on in a child of it; the methods
// of DB take the client's id and find the newest child by themselves.
//
// # A turn
//
// The messages of a running turn are kept in acp_turn, one cheap row a message,
// and move to Hermes' messages table together when the turn ends: one
// transaction, one fsync, one pass over the search index, and Hermes never sees
// half a turn. While acp_turn holds rows of a session, the process that runs the
// turn holds a lock file. Rows without a lock are of a process that died; the next
// one to open the session completes them.
package store
