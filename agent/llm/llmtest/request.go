package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// Request is one request as it came.
type Request struct {
	Header http.Header
	Body   []byte

	Model           string    `json:"model"`
	Messages        []Message `json:"messages"`
	Stream          bool      `json:"stream"`
	Tools           []Tool    `json:"tools"`
	MaxTokens       int       `json:"max_tokens"`
	ReasoningEffort string    `json:"reasoning_effort"`
	StreamOptions   *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	// MaxCompletionTokens is what newer OpenAI models want for MaxTokens.
	MaxCompletionTokens int `json:"max_completion_tokens"`
}

// Message is one message of a request.
type Message struct {
	Role             string          `json:"role"`
	Content          json.RawMessage `json:"content"`
	ReasoningContent *string         `json:"reasoning_content"`
	ToolCalls        []ToolCall      `json:"tool_calls"`
	ToolCallID       string          `json:"tool_call_id"`
}

// Text is the content when it is a string, else its JSON.
func (m Message) Text() string {
	var s string
	if json.Unmarshal(m.Content, &s) != nil {
		return string(m.Content)
	}
	return s
}

// ToolCall is a call inside an assistant message.
type ToolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string  `json:"name"`
		Arguments *string `json:"arguments"`
	} `json:"function"`
}

// Tool is a tool that a request offers.
type Tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// readRequest decodes a request and says what a picky provider would refuse.
func readRequest(header http.Header, body []byte, rules rules) (Request, error) {
	req := Request{Header: header, Body: body}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&req); err != nil {
		return req, err
	}
	if req.Model == "" {
		return req, fmt.Errorf("model is missing")
	}
	if !req.Stream {
		return req, fmt.Errorf("stream is not true")
	}
	if err := checkTools(req.Tools); err != nil {
		return req, err
	}
	return req, checkMessages(req.Messages, rules)
}

func checkTools(tools []Tool) error {
	for i, tool := range tools {
		var schema struct{ Type string }
		if tool.Type != "function" || tool.Function.Name == "" {
			return fmt.Errorf("tools[%d] is not a named function", i)
		}
		if json.Unmarshal(tool.Function.Parameters, &schema) != nil || schema.Type != "object" {
			return fmt.Errorf("tools[%d] (%s): parameters are not an object's schema", i, tool.Function.Name)
		}
	}
	return nil
}

// checkMessages walks a conversation. open are the calls that wait for results.
func checkMessages(messages []Message, rules rules) error {
	var open []string
	seen := make(map[string]bool)
	previous := ""
	for i, m := range messages {
		if err := checkMessage(m); err != nil {
			return fmt.Errorf("messages[%d] (%s): %w", i, m.Role, err)
		}
		if m.Role == "tool" {
			at := slices.Index(open, m.ToolCallID)
			if at < 0 {
				return fmt.Errorf("messages[%d] answers call %q, which is not open", i, m.ToolCallID)
			}
			open = slices.Delete(open, at, at+1)
			previous = m.Role
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("messages[%d] (%s) comes before the results of calls %q", i, m.Role, open)
		}
		if m.Role == "user" && previous == "user" && !rules.adjacentUsers {
			return fmt.Errorf("messages[%d] and the one before are both user messages", i)
		}
		for _, call := range m.ToolCalls {
			if seen[call.ID] {
				return fmt.Errorf("messages[%d]: the call id %q is used twice", i, call.ID)
			}
			seen[call.ID] = true
			open = append(open, call.ID)
		}
		previous = m.Role
	}
	if len(open) > 0 {
		return fmt.Errorf("the calls %q have no results", open)
	}
	if previous != "user" && previous != "tool" {
		return fmt.Errorf("the last message is neither a user's nor a tool's")
	}
	return nil
}

func checkMessage(m Message) error {
	if m.Content == nil || string(m.Content) == "null" {
		return fmt.Errorf("content is missing")
	}
	if err := checkContent(m.Content); err != nil {
		return err
	}
	switch m.Role {
	case "system", "user":
		if m.Text() == "" {
			return fmt.Errorf("content is empty")
		}
	case "tool":
		if m.ToolCallID == "" {
			return fmt.Errorf("tool_call_id is missing")
		}
	case "assistant":
		if m.Text() == "" && len(m.ToolCalls) == 0 {
			return fmt.Errorf("content is empty and there are no tool calls")
		}
	default:
		return fmt.Errorf("no such role")
	}
	if m.Role != "assistant" && len(m.ToolCalls)+len(deref(m.ReasoningContent)) > 0 {
		return fmt.Errorf("only assistant messages have tool_calls and reasoning_content")
	}
	for _, call := range m.ToolCalls {
		if call.ID == "" || call.Type != "function" || call.Function.Name == "" {
			return fmt.Errorf("a tool call lacks its id, type or name")
		}
		if call.Function.Arguments == nil || !json.Valid([]byte(*call.Function.Arguments)) {
			return fmt.Errorf("the arguments of call %s are not JSON", call.ID)
		}
	}
	return nil
}

// checkContent takes a string, or a list of text and image parts.
func checkContent(content json.RawMessage) error {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return nil
	}
	var parts []struct {
		Type     string  `json:"type"`
		Text     *string `json:"text"`
		ImageURL *struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	dec := json.NewDecoder(bytes.NewReader(content))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&parts); err != nil {
		return fmt.Errorf("content: %w", err)
	}
	if len(parts) == 0 {
		return fmt.Errorf("content is an empty list")
	}
	for i, p := range parts {
		switch {
		case p.Type == "text" && p.Text != nil && *p.Text != "" && p.ImageURL == nil:
		case p.Type == "image_url" && p.ImageURL != nil && p.ImageURL.URL != "" && p.Text == nil:
		default:
			return fmt.Errorf("content[%d] is neither a text nor an image", i)
		}
	}
	return nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
