"""Drives the real hermes-agent for the tests named TestHermes_.

make HOME    makes a database with the package
write HOME   adds 200 messages, one by one
read HOME    prints, as JSON, what the package finds in a database
"""

import json
import pathlib
import sys

from hermes_state import SessionDB

QUERIES = ["walrus", "nginx", "chat-send", "数据库"]


def make(db):
    db.create_session("theirs", "acp", model="a/b", model_config={"cwd": "/srv/web"})
    db.append_message("theirs", "user", "where is nginx configured?")
    db.append_message(
        "theirs",
        "assistant",
        None,
        tool_calls=[{"id": "c1", "type": "function", "function": {"name": "search_files", "arguments": '{"pattern": "nginx"}'}}],
        finish_reason="tool_calls",
        reasoning="look for it",
    )
    db.append_message("theirs", "tool", "/etc/nginx/nginx.conf", tool_name="search_files", tool_call_id="c1")
    db.append_message("theirs", "assistant", "In /etc/nginx.", reasoning_content="found")
    db.append_message(
        "theirs",
        "user",
        [{"type": "text", "text": "and this?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}],
    )
    db.append_message("theirs", "assistant", "A picture.")
    db.create_session("cli", "cli")
    db.append_message("cli", "user", "a walrus of the command line")


def write(db):
    db.create_session("written", "acp", model_config={"cwd": "/w"})
    for n in range(200):
        db.append_message("written", "user" if n % 2 == 0 else "assistant", f"message {n}")


def read(db):
    sessions = {}
    for row in db.list_sessions_rich(limit=100):
        tip = db.get_compression_tip(row["id"])
        sessions[db.get_conversation_root(row["id"])] = {
            "title": row.get("title"),
            "source": row["source"],
            "end_reason": db.get_session(row["id"])["end_reason"],
            "messages": db.get_messages_as_conversation(tip, repair_alternation=True),
            "count": row["message_count"],
        }
    found = {q: sorted(hit["session_id"] for hit in db.search_messages(q)) for q in QUERIES}
    integrity = db._conn.execute("PRAGMA integrity_check").fetchone()[0]
    version = db._conn.execute("SELECT version FROM schema_version").fetchone()[0]
    print(json.dumps({"sessions": sessions, "found": found, "integrity": integrity, "version": version}))


if __name__ == "__main__":
    command, home = sys.argv[1:]
    database = SessionDB(pathlib.Path(home) / "state.db")
    {"make": make, "write": write, "read": read}[command](database)
    database.close()
