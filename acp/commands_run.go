package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

func (s *server) helpCommand(context.Context, *agent.Session, string) (string, error) {
	var text strings.Builder
	text.WriteString("Available commands:\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&text, "  /%-10s  %s\n", c.name, c.description)
	}
	text.WriteString("\nAny other /word goes to the model.")
	return text.String(), nil
}

func (s *server) versionCommand(context.Context, *agent.Session, string) (string, error) {
	return "Hermes ACP v" + s.cfg.Version, nil
}

func (s *server) modelCommand(ctx context.Context, session *agent.Session, id string) (string, error) {
	verb := "Current model"
	if id != "" {
		if err := session.SetModel(ctx, id); err != nil {
			return "", err
		}
		verb = "Model switched to"
		s.updates(session.ID()).configOptions(ctx, session)
	}
	info, err := s.sessionModel(ctx, session)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("%s: %s\nProvider: %s", verb, info.ID, info.Provider)
	if id != "" && s.view(session.ID()).isRunning() {
		text += "\nThe running turn goes on with its model; the next one has this one."
	}
	return text, nil
}

func (s *server) sessionModel(ctx context.Context, session *agent.Session) (agent.ModelInfo, error) {
	rec, err := session.Record(ctx)
	if err != nil {
		return agent.ModelInfo{}, err
	}
	return s.modelInfo(ctx, rec)
}

func (s *server) modeCommand(ctx context.Context, session *agent.Session, id string) (string, error) {
	if id == "" {
		rec, err := session.Record(ctx)
		return "Current mode: " + string(rec.Mode) + "\nModes: " + modeNames(), err
	}
	mode, err := parseMode(id)
	if err != nil {
		return "", err
	}
	if err := session.SetMode(ctx, mode); err != nil {
		return "", err
	}
	u := s.updates(session.ID())
	u.currentMode(ctx, mode)
	u.configOptions(ctx, session)
	return "Mode: " + id, nil
}

// toolsWait is how long /tools waits for servers that still start. What comes
// behind it may be a setting, which should not wait as long as a turn does.
const toolsWait = 2 * time.Second

func (s *server) toolsCommand(ctx context.Context, session *agent.Session, _ string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, toolsWait)
	defer cancel()
	tools, problems := session.Tools(ctx)
	var text strings.Builder
	if len(tools) == 0 {
		text.WriteString("No tools available.\n")
	} else {
		fmt.Fprintf(&text, "Available tools (%d):\n", len(tools))
	}
	for _, t := range tools {
		fmt.Fprintf(&text, "  %s: %s\n", t.Name, preview(t.Description))
	}
	for _, err := range problems {
		fmt.Fprintf(&text, "%v\n", err)
	}
	return text.String(), nil
}

func (s *server) contextCommand(ctx context.Context, session *agent.Session, _ string) (string, error) {
	var lines []string
	counts, total := map[agent.Role]int{}, 0
	for _, m := range session.History() {
		counts[m.Role]++
		total++
	}
	if total == 0 {
		lines = append(lines, "Conversation is empty (no messages yet).")
	} else {
		lines = append(lines, fmt.Sprintf("Conversation: %d messages", total), fmt.Sprintf("  user: %d, assistant: %d, tool: %d, system: %d",
			counts[agent.RoleUser], counts[agent.RoleAssistant], counts[agent.RoleTool], counts[agent.RoleSystem]))
	}
	info, err := s.sessionModel(ctx, session)
	if err != nil {
		return "", err
	}
	use, err := session.ContextUse(ctx)
	if err != nil {
		return "", err
	}
	lines = append(lines, "Model: "+info.ID, "Provider: "+info.Provider)
	return strings.Join(append(lines, contextUse(use)...), "\n"), nil
}

// contextUse says in words how full the window is and what will happen.
func contextUse(use agent.ContextUse) []string {
	if use.Window <= 0 {
		return []string{fmt.Sprintf("Context usage: ~%s tokens", grouped(use.Used))}
	}
	lines := []string{fmt.Sprintf("Context usage: ~%s / %s tokens (%.1f%%)", grouped(use.Used), grouped(use.Window), 100*float64(use.Used)/float64(use.Window))}
	threshold := fmt.Sprintf("~%s, %.0f%%", grouped(use.Threshold), 100*float64(use.Threshold)/float64(use.Window))
	switch {
	case !use.Automatic:
		lines = append(lines, "Automatic compression is off; /compress still compresses.")
	case use.Used >= use.Threshold:
		lines = append(lines, "Compression: due now (threshold "+threshold+"). Run /compress.")
	default:
		lines = append(lines, fmt.Sprintf("Compression: ~%s tokens until threshold (%s).", grouped(use.Threshold-use.Used), threshold),
			"Tip: run /compress to compress before the threshold.")
	}
	return lines
}

// grouped writes a number with commas between thousands.
func grouped(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func (s *server) diffCommand(_ context.Context, session *agent.Session, _ string) (string, error) {
	return s.view(session.ID()).changes.diff(), nil
}

func resetCommand(ctx context.Context, session *agent.Session, _ *updates) (string, error) {
	if err := session.Reset(ctx); err != nil {
		return "", err
	}
	return "Conversation history cleared.", nil
}

func compressCommand(ctx context.Context, session *agent.Session, u *updates) (string, error) {
	rows := len(session.History())
	if rows == 0 {
		return "Nothing to compress: the conversation is empty.", nil
	}
	before, after, err := session.Compact(ctx, u.emit)
	if errors.Is(err, agent.ErrNothingToCompact) {
		return "Nothing to compress: the conversation is too short.", nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Context compressed: %d -> %d messages\n~%s -> ~%s tokens", rows, len(session.History()), grouped(before), grouped(after)), nil
}
