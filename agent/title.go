package agent

import (
	"context"
	"errors"
	"strings"
	"time"
)

const (
	titleLimit     = 60  // bytes
	titleMaxTokens = 500 // of a model that may think first
	titleTimeout   = 5 * time.Second
)

// title gives the session a title after its first exchange. A title that is
// there, the person's own above all, stays.
func (r *run) title(ctx context.Context) {
	s := r.session
	rec, err := s.Record(ctx)
	if err != nil || rec.Title != "" {
		return
	}
	title := r.newTitle(ctx, s.History())
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

// newTitle is what the configured model makes of the first exchange; without
// one, or when it fails, it is the words of the first prompt.
func (r *run) newTitle(ctx context.Context, history []Message) string {
	words := titleOf(history)
	cfg := r.session.agent.cfg
	if cfg.TitleModel == "" || words == "" {
		return words
	}
	ctx, cancel := context.WithTimeout(ctx, titleTimeout)
	defer cancel()
	title, err := writeTitle(ctx, cfg.Models, cfg.TitleModel, history)
	if err != nil {
		cfg.Log.WarnContext(ctx, "the model wrote no title", "session_id", r.session.id, "model", cfg.TitleModel, "error", err)
		return words
	}
	return title
}

const titleInstructions = `Name the conversation that begins with the following exchange: three to seven words, in the person's language. Write the name only, without quotes and without a full stop.`

func writeTitle(ctx context.Context, models Models, id string, history []Message) (string, error) {
	model, err := models.Model(ctx, id)
	if err != nil {
		return "", err
	}
	exchange := []Message{history[0], history[len(history)-1]}
	answer, err := model.Stream(ctx, ModelRequest{
		Messages:  []Message{TextMessage(RoleSystem, titleInstructions), TextMessage(RoleUser, transcript(exchange, model.Info().ContextWindow))},
		MaxTokens: titleMaxTokens,
	}, func(Delta) {})
	if err != nil {
		return "", err
	}
	title := strings.Trim(firstLine(answer.Message.Text()), `"' `)
	if title == "" {
		return "", errors.New("its answer is empty")
	}
	return title, nil
}

// titleOf is the first line of the first thing the person said.
func titleOf(history []Message) string {
	for _, m := range history {
		if m.Role == RoleUser {
			return firstLine(m.Text())
		}
	}
	return ""
}

// firstLine is the first line of a text, cut at a word when it is too long for a
// title.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
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
