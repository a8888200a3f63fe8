package agent

import (
	"context"
	"strings"
)

const titleLimit = 60 // bytes

// title gives the session a title after its first exchange, from the words of
// its first prompt. A title that is there, the person's own above all, stays.
func (r *run) title(ctx context.Context) {
	s := r.session
	s.mu.Lock()
	title := ""
	if s.rec.Title == "" {
		title = titleOf(s.history)
	}
	s.mu.Unlock()
	if title == "" {
		return
	}
	kept, err := r.store.SetTitle(context.WithoutCancel(ctx), s.id, title)
	if err != nil {
		s.agent.cfg.Log.WarnContext(ctx, "could not title a session", "session_id", s.id, "error", err)
		return
	}
	s.mu.Lock()
	s.rec.Title = kept
	s.mu.Unlock()
	r.emit(ctx, InfoChanged{Title: kept})
}

// titleOf is the first line of the first thing the person said, cut at a word.
func titleOf(history []Message) string {
	for _, m := range history {
		if m.Role != RoleUser {
			continue
		}
		line, _, _ := strings.Cut(strings.TrimSpace(m.Text()), "\n")
		line = strings.Join(strings.Fields(line), " ")
		if len(line) <= titleLimit {
			return line
		}
		cut := cutAt(line, titleLimit)
		if space := strings.LastIndexByte(cut, ' '); space > titleLimit/2 {
			cut = cut[:space]
		}
		return cut + "…"
	}
	return ""
}
