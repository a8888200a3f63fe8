-- One row a conversation. A NULL cwd means that Hermes made the session and its
-- own columns say where it works.
CREATE TABLE acp_sessions (
  id        TEXT PRIMARY KEY, -- the id the client knows
  cwd       TEXT,
  dirs      TEXT NOT NULL DEFAULT '[]', -- JSON array of absolute paths
  mode      TEXT NOT NULL DEFAULT '',
  model     TEXT NOT NULL DEFAULT '',
  effort    TEXT NOT NULL DEFAULT '',
  active_at REAL -- of the newest message, seconds since 1970; NULL before the first
);
CREATE INDEX acp_sessions_active ON acp_sessions (active_at, id) WHERE active_at IS NOT NULL;

-- What Hermes' messages table has no column for, or what its search index should
-- not take for text. Rows with nothing of this are absent.
CREATE TABLE acp_messages (
  message_id  INTEGER PRIMARY KEY, -- messages.id
  failed      INTEGER NOT NULL,
  authored    INTEGER NOT NULL,
  interrupted INTEGER NOT NULL,
  summary     INTEGER NOT NULL,
  images      TEXT -- JSON object: the data: URL of an image by the index of its content part
);

-- The messages of running turns, as JSON. The partial row of a session is the
-- answer that still streams.
CREATE TABLE acp_turn (
  seq        INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL,
  message    TEXT NOT NULL,
  partial    INTEGER NOT NULL
);
CREATE INDEX acp_turn_session ON acp_turn (session_id, seq);
CREATE UNIQUE INDEX acp_turn_partial ON acp_turn (session_id) WHERE partial;

CREATE TABLE acp_rules (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  dir        TEXT NOT NULL, -- absolute path
  words      TEXT NOT NULL, -- JSON array: the parsed words of one simple command; null for an external tool
  external   TEXT NOT NULL, -- name of an external tool; empty for a command
  allow      INTEGER NOT NULL,
  created_at REAL NOT NULL,
  UNIQUE (dir, words, external)
);

CREATE TABLE acp_actions (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL, -- acp_sessions.id
  call_id    TEXT NOT NULL,
  tool       TEXT NOT NULL,
  paths      TEXT NOT NULL, -- JSON array of absolute paths
  command    TEXT NOT NULL,
  granted_by TEXT NOT NULL,
  failure    TEXT NOT NULL, -- empty: the call completed
  started_at REAL NOT NULL,
  ended_at   REAL NOT NULL
);
CREATE INDEX acp_actions_session ON acp_actions (session_id, id);

-- The highest messages.id that acp_sessions.active_at takes into account. What
-- Hermes wrote since has a higher one.
CREATE TABLE acp_seen (message_id INTEGER NOT NULL);
INSERT INTO acp_seen (message_id) VALUES (0);
