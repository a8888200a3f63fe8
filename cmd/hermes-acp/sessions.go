//go:build !windows

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/hermes-acp/hermes-acp/agent"
	"github.com/hermes-acp/hermes-acp/agent/store"
)

// sessionsCommand lists, shows, exports and removes conversations.
func sessionsCommand() *cli.Command {
	return &cli.Command{
		Name:  "sessions",
		Usage: "list, show, export and remove earlier conversations",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "print the conversations, the most recent first",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "cwd", Usage: "only those that work in `DIR`"},
					&cli.IntFlag{Name: "limit", Value: 20, Usage: "at most `N`; 0 prints all"},
					&cli.BoolFlag{Name: "json", Usage: "print a JSON object a line"},
				},
				Action: withStore(listSessions),
			},
			{
				Name: "show", Usage: "print one conversation and where it comes from", ArgsUsage: "ID",
				Description: "ID may be shortened to its first characters, as long as they name one conversation.",
				Flags:       []cli.Flag{&cli.BoolFlag{Name: "actions", Usage: "print what its tool calls did, and who or what allowed them"}},
				Action:      withStore(showSession),
			},
			{
				Name: "export", Usage: "write conversations as JSON or Markdown", ArgsUsage: "ID...",
				Flags: []cli.Flag{
					&cli.BoolFlag{Name: "all", Usage: "export every conversation"},
					&cli.StringFlag{Name: "format", Value: "json", Usage: "`FORMAT` is json (one object a line) or markdown"},
					&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, which must not exist, instead of stdout"},
				},
				Action: withStore(exportSessions),
			},
			{
				Name: "rm", Usage: "remove conversations for good", ArgsUsage: "ID...",
				Flags: []cli.Flag{
					&cli.BoolFlag{Name: "all", Usage: "remove every conversation of an editor"},
					&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"},
				},
				Action: withStore(removeSessions),
			},
		},
	}
}

// withStore opens the store for one command, whose person sees its warnings.
// Where there is no store yet none is made, and db is nil.
func withStore(action func(c *cli.Context, db *store.DB) error) cli.ActionFunc {
	return func(c *cli.Context) (err error) {
		source, err := sourceFrom(c)
		if err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(source.Home, store.FileName)); errors.Is(err, fs.ErrNotExist) {
			return action(c, nil)
		}
		db, err := store.Open(c.Context, store.Options{Dir: source.Home, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		for _, w := range db.Warnings() {
			if _, err := fmt.Fprintln(c.App.ErrWriter, "hermes-acp: warning: "+w); err != nil {
				return err
			}
		}
		return action(c, db)
	}
}

func listSessions(c *cli.Context, db *store.DB) error {
	filter := agent.SessionFilter{}
	if cwd := c.String("cwd"); cwd != "" {
		dir, err := filepath.Abs(cwd)
		if err != nil {
			return err
		}
		filter.Cwd = func(cwd string) bool { return filepath.Clean(cwd) == dir || sameDirOnDrive(cwd, dir) }
	}
	sessions, err := findSessions(c, db, filter, c.Int("limit"))
	if err != nil {
		return err
	}
	if !c.Bool("json") {
		return writeSessionTable(c.App.Writer, sessions)
	}
	for _, s := range sessions {
		if err := writeJSON(c.App.Writer, newSessionJSON(s.SessionRecord, s.Provenance)); err != nil {
			return err
		}
	}
	return nil
}

// findSessions returns at most limit sessions, all when it is 0.
func findSessions(c *cli.Context, db *store.DB, filter agent.SessionFilter, limit int) (sessions []agent.ListedSession, err error) {
	if db == nil {
		return nil, nil
	}
	for {
		page, err := db.ListSessions(c.Context, filter)
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, page.Sessions...)
		if limit > 0 && len(sessions) >= limit {
			return sessions[:limit], nil
		}
		if page.Next == "" {
			return sessions, nil
		}
		filter.Cursor = page.Next
	}
}

// findSession finds a session by its id, or by the first characters of it.
func findSession(c *cli.Context, db *store.DB, id string) (agent.SessionRecord, error) {
	if db == nil {
		return agent.SessionRecord{}, errors.New("there are no conversations yet")
	}
	rec, err := db.Session(c.Context, id)
	if !errors.Is(err, agent.ErrUnknownSession) {
		return rec, err
	}
	all, err := findSessions(c, db, agent.SessionFilter{}, 0)
	if err != nil {
		return agent.SessionRecord{}, err
	}
	var found []string
	for _, s := range all {
		if strings.HasPrefix(s.ID, id) {
			found = append(found, s.ID)
		}
	}
	switch len(found) {
	case 0:
		return agent.SessionRecord{}, fmt.Errorf("there is no conversation %q; see hermes-acp sessions list --limit 0", id)
	case 1:
		return db.Session(c.Context, found[0])
	}
	return agent.SessionRecord{}, fmt.Errorf("%q names %d conversations, %s and %s among them; give more of the id", id, len(found), found[0], found[1])
}

func showSession(c *cli.Context, db *store.DB) error {
	if c.NArg() != 1 {
		return errors.New("sessions show: give one ID; hermes-acp sessions list prints them")
	}
	rec, err := findSession(c, db, c.Args().First())
	if err != nil {
		return err
	}
	family, err := db.Family(c.Context, rec.ID)
	if err != nil {
		return err
	}
	p, err := db.Provenance(c.Context, rec.ID, "")
	if err != nil {
		return err
	}
	var text strings.Builder
	writeSessionHead(&text, rec, p, family)
	if c.Bool("actions") {
		actions, err := db.Actions(c.Context, rec.ID)
		if err != nil {
			return err
		}
		writeActions(&text, actions)
	} else {
		msgs, err := db.Messages(c.Context, rec.ID)
		if err != nil {
			return err
		}
		writeConversation(&text, msgs)
	}
	_, err = io.WriteString(c.App.Writer, text.String())
	return err
}

// chosenSessions are the sessions that the arguments, or --all, name.
func chosenSessions(c *cli.Context, db *store.DB) ([]agent.SessionRecord, error) {
	if c.Bool("all") == c.Args().Present() {
		return nil, errors.New("give the IDs of conversations, or --all; hermes-acp sessions list prints them")
	}
	var chosen []agent.SessionRecord
	if c.Bool("all") {
		all, err := findSessions(c, db, agent.SessionFilter{}, 0)
		for _, s := range all {
			chosen = append(chosen, s.SessionRecord)
		}
		return chosen, err
	}
	for _, id := range c.Args().Slice() {
		rec, err := findSession(c, db, id)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, rec)
	}
	return chosen, nil
}

func exportSessions(c *cli.Context, db *store.DB) (err error) {
	write := map[string]func(io.Writer, sessionExport) error{"json": writeExportJSON, "markdown": writeExportMarkdown}[c.String("format")]
	if write == nil {
		return fmt.Errorf("sessions export: the format is json or markdown, not %q", c.String("format"))
	}
	chosen, err := chosenSessions(c, db)
	if err != nil {
		return fmt.Errorf("sessions export: %w", err)
	}
	out := c.App.Writer
	if path := c.String("output"); path != "" {
		// A conversation may hold anything that was read: nobody else may see it.
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("sessions export: %w", err)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	w := bufio.NewWriter(out)
	for _, rec := range chosen {
		export, err := readExport(c.Context, db, rec)
		if err != nil {
			return err
		}
		if err := write(w, export); err != nil {
			return err
		}
	}
	return w.Flush()
}

func removeSessions(c *cli.Context, db *store.DB) error {
	chosen, err := chosenSessions(c, db)
	if err != nil {
		return fmt.Errorf("sessions rm: %w", err)
	}
	if c.Bool("all") && !c.Bool("yes") && len(chosen) > 0 {
		if _, err := fmt.Fprintf(c.App.ErrWriter, "Remove %d conversations for good? [y/N] ", len(chosen)); err != nil {
			return err
		}
		answer, err := bufio.NewReader(c.App.Reader).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("sessions rm: %w", err)
		}
		if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
			return errors.New("sessions rm: nothing was removed")
		}
	}
	for _, rec := range chosen {
		if err := db.DeleteSession(c.Context, rec.ID); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(c.App.Writer, "removed "+rec.ID); err != nil {
			return err
		}
	}
	return nil
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
