package store

import (
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent"
)

// hermesTables is what Hermes 0.19.0 makes, as TestHermes_Schema read it off a
// database of the real package: one line a column, an index or a trigger.
const hermesTables = "testdata/hermes_0.19.0_schema.tsv"

func TestSchemaIsHermes(t *testing.T) {
	dir := t.TempDir()
	openIn(t, dir)
	want, err := os.ReadFile(hermesTables)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(string(want)), "\n"), describe(t, dir)); diff != "" {
		t.Errorf("(-Hermes +ours):\n%s", diff)
	}
	if got := query(t, dir, "SELECT version FROM schema_version"); got != "22" {
		t.Errorf("schema version %s", got)
	}
}

// describe lists the columns, indexes, foreign keys and triggers of Hermes'
// tables in a file, sorted.
func describe(t *testing.T, dir string) (facts []string) {
	t.Helper()
	db := plainly(t, dir)
	for _, q := range []string{
		`SELECT 'column', m.name, c.cid, c.name, c.type, c."notnull", coalesce(c.dflt_value, '-'), c.pk FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND `,
		`SELECT 'index', m.tbl_name, m.name, i."unique", i.partial, (SELECT group_concat(name || CASE desc WHEN 1 THEN ' desc' ELSE '' END, ',') FROM pragma_index_xinfo(m.name) WHERE key), '', '' FROM sqlite_master m JOIN pragma_index_list(m.tbl_name) i ON i.name = m.name WHERE m.type = 'index' AND `,
		`SELECT 'foreign key', m.name, f."from", f."table", f."to", f.on_delete, '', '' FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' AND `,
		`SELECT 'trigger', m.tbl_name, m.name, '', '', '', '', '' FROM sqlite_master m WHERE m.type = 'trigger' AND `,
	} {
		found, err := selectAll(t.Context(), db, func(rows *sql.Rows) (string, error) {
			fields := make([]string, 8)
			targets := make([]any, 8)
			for i := range fields {
				targets[i] = &fields[i]
			}
			err := rows.Scan(targets...)
			return strings.TrimRight(strings.Join(fields, "\t"), "\t"), err
		}, q+`m.tbl_name NOT LIKE 'acp\_%' ESCAPE '\'`)
		if err != nil {
			t.Fatal(err)
		}
		facts = append(facts, found...)
	}
	slices.Sort(facts)
	return facts
}

// definitions are the statements that made the acp_* tables.
func definitions(t *testing.T, dir string) string {
	t.Helper()
	return query(t, dir, `SELECT group_concat(type || ' ' || name || ': ' || coalesce(sql, ''), char(10)) FROM
		(SELECT * FROM sqlite_master WHERE tbl_name LIKE 'acp\_%' ESCAPE '\' ORDER BY type, name)`)
}

func TestD13_EveryFormerVersionIsMigrated(t *testing.T) {
	fresh := t.TempDir()
	openIn(t, fresh)
	steps, err := ourMigrations()
	if err != nil {
		t.Fatal(err)
	}
	for version := range steps {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			dir := t.TempDir()
			atVersion(t, dir, steps[:version])
			openIn(t, dir)
			if diff := cmp.Diff(definitions(t, fresh), definitions(t, dir)); diff != "" {
				t.Errorf("(-fresh +migrated):\n%s", diff)
			}
		})
	}
}

// atVersion makes a file with the first steps of the schema only.
func atVersion(t *testing.T, dir string, steps []migration) {
	t.Helper()
	if err := migrate(t.Context(), plainly(t, dir), steps); err != nil {
		t.Fatal(err)
	}
}

func TestD14_InterruptedMigration(t *testing.T) {
	dir := t.TempDir()
	openIn(t, dir)
	steps, err := ourMigrations()
	if err != nil {
		t.Fatal(err)
	}
	child := start(t, "alter", dir) // dies between the change and the new version
	if output := child.rest(); len(output) > 0 {
		t.Fatal(output)
	}
	_ = child.cmd.Wait()
	later := append(slices.Clone(steps), laterMigration)
	atVersion(t, dir, later)
	atVersion(t, dir, later) // nothing is done twice
	if got, want := query(t, dir, "SELECT version FROM acp_schema"), fmt.Sprint(len(later)); got != want {
		t.Errorf("version %s, want %s", got, want)
	}
	if got := query(t, dir, "SELECT count(*) FROM pragma_table_info('acp_rules') WHERE name = 'note'"); got != "1" {
		t.Errorf("%s new columns, want 1", got)
	}
}

func TestD16_ColumnMissing(t *testing.T) {
	dir := t.TempDir()
	closed(t, dir)
	execute(t, dir, `ALTER TABLE acp_sessions DROP COLUMN effort`)
	refused(t, dir, ErrForeign, "acp_sessions", "effort")
}

func TestD16_NewerThanThisProgram(t *testing.T) {
	dir := t.TempDir()
	closed(t, dir)
	execute(t, dir, `UPDATE acp_schema SET version = 9999`)
	refused(t, dir, ErrNewer, "9999", "update hermes-acp")
}

func TestForeignFile(t *testing.T) {
	dir := t.TempDir()
	execute(t, dir, `CREATE TABLE photos (id INTEGER PRIMARY KEY)`)
	refused(t, dir, ErrForeign, "none named sessions")
}

// closed makes a store and closes it.
func closed(t *testing.T, dir string) {
	t.Helper()
	db, err := Open(t.Context(), Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.CreateSession(t.Context(), agent.SessionRecord{ID: "s1", Cwd: "/work"}), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// refused checks that a file cannot be opened, why, and that it is left as it was.
func refused(t *testing.T, dir string, cause error, words ...string) {
	t.Helper()
	before := dump(t, dir)
	_, err := Open(t.Context(), Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if !errors.Is(err, cause) {
		t.Fatalf("got %v, want %v", err, cause)
	}
	for _, word := range slices.Concat(words, []string{filepath.Join(dir, FileName)}) {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
	if diff := cmp.Diff(before, dump(t, dir)); diff != "" {
		t.Errorf("the file was changed:\n%s", diff)
	}
}

// dump is the whole schema.
func dump(t *testing.T, dir string) (lines []string) {
	t.Helper()
	lines, err := selectAll(t.Context(), plainly(t, dir), scanText, `SELECT name || ': ' || coalesce(sql, '') FROM sqlite_master ORDER BY name`)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestNewerHermesIsUsed(t *testing.T) {
	dir := t.TempDir()
	closed(t, dir)
	execute(t, dir, `UPDATE schema_version SET version = 9999`)
	execute(t, dir, `ALTER TABLE messages ADD COLUMN mood TEXT NOT NULL DEFAULT 'fine'`)
	execute(t, dir, `ALTER TABLE sessions ADD COLUMN colour TEXT`)
	before := dump(t, dir)
	db := openIn(t, dir)
	appendAll(t, db, "s1", true, user("q"), assistant("a"))
	if diff := cmp.Diff([]string{"user: q", "assistant: a"}, lines(messagesOf(t, db, "s1"))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, dump(t, dir)); diff != "" {
		t.Errorf("the schema was changed:\n%s", diff)
	}
	if got := query(t, dir, "SELECT version FROM schema_version"); got != "9999" {
		t.Errorf("Hermes' version is now %s", got)
	}
}

// TestOlderHermesIsUsed opens a file with the columns that Hermes began with.
func TestOlderHermesIsUsed(t *testing.T) {
	dir := t.TempDir()
	script, err := os.ReadFile("testdata/hermes_early.sql")
	if err != nil {
		t.Fatal(err)
	}
	execute(t, dir, string(script))
	before := describe(t, dir)

	db := openIn(t, dir)
	if diff := cmp.Diff([]string{"user: where is nginx configured?", "assistant:  call call_1", "tool: /etc/nginx/nginx.conf for call_1", "assistant: In /etc/nginx."}, lines(messagesOf(t, db, "old-1"))); diff != "" {
		t.Error(diff)
	}
	rec, err := db.Session(t.Context(), "old-1")
	if err != nil || rec.Cwd != "/srv/web" {
		t.Errorf("cwd %q, %v", rec.Cwd, err)
	}
	page, err := db.ListSessions(t.Context(), agent.SessionFilter{})
	if err != nil || len(page.Sessions) != 1 || page.Sessions[0].Title != "where is nginx configured?" {
		t.Errorf("list: %+v, %v", page, err)
	}
	for folder, want := range map[string]int{"/srv/web": 1, "/elsewhere": 0} {
		if ids, _ := listIDs(t, db, agent.SessionFilter{Cwd: func(cwd string) bool { return cwd == folder }}); len(ids) != want {
			t.Errorf("of %s it lists %q", folder, ids)
		}
	}
	appendAll(t, db, "old-1", true, user("and apache?"), assistant("Not here."))
	hits, err := db.Search(t.Context(), agent.SearchQuery{Text: "apache"})
	if err != nil || len(hits) != 1 || !strings.Contains(hits[0].Snippet, "apache") {
		t.Errorf("search without an index: %+v, %v", hits, err)
	}
	// It cannot put messages away, so that compaction in place has to rotate.
	if err := db.Compact(t.Context(), "old-1", []agent.Message{user("so far"), assistant("ok")}, true); err != nil {
		t.Fatal(err)
	}
	appendAll(t, db, "old-1", true, user("more"), assistant("yes"))
	if diff := cmp.Diff([]string{"user: so far", "assistant: ok", "user: more", "assistant: yes"}, lines(messagesOf(t, db, "old-1"))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, describe(t, dir)); diff != "" {
		t.Errorf("Hermes' tables were altered:\n%s", diff)
	}
}

func TestTwoProcessesMakeTheFile(t *testing.T) {
	dir := t.TempDir()
	var children []*process
	for i := range 4 {
		children = append(children, start(t, "append", dir, fmt.Sprintf("p%d", i), "1"))
	}
	for _, child := range children {
		if output := child.rest(); len(output) > 0 {
			t.Error(output)
		}
		if err := child.cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if got := query(t, dir, "SELECT count(*) FROM sessions"); got != "4" {
		t.Errorf("%s sessions, want 4", got)
	}
}
