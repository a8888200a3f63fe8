//go:build !windows

package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
	"github.com/hermes-acp/hermes-acp/agent/store"
)

const minutes = "2006-01-02 15:04"

func localTime(t time.Time) string { return t.Local().Format(minutes) }

func writeSessionTable(w io.Writer, sessions []agent.ListedSession) error {
	if len(sessions) == 0 {
		_, err := fmt.Fprintln(w, "There are no conversations here yet.")
		return err
	}
	var rows strings.Builder
	rows.WriteString("ID\tLAST ACTIVE\tTITLE\tFOLDER\n")
	for _, s := range sessions {
		fmt.Fprintf(&rows, "%s\t%s\t%s\t%s\n", s.ID, localTime(s.UpdatedAt), oneLine(s.Title), oneLine(s.Cwd))
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(table, rows.String()); err != nil {
		return err
	}
	return table.Flush()
}

// writeSessionHead prints what is kept of a session beside its messages, and its
// lineage as a tree.
func writeSessionHead(w *strings.Builder, rec agent.SessionRecord, p agent.Provenance, family []store.Relative) {
	fmt.Fprintf(w, "%s\n\n", oneLine(cmp.Or(rec.Title, "(no title)")))
	for _, line := range [][2]string{
		{"id", rec.ID},
		{"folder", rec.Cwd},
		{"also", strings.Join(rec.Dirs, ", ")},
		{"mode", string(rec.Mode)},
		{"model", rec.Model},
		{"begun", localTime(rec.CreatedAt)},
		{"active", localTime(rec.UpdatedAt)},
	} {
		if line[1] != "" {
			fmt.Fprintf(w, "%-8s %s\n", line[0], oneLine(line[1]))
		}
	}
	fmt.Fprintln(w, "lineage")
	if p.Break != agent.LineageWhole {
		fmt.Fprintf(w, "  (the chain of parents is broken: %s)\n", p.Break)
	}
	for _, r := range family {
		if r.ID == p.Root {
			fmt.Fprintf(w, "  %s\n", relativeLine(r, p))
			writeDescendants(w, "  ", r.ID, p, family, map[string]bool{r.ID: true})
		}
	}
	fmt.Fprintln(w)
}

func writeDescendants(w *strings.Builder, indent, parent string, p agent.Provenance, family []store.Relative, shown map[string]bool) {
	var children []store.Relative
	for _, r := range family {
		if r.Parent == parent && !shown[r.ID] { // a chain may be a cycle
			children = append(children, r)
			shown[r.ID] = true
		}
	}
	for i, r := range children {
		branch, deeper := "├─ ", "│  "
		if i == len(children)-1 {
			branch, deeper = "└─ ", "   "
		}
		fmt.Fprintf(w, "%s%s%s\n", indent, branch, relativeLine(r, p))
		writeDescendants(w, indent+deeper, r.ID, p, family, shown)
	}
}

func relativeLine(r store.Relative, p agent.Provenance) string {
	line := fmt.Sprintf("%s  %s, %d messages", oneLine(r.ID), localTime(r.Started), r.Messages)
	if r.Branch {
		line += ", fork"
	}
	if r.EndReason != "" {
		line += ", ended: " + oneLine(r.EndReason)
	}
	if r.ID == p.Current {
		line += "  <- this conversation"
	}
	return line
}

// speaker names who speaks in a message, for people.
func speaker(m agent.Message) string {
	switch {
	case m.Summary:
		return "summary"
	case m.Authored:
		return "hermes-acp"
	case m.Role == agent.RoleUser:
		return "you"
	case m.Role == agent.RoleAssistant:
		return "agent"
	case m.Role == agent.RoleTool && m.Failed:
		return cmp.Or(m.ToolName, "tool") + " failed"
	case m.Role == agent.RoleTool:
		return cmp.Or(m.ToolName, "tool")
	}
	return string(m.Role)
}

// shownLines bounds what is printed of one tool result.
const shownLines = 12

func writeConversation(w *strings.Builder, msgs []agent.Message) {
	for _, m := range msgs {
		fmt.Fprintf(w, "── %s, %s\n", oneLine(speaker(m)), localTime(m.Time))
		lines := strings.Split(strings.TrimRight(printable(m.Text()), "\n"), "\n")
		if m.Role == agent.RoleTool && len(lines) > shownLines {
			lines = append(lines[:shownLines], fmt.Sprintf("… %d more lines", len(lines)-shownLines))
		}
		if m.Text() != "" {
			fmt.Fprintln(w, strings.Join(lines, "\n"))
		}
		for _, p := range m.Parts {
			if p.ImageURL != "" {
				fmt.Fprintln(w, "[image]")
			}
		}
		for _, call := range m.ToolCalls {
			fmt.Fprintf(w, "→ %s %s\n", oneLine(call.Name), oneLine(call.Arguments))
		}
		if m.Interrupted {
			fmt.Fprintln(w, "[cut off here]")
		}
		fmt.Fprintln(w)
	}
}

func writeActions(w *strings.Builder, actions []agent.Action) {
	if len(actions) == 0 {
		fmt.Fprintln(w, "no actions")
	}
	for _, a := range actions {
		outcome := "done"
		if a.Failure != "" {
			outcome = "failed: " + oneLine(a.Failure)
		}
		fmt.Fprintf(w, "%s  %s  allowed by: %s  %s  (%s)\n", localTime(a.Started), oneLine(a.Tool), a.Grant, outcome, a.Ended.Sub(a.Started).Round(time.Millisecond))
		if a.Command != "" {
			fmt.Fprintf(w, "    $ %s\n", oneLine(a.Command))
		}
		for _, path := range a.Paths {
			fmt.Fprintf(w, "    %s\n", oneLine(path))
		}
	}
}
