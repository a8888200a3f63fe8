//go:build !windows

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/hermes-acp/hermes-acp/agent/store"
)

// privacy reports what holds keys or conversations and is open to other accounts.
func (c *checkup) privacy(context.Context) []finding {
	const name = "privacy"
	home := c.source.Home
	if !exists(home) {
		return []finding{fine(name, home+" is made at the first prompt")}
	}
	if c.onDrvfs(home) {
		return []finding{warning(name, home+" is on a Windows drive, where Linux has no say in who reads it",
			"keep HERMES_HOME inside Linux: unset it, or set it to a folder such as "+filepath.Join(personHome(), ".hermes"))}
	}
	var open, commands []string
	for _, private := range []struct {
		path string
		mode fs.FileMode
	}{
		{home, 0o700},
		{filepath.Join(home, ".env"), 0o600},
		{filepath.Join(home, "config.yaml"), 0o600},
		{filepath.Join(home, store.FileName), 0o600},
	} {
		info, err := os.Stat(private.path)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			open = append(open, fmt.Sprintf("%s (%o)", private.path, info.Mode().Perm()))
			commands = append(commands, fmt.Sprintf("chmod %o %s", private.mode, shellWord(private.path)))
		}
	}
	if len(open) > 0 {
		return []finding{warning(name, "open to other accounts: "+strings.Join(open, ", "), c.toType(strings.Join(commands, "; ")))}
	}
	return []finding{fine(name, home+" is yours alone")}
}

// database reports whether the conversations can be read and kept.
func (c *checkup) database(ctx context.Context) []finding {
	const name = store.FileName
	path := filepath.Join(c.source.Home, name)
	switch foreign, err := holdsNoDatabase(path); {
	case errors.Is(err, fs.ErrNotExist):
		return []finding{fine(name, path+" is made at the first prompt")}
	case foreign: // opening it would move it aside
		return []finding{failure(name, path+" is damaged: it does not begin as an SQLite database",
			"put a copy of it back, or go on: at the next start it is moved aside as "+name+".corrupt-TIME and a new one begun")}
	}
	db, err := store.Open(ctx, store.Options{Dir: c.source.Home, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return []finding{failureOf(name, err, c.mendDatabase(err, path))}
	}
	found := c.examine(ctx, db, path)
	if err := db.Close(); err != nil {
		found = append(found, failureOf(name, err, c.mendDatabase(err, path)))
	}
	return found
}

// examine reports what is wrong inside the file.
func (c *checkup) examine(ctx context.Context, db *store.DB, path string) []finding {
	const name = store.FileName
	var found []finding
	for _, text := range db.Warnings() {
		found = append(found, warning(name, text, "set HERMES_HOME to a folder inside Linux that is not shared over a network, or unset it"))
	}
	damage, err := db.Damage(ctx)
	if err != nil {
		return append(found, failureOf(name, err, c.mendDatabase(err, path)))
	}
	if len(damage) > 0 {
		found = append(found, failure(name, fmt.Sprintf("%s is damaged (%d places): %s", path, len(damage), damage[0]),
			"end every hermes-acp and Hermes, then "+c.toType(fmt.Sprintf("sqlite3 %[1]s .recover | sqlite3 %[1]s.new && mv %[1]s %[1]s.old && mv %[1]s.new %[1]s", shellWord(path)))))
	}
	broken, err := db.BrokenLineages(ctx)
	if err != nil {
		return append(found, failureOf(name, err, c.mendDatabase(err, path)))
	}
	if len(broken) > 0 {
		found = append(found, warning("lineage", fmt.Sprintf("%d conversations have lost what came before them: %s", len(broken), strings.Join(broken[:min(3, len(broken))], ", ")),
			"nothing is lost that is still listed; to read it: "+c.toRun("sessions list --limit 0")))
	}
	if len(found) == 0 {
		found = append(found, fine(name, path+" is whole"))
	}
	return found
}

// mendDatabase is what to do about an error of the store.
func (c *checkup) mendDatabase(err error, path string) string {
	switch {
	case errors.Is(err, store.ErrNewer):
		return "install the newest hermes-acp"
	case errors.Is(err, store.ErrForeign):
		return "move it away: " + c.toType("mv "+shellWord(path)+" "+shellWord(path+".old"))
	case errors.Is(err, store.ErrDiskFull):
		return c.toType("df -h " + shellWord(filepath.Dir(path)))
	}
	return c.toType("ls -la " + shellWord(filepath.Dir(path)))
}

// holdsNoDatabase reports whether a file has content that is not SQLite's. It
// must be asked before this process opens the database: closing any descriptor
// of the file drops SQLite's locks.
func holdsNoDatabase(path string) (bool, error) {
	const magic = "SQLite format 3\x00"
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, len(magic))
	n, err := io.ReadFull(f, head)
	return string(head[:n]) != magic, err
}

// logs reports whether the log can be written: whether files can be made in its
// folder or, while that does not exist, in the nearest one above it.
func (c *checkup) logs(context.Context) []finding {
	const name = "logs"
	dir := filepath.Join(c.source.Home, "logs")
	at := dir
	for !exists(at) && at != filepath.Dir(at) {
		at = filepath.Dir(at)
	}
	probe, err := os.CreateTemp(at, ".hermes-acp-doctor-*")
	if err == nil {
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	if err != nil {
		return []finding{failureOf(name, fmt.Errorf("nothing can be written in %s: %w", at, err), c.toType("ls -ld "+shellWord(at)+" && df -h "+shellWord(at)))}
	}
	return []finding{fine(name, filepath.Join(dir, "hermes-acp.log"))}
}
