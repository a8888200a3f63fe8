//go:build linux

package wslbridge

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPruneStore(t *testing.T) {
	store := filepath.Join(t.TempDir(), StoreDir)
	now := time.Now()
	for _, name := range []string{"current", "older", "oldest", "newest", "newer"} {
		path := filepath.Join(store, name, "hermes-acp")
		writeFile(t, path, "", 0o700)
		age := now.Add(-time.Duration(map[string]int{"newest": 1, "newer": 2, "older": 3, "oldest": 4}[name]) * 24 * time.Hour)
		if err := os.Chtimes(filepath.Join(store, name), age, age); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(store, ".new.1"), "", 0o600)
	writeFile(t, filepath.Join(store, ".new.2"), "", 0o600)
	if err := os.Chtimes(filepath.Join(store, ".new.1"), now.Add(-2*time.Hour), now.Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := PruneStore(store, "/usr/bin/hermes-acp"); err != nil {
		t.Fatal(err)
	}
	assertEntries(t, store, ".new.1", ".new.2", "current", "newer", "newest", "older", "oldest")
	if err := PruneStore(store, filepath.Join(store, "current", "hermes-acp")); err != nil {
		t.Fatal(err)
	}
	assertEntries(t, store, ".new.2", "current", "newer", "newest")
}

// assertEntries checks the names in a folder.
func assertEntries(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", dir, diff)
	}
}
