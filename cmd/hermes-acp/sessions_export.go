//go:build !windows

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
	"github.com/hermes-acp/hermes-acp/agent/store"
)

// sessionExport is everything that is kept of one conversation.
type sessionExport struct {
	rec        agent.SessionRecord
	provenance agent.Provenance
	segments   []store.Segment
	actions    []agent.Action
}

func readExport(ctx context.Context, db *store.DB, rec agent.SessionRecord) (e sessionExport, err error) {
	e.rec = rec
	if e.provenance, err = db.Provenance(ctx, rec.ID, ""); err != nil {
		return e, err
	}
	if e.segments, err = db.Transcript(ctx, rec.ID); err != nil {
		return e, err
	}
	e.actions, err = db.Actions(ctx, rec.ID)
	return e, err
}

// sessionJSON is a session in lists and exports. Times are RFC 3339 in UTC.
type sessionJSON struct {
	ID               string    `json:"id"`
	Title            string    `json:"title,omitempty"`
	Cwd              string    `json:"cwd"`
	Dirs             []string  `json:"additional_directories,omitempty"`
	Mode             string    `json:"mode,omitempty"`
	Model            string    `json:"model,omitempty"`
	CreatedAt        time.Time `json:"created_at"`
	UpdatedAt        time.Time `json:"updated_at"`
	HermesID         string    `json:"hermes_session_id"`
	RootHermesID     string    `json:"root_hermes_session_id"`
	CompressionDepth int       `json:"compression_depth"`
	LineageBroken    string    `json:"lineage_broken,omitempty"`
}

func newSessionJSON(rec agent.SessionRecord, p agent.Provenance) sessionJSON {
	return sessionJSON{
		ID: rec.ID, Title: rec.Title, Cwd: rec.Cwd, Dirs: rec.Dirs, Mode: string(rec.Mode), Model: rec.Model,
		CreatedAt: rec.CreatedAt, UpdatedAt: rec.UpdatedAt,
		HermesID: p.Current, RootHermesID: p.Root, CompressionDepth: p.CompressionDepth, LineageBroken: string(p.Break),
	}
}

type exportJSON struct {
	sessionJSON
	Segments []segmentJSON `json:"segments"`
	Actions  []actionJSON  `json:"actions"`
}

type segmentJSON struct {
	HermesID  string        `json:"hermes_session_id"`
	StartedAt time.Time     `json:"started_at"`
	EndReason string        `json:"end_reason,omitempty"`
	Messages  []messageJSON `json:"messages"`
}

type messageJSON struct {
	Role        string     `json:"role"`
	Content     []partJSON `json:"content,omitempty"`
	Reasoning   string     `json:"reasoning,omitempty"`
	ToolCalls   []callJSON `json:"tool_calls,omitempty"`
	ToolCallID  string     `json:"tool_call_id,omitempty"`
	ToolName    string     `json:"tool_name,omitempty"`
	Failed      bool       `json:"failed,omitempty"`
	Authored    bool       `json:"authored,omitempty"`
	Interrupted bool       `json:"interrupted,omitempty"`
	Summary     bool       `json:"summary,omitempty"`
	PutAway     bool       `json:"put_away,omitempty"`
	Time        time.Time  `json:"time"`
}

type partJSON struct {
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
}

type callJSON struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type actionJSON struct {
	CallID    string    `json:"call_id"`
	Tool      string    `json:"tool"`
	Paths     []string  `json:"paths"`
	Command   string    `json:"command,omitempty"`
	AllowedBy string    `json:"allowed_by"`
	Failure   string    `json:"failure,omitempty"`
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at"`
}

func writeExportJSON(w io.Writer, e sessionExport) error {
	out := exportJSON{sessionJSON: newSessionJSON(e.rec, e.provenance), Segments: []segmentJSON{}, Actions: []actionJSON{}}
	for _, s := range e.segments {
		segment := segmentJSON{HermesID: s.HermesID, StartedAt: s.Started, EndReason: s.EndReason, Messages: []messageJSON{}}
		for _, m := range s.Messages {
			segment.Messages = append(segment.Messages, newMessageJSON(m))
		}
		out.Segments = append(out.Segments, segment)
	}
	for _, a := range e.actions {
		out.Actions = append(out.Actions, actionJSON{a.CallID, a.Tool, a.Paths, a.Command, string(a.Grant), a.Failure, a.Started, a.Ended})
	}
	return writeJSON(w, out)
}

func newMessageJSON(m store.KeptMessage) messageJSON {
	out := messageJSON{
		Role: string(m.Role), Reasoning: m.Reasoning, ToolCallID: m.ToolCallID, ToolName: m.ToolName,
		Failed: m.Failed, Authored: m.Authored, Interrupted: m.Interrupted, Summary: m.Summary, PutAway: m.PutAway, Time: m.Time,
	}
	for _, p := range m.Parts {
		out.Content = append(out.Content, partJSON(p))
	}
	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, callJSON(c))
	}
	return out
}

// writeExportMarkdown writes a conversation for people to read. Tool calls and
// results stand in code fences that are longer than any in their text.
func writeExportMarkdown(w io.Writer, e sessionExport) error {
	var b strings.Builder
	title := e.rec.Title
	if title == "" {
		title = "Session " + e.rec.ID
	}
	fmt.Fprintf(&b, "# %s\n\n- session: `%s`\n- folder: `%s`\n- begun: %s\n\n", title, e.rec.ID, e.rec.Cwd, e.rec.CreatedAt.Format(time.RFC3339))
	for i, s := range e.segments {
		if i > 0 {
			fmt.Fprintf(&b, "---\n\n*The conversation was compressed here (%s) and goes on in `%s`.*\n\n", e.segments[i-1].EndReason, s.HermesID)
		}
		for _, m := range s.Messages {
			writeMessageMarkdown(&b, m)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeMessageMarkdown(b *strings.Builder, m store.KeptMessage) {
	fmt.Fprintf(b, "## %s\n\n", speaker(m.Message))
	if m.PutAway {
		b.WriteString("*No longer shown to the model.*\n\n")
	}
	switch text := m.Text(); {
	case text == "":
	case m.Role == agent.RoleTool:
		writeFenced(b, "", text)
	default:
		fmt.Fprintf(b, "%s\n\n", text)
	}
	for _, p := range m.Parts {
		if p.ImageURL != "" {
			fmt.Fprintf(b, "![image](%s)\n\n", p.ImageURL)
		}
	}
	for _, c := range m.ToolCalls {
		fmt.Fprintf(b, "Calls `%s`:\n\n", c.Name)
		writeFenced(b, "json", c.Arguments)
	}
	if m.Interrupted {
		b.WriteString("*Cut off here.*\n\n")
	}
}

func writeFenced(b *strings.Builder, language, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(b, "%s%s\n%s\n%s\n\n", fence, language, strings.TrimRight(text, "\n"), fence)
}
