package agent

import (
	"strings"
	"time"
)

// Role says who speaks in a Message.
type Role string

// The roles of the chat-completions protocol.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one row of a conversation, as the model sees it and as the store
// keeps it.
type Message struct {
	Role  Role
	Parts []Part

	// Reasoning is the model's thinking that came with an assistant message.
	Reasoning string
	// ToolCalls are the calls an assistant message asks for, in its order.
	ToolCalls []ToolCall
	// ToolCallID and ToolName tie a tool message to the call it answers.
	ToolCallID string
	ToolName   string
	// Failed marks a tool message whose call did not complete.
	Failed bool
	// Authored marks an assistant message that hermes-acp wrote itself, such as
	// the closing row of a failed turn. It is kept in the history but never
	// shown as the model's words.
	Authored bool
	// Interrupted marks an assistant message that was cut off while streaming.
	Interrupted bool
	// Summary marks a compaction summary.
	Summary bool

	Time time.Time
}

// Part is one piece of a message's content: text, or an image when ImageURL is
// set (a data: URL, or a URL the model's provider can fetch).
type Part struct {
	Text     string
	ImageURL string
}

// ToolCall is a model's request to run a tool. Arguments is the JSON text as the
// model wrote it, which need not be valid. ID is unique within the session.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
}

// TextMessage returns a message of one text part.
func TextMessage(role Role, text string) Message {
	return Message{Role: role, Parts: []Part{{Text: text}}}
}

// Text joins the text parts with newlines; images are left out.
func (m Message) Text() string {
	var texts []string
	for _, p := range m.Parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}
