package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/hermes-acp/hermes-acp/agent"
)

// Damage looks for damage in the file and returns one line for each finding. It
// reads the whole file.
func (db *DB) Damage(ctx context.Context) (damage []string, err error) {
	lines, err := selectAll(ctx, db.readers, scanText, `PRAGMA quick_check`)
	for _, line := range lines {
		if line != "ok" {
			damage = append(damage, line)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", db.path, explain(err))
	}
	return damage, nil
}

// BrokenLineages returns one line for each session whose chain of parents is
// broken.
func (db *DB) BrokenLineages(ctx context.Context) (lines []string, err error) {
	links, err := db.allLinks(ctx)
	if err != nil {
		return nil, fmt.Errorf("check the lineage of sessions: %w", explain(err))
	}
	lookup := func(_ context.Context, id string) (agent.SessionLink, error) {
		l, ok := links[id]
		if !ok {
			return l, agent.ErrUnknownSession
		}
		return l, nil
	}
	for id := range links {
		p, err := agent.TraceLineage(ctx, lookup, id, id, "")
		if err != nil {
			return nil, fmt.Errorf("check the lineage of session %s: %w", id, err)
		}
		switch {
		case p.Break == agent.LineageMissing && p.Root == id:
			lines = append(lines, fmt.Sprintf("session %s: %s (%s)", id, p.Break, p.Parent))
		case p.Break == agent.LineageCycle || p.Break == agent.LineageTooLong:
			lines = append(lines, fmt.Sprintf("session %s: %s", id, p.Break))
		}
	}
	slices.Sort(lines)
	return lines, nil
}

func (db *DB) allLinks(ctx context.Context) (map[string]agent.SessionLink, error) {
	all, err := selectAll(ctx, db.readers, scanLink, `SELECT `+linkColumns()+` FROM sessions s`)
	links := map[string]agent.SessionLink{}
	for _, l := range all {
		links[l.ID] = l
	}
	return links, err
}
