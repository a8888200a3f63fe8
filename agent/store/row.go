package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

// row is a message in the columns of Hermes' messages table, and the marks of
// acp_messages beside them. Its JSON form stands in acp_turn while the turn runs.
type row struct {
	Role       string  `json:"role"`
	Content    *string `json:"content,omitempty"` // text, or partsPrefix and a JSON array of content parts
	ToolCallID *string `json:"tool_call_id,omitempty"`
	ToolCalls  *string `json:"tool_calls,omitempty"` // JSON array in the form of the chat-completions API
	ToolName   *string `json:"tool_name,omitempty"`
	Reasoning  *string `json:"reasoning,omitempty"`
	Timestamp  float64 `json:"timestamp"` // seconds since 1970, kept to the microsecond
	// Images are data: URLs by the index of their content part. In Content that is
	// a text part which begins with imagePlaceholder: Hermes' triggers would index
	// the URL as words, which takes seconds for each MiB.
	Images  map[int]string `json:"images,omitempty"`
	putAway bool           // the model is not shown it
	marks
}

// marks are the properties of a message for which Hermes has no column.
type marks struct {
	Failed      bool `json:"failed,omitempty"`
	Authored    bool `json:"authored,omitempty"`
	Interrupted bool `json:"interrupted,omitempty"`
	Summary     bool `json:"summary,omitempty"`
}

// imagePlaceholder is what Hermes reads in place of an image.
const imagePlaceholder = "[image]"

// partsPrefix marks content that is not plain text. It is Hermes' own.
const partsPrefix = "\x00json:"

type contentPart struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type toolCall struct {
	ID       string       `json:"id"`
	CallID   string       `json:"call_id,omitempty"` // another spelling of ID in older rows
	Type     string       `json:"type"`
	Function functionCall `json:"function"`
}

type functionCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // a JSON string that holds the text of the arguments
}

func encodeRow(m agent.Message) (row, error) {
	r := row{
		Role:       string(m.Role),
		ToolCallID: optional(m.ToolCallID),
		ToolName:   optional(m.ToolName),
		Reasoning:  optional(m.Reasoning),
		Timestamp:  seconds(m.Time),
		marks:      marks{m.Failed, m.Authored, m.Interrupted, m.Summary},
	}
	if m.Time.IsZero() {
		r.Timestamp = seconds(time.Now())
	}
	var err error
	if r.Content, r.Images, err = encodeContent(m.Parts); err != nil {
		return row{}, err
	}
	if len(m.ToolCalls) > 0 {
		calls := make([]toolCall, len(m.ToolCalls))
		for i, c := range m.ToolCalls {
			arguments, err := marshal(c.Arguments)
			if err != nil {
				return row{}, err
			}
			calls[i] = toolCall{ID: c.ID, Type: "function", Function: functionCall{c.Name, arguments}}
		}
		text, err := marshal(calls)
		if err != nil {
			return row{}, err
		}
		r.ToolCalls = optional(string(text))
	}
	return r, nil
}

// encodeContent returns the content column, nil for NULL, and the images that do
// not stand in it.
func encodeContent(parts []agent.Part) (content *string, images map[int]string, err error) {
	if len(parts) == 0 {
		return nil, nil, nil
	}
	if p := parts[0]; len(parts) == 1 && p.ImageURL == "" && !strings.HasPrefix(p.Text, partsPrefix) {
		text := strings.ToValidUTF8(p.Text, "\uFFFD")
		return &text, nil, nil
	}
	encoded := make([]contentPart, len(parts))
	for i, p := range parts {
		encoded[i] = contentPart{Type: "text", Text: p.Text}
		switch {
		case strings.HasPrefix(p.ImageURL, "data:"):
			if images == nil {
				images = map[int]string{}
			}
			images[i] = p.ImageURL
			encoded[i].Text = imagePlaceholder + p.Text
		case p.ImageURL != "":
			encoded[i].Type, encoded[i].ImageURL = "image_url", &imageURL{p.ImageURL}
		}
	}
	text, err := marshal(encoded)
	if err != nil {
		return nil, nil, err
	}
	whole := partsPrefix + string(text)
	return &whole, images, nil
}

// message is the inverse of encodeRow. It also takes what only Hermes writes, and
// leaves out what it does not know, such as a content part of a new type. With an
// error it returns what can be read of a damaged row.
func (r row) message() (agent.Message, error) {
	m := agent.Message{
		Role:        agent.Role(r.Role),
		Reasoning:   value(r.Reasoning),
		ToolCallID:  value(r.ToolCallID),
		ToolName:    value(r.ToolName),
		Failed:      r.Failed,
		Authored:    r.Authored,
		Interrupted: r.Interrupted,
		Summary:     r.Summary,
		Time:        fromSeconds(r.Timestamp),
	}
	var contentErr, callsErr error
	if r.Content != nil {
		if m.Parts, contentErr = decodeContent(*r.Content); contentErr != nil {
			m.Parts = []agent.Part{{Text: *r.Content}}
			contentErr = fmt.Errorf("decode the content of a message: %w", contentErr)
		}
	}
	for i, url := range r.Images {
		if i < len(m.Parts) {
			m.Parts[i] = agent.Part{Text: strings.TrimPrefix(m.Parts[i].Text, imagePlaceholder), ImageURL: url}
		}
	}
	if r.ToolCalls != nil {
		if m.ToolCalls, callsErr = decodeToolCalls(*r.ToolCalls); callsErr != nil {
			callsErr = fmt.Errorf("decode the tool calls of a message: %w", callsErr)
		}
	}
	return m, errors.Join(contentErr, callsErr)
}

func decodeContent(content string) ([]agent.Part, error) {
	encoded, isParts := strings.CutPrefix(content, partsPrefix)
	if !isParts {
		return []agent.Part{{Text: content}}, nil
	}
	var parts []contentPart
	if err := json.Unmarshal([]byte(encoded), &parts); err != nil {
		return nil, err
	}
	var decoded []agent.Part
	for _, p := range parts {
		switch {
		case p.Type == "image_url" && p.ImageURL != nil:
			decoded = append(decoded, agent.Part{Text: p.Text, ImageURL: p.ImageURL.URL})
		case p.Type == "text":
			decoded = append(decoded, agent.Part{Text: p.Text})
		}
	}
	return decoded, nil
}

func decodeToolCalls(encoded string) ([]agent.ToolCall, error) {
	var calls []toolCall
	if err := json.Unmarshal([]byte(encoded), &calls); err != nil {
		return nil, err
	}
	decoded := make([]agent.ToolCall, len(calls))
	for i, c := range calls {
		decoded[i] = agent.ToolCall{ID: c.ID, Name: c.Function.Name}
		if c.ID == "" {
			decoded[i].ID = c.CallID
		}
		// Some providers' rows hold the arguments as an object.
		if err := json.Unmarshal(c.Function.Arguments, &decoded[i].Arguments); err != nil {
			decoded[i].Arguments = string(c.Function.Arguments)
		}
	}
	return decoded, nil
}

// marshal leaves <, > and & as they are, so that search finds them.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	return &s
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// seconds is Hermes' form of a time. A float64 holds it to the microsecond.
func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

func fromSeconds(s float64) time.Time { return time.UnixMicro(int64(math.Round(s * 1e6))).UTC() }
