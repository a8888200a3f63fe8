package llm

import (
	"encoding/json"
	"fmt"
	"slices"

	openai "github.com/sashabaranov/go-openai"

	"github.com/hermes-acp/hermes-acp/agent"
)

// request is go-openai's request with messages of our own, since its messages
// drop the content key when a text is empty, which DeepSeek and others refuse.
type request struct {
	openai.ChatCompletionRequest
	Messages []message `json:"messages"`
	// MaxTokens is what go-openai calls deprecated; most providers know no other.
	MaxTokens int `json:"max_tokens,omitempty"`
}

type message struct {
	Role string `json:"role"`
	// Content is a string, or a list of parts when there are images.
	Content          any               `json:"content"`
	ReasoningContent *string           `json:"reasoning_content,omitempty"`
	ToolCalls        []openai.ToolCall `json:"tool_calls,omitempty"`
	ToolCallID       string            `json:"tool_call_id,omitempty"`
}

// encode writes the body of a request in a dialect.
func encode(model string, req agent.ModelRequest, d dialect) ([]byte, error) {
	if d.noImages {
		req.Messages = withoutImages(req.Messages)
	}
	wire := request{
		ChatCompletionRequest: openai.ChatCompletionRequest{Model: model, Stream: true},
		Messages:              messages(req.Messages, d),
	}
	for _, spec := range req.Tools {
		wire.Tools = append(wire.Tools, tool(spec))
	}
	d.addTo(&wire, req)
	body, err := json.Marshal(wire)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return body, nil
}

func tool(spec agent.ToolSpec) openai.Tool {
	schema := spec.Schema
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
		Name:        spec.Name,
		Description: spec.Description,
		Parameters:  schema,
	}}
}

// messages turns a conversation into its wire form. Tool messages cannot carry
// images there, so the images of one round of calls follow in a user message,
// which is joined with the person's own when that comes next.
func messages(conversation []agent.Message, d dialect) []message {
	turn := 0 // where the running turn begins
	for i, m := range conversation {
		if m.Role == agent.RoleUser {
			turn = i
		}
	}
	out := make([]message, 0, len(conversation))
	var images []agent.Part
	flush := func() {
		if len(images) > 0 {
			out = append(out, message{Role: string(agent.RoleUser), Content: content(images)})
			images = nil
		}
	}
	for i, m := range conversation {
		if m.Role == agent.RoleTool {
			out = append(out, toolMessage(m))
			images = append(images, imagesOf(m)...)
			continue
		}
		parts := m.Parts
		if m.Role == agent.RoleUser && len(images) > 0 {
			parts = append(images, parts...)
			images = nil
		}
		flush()
		text := content(parts)
		if text == "" && m.Role == agent.RoleAssistant && len(m.ToolCalls) == 0 {
			text = "(no answer)" // Anthropic refuses a conversation with an empty one
		}
		out = append(out, message{
			Role:             string(m.Role),
			Content:          text,
			ReasoningContent: d.reasoningOf(m, i > turn),
			ToolCalls:        toolCalls(m.ToolCalls),
		})
	}
	flush()
	return out
}

// toolMessage gives a call without output a text, since some providers refuse an
// empty one.
func toolMessage(m agent.Message) message {
	text := m.Text()
	if text == "" {
		text = "(no output)"
	}
	return message{Role: string(m.Role), Content: text, ToolCallID: m.ToolCallID}
}

func hasImages(conversation []agent.Message) bool {
	return slices.ContainsFunc(conversation, func(m agent.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p agent.Part) bool { return p.ImageURL != "" })
	})
}

// withoutImages returns the conversation with a text in the place of each image.
func withoutImages(conversation []agent.Message) []agent.Message {
	conversation = slices.Clone(conversation)
	for i, m := range conversation {
		parts := slices.Clone(m.Parts)
		for j, p := range parts {
			if p.ImageURL != "" {
				parts[j] = agent.Part{Text: "[an image was left out: you cannot see images here]"}
			}
		}
		conversation[i].Parts = parts
	}
	return conversation
}

func imagesOf(m agent.Message) []agent.Part {
	var images []agent.Part
	for _, p := range m.Parts {
		if p.ImageURL != "" {
			images = append(images, agent.Part{Text: "Image from " + m.ToolName + ":"}, agent.Part{ImageURL: p.ImageURL})
		}
	}
	return images
}

// content is a plain string unless there are images: many servers know only
// strings.
func content(parts []agent.Part) any {
	var list []openai.ChatMessagePart
	images := false
	for _, p := range parts {
		switch {
		case p.ImageURL != "":
			images = true
			list = append(list, openai.ChatMessagePart{
				Type:     openai.ChatMessagePartTypeImageURL,
				ImageURL: &openai.ChatMessageImageURL{URL: p.ImageURL},
			})
		case p.Text != "":
			list = append(list, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: p.Text})
		}
	}
	if images {
		return list
	}
	return agent.Message{Parts: parts}.Text()
}

// toolCalls sends arguments that are not JSON as an empty object: servers that
// parse them would refuse the whole conversation, and the call's result says
// already what was wrong.
func toolCalls(calls []agent.ToolCall) []openai.ToolCall {
	var out []openai.ToolCall
	for _, c := range calls {
		args := c.Arguments
		if !json.Valid([]byte(args)) {
			args = "{}"
		}
		out = append(out, openai.ToolCall{
			ID:       c.ID,
			Type:     openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: c.Name, Arguments: args},
		})
	}
	return out
}
