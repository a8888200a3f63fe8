package store

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

func benchDB(b *testing.B) *DB {
	b.Helper()
	db, err := Open(b.Context(), Options{Dir: b.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return db
}

// prose is about n bytes of text that differs with seed.
func prose(seed, n int) string {
	words := strings.Fields("the agent reads a file and proposes an edit to its handler while tests run in the workspace and search finds every session")
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%s %d ", words[(seed*7+i*i)%len(words)], (seed*31+i)%977)
	}
	return b.String()
}

// fill adds sessions with messages in batches, each with its own time.
func fill(b *testing.B, db *DB, sessions, each, size int) {
	b.Helper()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	n := 0
	for s := range sessions {
		id := fmt.Sprintf("s%05d", s)
		if err := db.CreateSession(b.Context(), agent.SessionRecord{ID: id, Cwd: "/work", Title: "Session " + id}); err != nil {
			b.Fatal(err)
		}
		msgs := make([]agent.Message, each)
		for i := range msgs {
			n++
			msgs[i] = agent.TextMessage([]agent.Role{agent.RoleUser, agent.RoleAssistant}[i%2], prose(n, size))
			msgs[i].Time = start.Add(time.Duration(n) * time.Second)
		}
		if err := db.Append(b.Context(), id, true, msgs...); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppend adds one message of 300 bytes to a running turn. Issue target:
// 60 µs of CPU.
func BenchmarkAppend(b *testing.B) {
	db := benchDB(b)
	fill(b, db, 1, 2, 100)
	msg := user(prose(1, 300))
	b.ReportAllocs()
	for b.Loop() {
		if err := db.Append(b.Context(), "s00000", false, msg); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTurn is a whole turn of ten messages of 300 bytes with its one fsync.
func BenchmarkTurn(b *testing.B) {
	db := benchDB(b)
	fill(b, db, 1, 2, 100)
	n := 0
	for b.Loop() {
		for i := range 10 {
			n++
			if err := db.Append(b.Context(), "s00000", i == 9, user(prose(n, 300))); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkSavePartial keeps a growing answer of 80 KB.
func BenchmarkSavePartial(b *testing.B) {
	db := benchDB(b)
	fill(b, db, 1, 2, 100)
	msg := assistant(prose(1, 80_000))
	for b.Loop() {
		if err := db.SavePartial(b.Context(), "s00000", msg); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoad2000 reads a session of 2,000 messages. Issue target: 15 ms.
func BenchmarkLoad2000(b *testing.B) {
	db := benchDB(b)
	fill(b, db, 1, 2000, 300)
	for b.Loop() {
		if msgs, err := db.Messages(b.Context(), "s00000"); err != nil || len(msgs) != 2000 {
			b.Fatal(len(msgs), err)
		}
	}
}

// BenchmarkList50Of10000 reads the first page of 10,000 sessions. Issue target:
// 5 ms.
func BenchmarkList50Of10000(b *testing.B) {
	db := benchDB(b)
	fill(b, db, 10_000, 2, 60)
	for b.Loop() {
		if page, err := db.ListSessions(b.Context(), agent.SessionFilter{}); err != nil || len(page.Sessions) != 50 {
			b.Fatal(len(page.Sessions), err)
		}
	}
}

// BenchmarkSearch100000 searches 100,000 messages. Issue target: 50 ms.
func BenchmarkSearch100000(b *testing.B) {
	db := benchDB(b)
	fill(b, db, 100, 1000, 300)
	for _, text := range []string{"437 handler", "workspace", "agent OR file"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				if hits, err := db.Search(b.Context(), agent.SearchQuery{Text: text}); err != nil || len(hits) == 0 {
					b.Fatal(len(hits), err)
				}
			}
		})
	}
}

// BenchmarkOpen opens an existing database. Issue target: 6 ms.
func BenchmarkOpen(b *testing.B) {
	opts := Options{Dir: b.TempDir(), Log: slog.New(slog.DiscardHandler)}
	db, err := Open(b.Context(), opts)
	if err != nil {
		b.Fatal(err)
	}
	fill(b, db, 100, 10, 300)
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		db, err := Open(b.Context(), opts)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
