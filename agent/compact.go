package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Compaction says when a conversation is compacted by itself: its middle is
// replaced by a summary that the model writes. The zero value has the defaults
// that Hermes has.
type Compaction struct {
	// Disabled leaves it to /compress and to a context overflow.
	Disabled bool
	// Threshold is the part of the context window that triggers it; 0 is 0.50.
	Threshold float64
	// MaxTokens triggers it however large the window is; 0 is 256,000.
	MaxTokens int
	// InPlace keeps one Hermes session; otherwise the conversation goes on in a
	// child session, with the end reason "compression" on its parent.
	InPlace bool
}

const (
	defaultThreshold     = 0.50
	smallWindow          = 512_000 // tokens; below it the threshold is at least smallWindowThreshold
	smallWindowThreshold = 0.75
	thresholdCap         = 256_000 // tokens
	minTailTokens        = 10_000
	maxTailTokens        = 25_000
	maxSummaryTokens     = 12_000
	summaryRowLimit      = 4_000 // bytes of one row as the summarising model sees it
)

// compactionCooldowns are the waits after the first, second and later failures.
var compactionCooldowns = [...]time.Duration{60 * time.Second, 300 * time.Second, 900 * time.Second}

// ErrNothingToCompact means that there is no middle worth a summary.
var ErrNothingToCompact = errors.New("nothing to compress: the conversation is too short")

// ThresholdTokens is the size of a conversation, in tokens, at which it is
// compacted; 0 when the window is unknown.
func (c Compaction) ThresholdTokens(window int) int {
	threshold := c.Threshold
	if threshold <= 0 || threshold > 1 {
		threshold = defaultThreshold
	}
	if window < smallWindow {
		threshold = max(threshold, smallWindowThreshold)
	}
	return min(int(threshold*float64(window)), cmp.Or(c.MaxTokens, thresholdCap))
}

// EstimateTokens guesses the size of messages in tokens, at four bytes a token
// and a thousand an image.
func EstimateTokens(msgs ...Message) int {
	n := 0
	for _, m := range msgs {
		n += 4 + len(m.Reasoning)/4
		for _, p := range m.Parts {
			n += len(p.Text) / 4
			if p.ImageURL != "" {
				n += 1000
			}
		}
		for _, c := range m.ToolCalls {
			n += (len(c.Name) + len(c.Arguments)) / 4
		}
	}
	return n
}

// split divides a history for compaction. head is the first exchange, when it is
// a plain one, and tail the newest messages, at least from the last user row on
// where that fits tailTokens. tail always begins with a user row or with an
// assistant row, so that no tool result loses its call.
func split(history []Message, tailTokens int) (head, middle, tail []Message) {
	first := 0
	if len(history) > 2 && history[0].Role == RoleUser && history[1].Role == RoleAssistant && len(history[1].ToolCalls) == 0 {
		first = 2
	} else if len(history) > 1 && history[0].Role == RoleUser {
		first = 1
	}
	cut, tokens := len(history), 0
	for i := len(history) - 1; i >= first; i-- {
		tokens += EstimateTokens(history[i])
		if tokens > tailTokens && cut < len(history) {
			break
		}
		if history[i].Role == RoleUser || history[i].Role == RoleAssistant {
			cut = i
		}
	}
	return history[:first], history[first:cut], history[cut:]
}

// tailTokens is how much of a conversation stays as it is.
func tailTokens(window, size int) int {
	if window <= 0 {
		window = size
	}
	return min(max(window/40, minTailTokens), maxTailTokens, window/5)
}

// Compact replaces the middle of the session's history by a summary and returns
// the sizes before and after, in tokens. It fails with ErrNothingToCompact when
// there is no middle. It must not run beside a turn of the session.
func (s *Session) Compact(ctx context.Context, emit func(context.Context, Event)) (before, after int, err error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return 0, 0, err
	}
	model, err := s.agent.Model(ctx, rec.Model)
	if err != nil {
		return 0, 0, err
	}
	history := s.History()
	before = EstimateTokens(history...)
	head, middle, tail := split(history, tailTokens(model.Info().ContextWindow, before))
	if len(middle) < 2 {
		return before, before, ErrNothingToCompact
	}
	id := NewID()
	emit(ctx, CompactionChanged{ID: id, State: CompactionRunning})
	summary, err := summarize(ctx, model, middle)
	if err == nil {
		compacted := slices.Concat(head, joinTail(summary, middle, tail))
		after = EstimateTokens(compacted...)
		err = s.keepCompacted(ctx, compacted)
	}
	ended := CompactionChanged{ID: id, State: CompactionDone, Summary: summary}
	switch {
	case err != nil && ctx.Err() != nil:
		ended = CompactionChanged{ID: id, State: CompactionCancelled, Err: err}
	case err != nil:
		ended = CompactionChanged{ID: id, State: CompactionFailed, Err: err}
	}
	emit(context.WithoutCancel(ctx), ended)
	if err != nil {
		return before, before, fmt.Errorf("compress the conversation: %w", err)
	}
	return before, after, nil
}

func (s *Session) keepCompacted(ctx context.Context, compacted []Message) error {
	store, err := s.agent.store(ctx)
	if err != nil {
		return err
	}
	err = store.Compact(ctx, s.id, compacted, s.agent.cfg.Compaction.InPlace)
	if errors.Is(err, ErrSessionMoved) {
		// The summary is not one of the whole conversation; that of the next try is.
		return errors.Join(err, s.readHistory(ctx, store))
	}
	if err != nil {
		return err
	}
	s.replaceHistory(compacted)
	return nil
}

// makeRoom compacts before a request when the conversation has reached the
// threshold. A failure is told and tried again later, the longer the oftener it
// fails; the request goes out as it is.
func (r *run) makeRoom(ctx context.Context) {
	c := r.session.agent.cfg.Compaction
	threshold := c.ThresholdTokens(r.model.Info().ContextWindow)
	if c.Disabled || threshold == 0 || r.session.Size() < threshold || time.Now().Before(r.session.nextCompaction) {
		return
	}
	_, _, err := r.session.Compact(ctx, r.emit)
	if err == nil || ctx.Err() != nil {
		r.session.failedCompactions = 0
		return
	}
	wait := compactionCooldowns[min(r.session.failedCompactions, len(compactionCooldowns)-1)]
	r.session.failedCompactions++
	r.session.nextCompaction = time.Now().Add(wait)
	if !errors.Is(err, ErrNothingToCompact) {
		r.emit(ctx, Notice{Text: fmt.Sprintf("The conversation is long and could not be compressed (%v); next try in %s.", err, wait)})
	}
}

// joinTail puts the summary before the tail. A tail that begins in the middle of
// a turn gets that turn's request back, so that the model still sees in the
// person's own words what it is working on.
func joinTail(summary string, middle, tail []Message) []Message {
	row := TextMessage(RoleAssistant, "Summary of the conversation so far, in place of its older messages:\n\n"+summary)
	row.Summary, row.Time = true, time.Now()
	joined := []Message{row}
	if len(tail) == 0 || tail[0].Role != RoleUser {
		for _, m := range slices.Backward(middle) {
			if m.Role == RoleUser {
				joined = append(joined, m)
				break
			}
		}
	}
	return append(joined, tail...)
}

const summaryInstructions = `You compress the middle of a conversation between a person and a coding agent so that the agent can go on without it. Write a summary that keeps: what the person asked for and decided, what was done and with which result, names of files, functions, commands and errors exactly as they are, and what is still open. Leave out greetings and tool output that no longer matters. Write the summary only, no preface.`

func summarize(ctx context.Context, model Model, middle []Message) (string, error) {
	limit, window := maxSummaryTokens, model.Info().ContextWindow
	if window > 0 {
		limit = min(limit, max(window/20, 500))
	}
	answer, err := model.Stream(ctx, ModelRequest{
		Messages:  []Message{TextMessage(RoleSystem, summaryInstructions), TextMessage(RoleUser, transcript(middle, window))},
		MaxTokens: limit,
	}, func(Delta) {})
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(answer.Message.Text())
	if text == "" {
		return "", errors.New("the model wrote an empty summary")
	}
	return text, nil
}

// transcript writes messages for the summarising model. It fits half the window:
// of what is too long the oldest rows are left out.
func transcript(msgs []Message, window int) string {
	var rows []string
	for _, m := range msgs {
		row := string(m.Role) + ": " + m.Text()
		for _, c := range m.ToolCalls {
			row += "\ncalls " + c.Name + " " + c.Arguments
		}
		if len(row) > summaryRowLimit {
			row = cutAt(row, summaryRowLimit) + " [...]"
		}
		rows = append(rows, row)
	}
	if window > 0 {
		for size := len(strings.Join(rows, "\n\n")); size > window*2 && len(rows) > 1; rows = rows[1:] {
			size -= len(rows[0]) + 2
		}
	}
	return strings.Join(rows, "\n\n")
}

// cutAt returns the longest beginning of text of at most limit bytes that ends
// between two characters.
func cutAt(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
