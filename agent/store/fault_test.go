package store

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/agent"
)

func TestD02_OpeningLeavesTheLogOfOthersAlone(t *testing.T) {
	dir := t.TempDir()
	first := openIn(t, dir)
	newSession(t, first, "s1")
	appendAll(t, first, "s1", false, user("q"))
	before, err := os.Stat(filepath.Join(dir, FileName+"-wal"))
	if err != nil {
		t.Fatal(err)
	}
	second := openIn(t, dir)
	after, err := os.Stat(filepath.Join(dir, FileName+"-wal"))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the log was replaced under the first connection: %v", err)
	}
	appendAll(t, first, "s1", true, assistant("a"))
	if diff := cmp.Diff([]string{"user: q", "assistant: a"}, lines(messagesOf(t, second, "s1"))); diff != "" {
		t.Error(diff)
	}
	for _, link := range openFiles(t) {
		if strings.HasPrefix(link, dir) && strings.HasSuffix(link, "(deleted)") {
			t.Errorf("a deleted file is open: %s", link)
		}
	}
}

// openFiles are the targets of this process's descriptors, where /proc tells.
func openFiles(t *testing.T) (links []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if link, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil {
			links = append(links, link)
		}
	}
	return links
}

func TestD03_JournalByFileSystem(t *testing.T) {
	for _, tt := range []struct {
		fs   fileSystem
		want string
	}{{fsLocal, "wal"}, {fs9P, "delete"}, {fsFUSE, "delete"}, {fsNFS, "delete"}, {fsSMB, "delete"}, {fsWSL, "delete"}} {
		t.Run(string(tt.fs), func(t *testing.T) {
			dir := t.TempDir()
			var logged bytes.Buffer
			opts := Options{Dir: dir, Log: slog.New(slog.NewTextHandler(&logged, nil))}
			db, err := open(t.Context(), opts, machine{stat: func(string) (fileSystem, error) { return tt.fs, nil }, busyTimeout: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			closeAtEnd(t, db)
			newSession(t, db, "s1")
			appendAll(t, db, "s1", false, user("q"))
			appendAll(t, db, "s1", true, assistant("a"))
			if diff := cmp.Diff([]string{"user: q", "assistant: a"}, lines(messagesOf(t, db, "s1"))); diff != "" {
				t.Error(diff)
			}
			if got := query(t, dir, "PRAGMA journal_mode"); got != tt.want {
				t.Errorf("journal %q, want %q", got, tt.want)
			}
			warned := len(db.Warnings()) == 1 && strings.Count(logged.String(), "level=WARN") == 1 && strings.Contains(db.Warnings()[0], string(tt.fs))
			if warned != (tt.fs != fsLocal) {
				t.Errorf("warnings %q, log %q", db.Warnings(), logged.String())
			}
		})
	}
}

// A file that came from a local file system is still in the other journal mode.
func TestJournalOfAMovedFile(t *testing.T) {
	dir := t.TempDir()
	closed(t, dir)
	db, err := open(t.Context(), Options{Dir: dir, Log: slog.New(slog.DiscardHandler)}, machine{stat: func(string) (fileSystem, error) { return fs9P, nil }, busyTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := query(t, dir, "PRAGMA journal_mode"); got != "delete" {
		t.Errorf("journal %q on 9p", got)
	}
	openIn(t, dir)
	if got := query(t, dir, "PRAGMA journal_mode"); got != "wal" {
		t.Errorf("journal %q on a local file system", got)
	}
}

// TestD06_TheLauncherNeverOpensTheFile: a Windows process must not open it over
// \\wsl.localhost, where its locks mean nothing.
func TestD06_TheLauncherNeverOpensTheFile(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	cmd := exec.CommandContext(t.Context(), goTool, "list", "-deps", "github.com/hermes-acp/hermes-acp/wslbridge")
	cmd.Env = append(os.Environ(), "GOOS=windows")
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("go list: %v", err)
	}
	for _, pkg := range []string{"hermes-acp/agent/store", "modernc.org/sqlite"} {
		if strings.Contains(string(out), pkg+"\n") {
			t.Errorf("the launcher imports %s", pkg)
		}
	}
}

func TestDirectoryInItsPlace(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, FileName), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := helperDB(t.Context(), dir)
	if err == nil || !strings.Contains(err.Error(), "is a folder: move it away") {
		t.Errorf("got %v", err)
	}
}

func TestCorruptFileIsMovedAside(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"no database": func(path string) error {
			return os.WriteFile(path, bytes.Repeat([]byte("not a database\n"), 1000), 0o600)
		},
		"header":      func(path string) error { return overwrite(path, 0, []byte("XXXXXXXXXXXXXXXX")) },
		"schema page": func(path string) error { return overwrite(path, 100, bytes.Repeat([]byte{0xff}, 2000)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			closed(t, dir)
			path := filepath.Join(dir, FileName)
			if err := damage(path); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			db := openIn(t, dir)
			newSession(t, db, "new")
			appendAll(t, db, "new", true, user("q"), assistant("a"))
			aside, err := filepath.Glob(path + ".corrupt-*")
			if err != nil || len(aside) != 1 {
				t.Fatalf("moved aside: %q, %v", aside, err)
			}
			kept, err := os.ReadFile(aside[0])
			if err != nil || !bytes.Equal(before, kept) {
				t.Errorf("the damaged file was changed, %v", err)
			}
			if w := db.Warnings(); len(w) != 1 || !strings.Contains(w[0], "was damaged") || !strings.Contains(w[0], aside[0]) {
				t.Errorf("warnings: %q", w)
			}
		})
	}
}

func overwrite(path string, offset int64, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, offset)
	return errors.Join(err, f.Close())
}

func TestEmptyFileIsBegun(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, FileName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db := openIn(t, dir)
	newSession(t, db, "s1")
	if aside, _ := filepath.Glob(filepath.Join(dir, "*.corrupt-*")); aside != nil {
		t.Errorf("moved aside: %q", aside)
	}
}

func TestBigFile(t *testing.T) {
	if !soak() {
		t.Skip("1 GiB; in the soak lane")
	}
	dir := t.TempDir()
	closed(t, dir)
	for i := range 8 {
		execute(t, dir, `INSERT INTO state_meta (key, value) VALUES (?, zeroblob(134217728))`, fmt.Sprint(i))
	}
	info, err := os.Stat(filepath.Join(dir, FileName))
	if err != nil || info.Size() < 1<<30 {
		t.Fatalf("%v, %v", info, err)
	}
	db := openIn(t, dir)
	appendAll(t, db, "s1", true, user("q"), assistant("a"))
	if page, err := db.ListSessions(t.Context(), agent.SessionFilter{}); err != nil || len(page.Sessions) != 1 {
		t.Errorf("%+v, %v", page, err)
	}
}

// TestDamagedSearchIndex: Hermes' triggers write to the index, so that a damaged
// one would keep every turn from being saved.
func TestDamagedSearchIndex(t *testing.T) {
	for _, index := range []string{"messages_fts", "messages_fts_trigram"} {
		t.Run(index, func(t *testing.T) {
			dir := t.TempDir()
			db := openIn(t, dir)
			newSession(t, db, "s1")
			appendAll(t, db, "s1", true, user("walrus"), assistant("a"))
			execute(t, dir, `UPDATE `+index+`_data SET block = x'ffffffffffffffff'`)
			db = openIn(t, dir)
			appendAll(t, db, "s1", true, user("walrus again"), assistant("b"))
			if diff := cmp.Diff([]string{"user: walrus", "assistant: a", "user: walrus again", "assistant: b"}, lines(messagesOf(t, db, "s1"))); diff != "" {
				t.Error(diff)
			}
			hits, err := db.Search(t.Context(), agent.SearchQuery{Text: "walrus"})
			if err != nil || len(hits) != 2 {
				t.Errorf("%+v, %v", hits, err)
			}
		})
	}
}
