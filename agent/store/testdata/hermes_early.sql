-- A file of an early Hermes, in our own words: the columns of facts that every
-- version has, no search index, no marks for messages that were put away.
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO schema_version VALUES (6);
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT, system_prompt TEXT,
  parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
  message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0, title TEXT
);
CREATE TABLE messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT,
  tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL
);
CREATE INDEX idx_messages_session ON messages (session_id, timestamp);
INSERT INTO sessions (id, source, model, model_config, started_at, message_count, tool_call_count)
VALUES ('old-1', 'acp', 'a/b', '{"cwd": "/srv/web"}', 1700000000.5, 4, 1),
       ('old-2', 'cli', 'a/b', NULL, 1700000100.5, 1, 0);
INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp)
VALUES ('old-1', 'user', 'where is nginx configured?', NULL, NULL, NULL, 1700000001.25),
       ('old-1', 'assistant', '', NULL, '[{"id": "call_1", "type": "function", "function": {"name": "search_files", "arguments": "{\"pattern\": \"nginx\"}"}}]', NULL, 1700000002),
       ('old-1', 'tool', '/etc/nginx/nginx.conf', 'call_1', NULL, 'search_files', 1700000003),
       ('old-1', 'assistant', 'In /etc/nginx.', NULL, NULL, NULL, 1700000004),
       ('old-2', 'user', 'hello', NULL, NULL, NULL, 1700000101);
