package llm

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/hermes-acp/hermes-acp/agent"
)

// chunk is one event of a streamed answer, or a whole answer that was not
// streamed. Fields that no part of the program reads are left out.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

// choice holds a Delta when the answer is streamed and a Message when not.
type choice struct {
	Delta        delta  `json:"delta"`
	Message      delta  `json:"message"`
	FinishReason string `json:"finish_reason"`
}

type delta struct {
	Content          text       `json:"content"`
	Refusal          text       `json:"refusal"`
	ReasoningContent text       `json:"reasoning_content"` // DeepSeek, Kimi, llama.cpp
	Reasoning        text       `json:"reasoning"`         // OpenRouter, Ollama, vLLM
	ToolCalls        []callPart `json:"tool_calls"`
}

// callPart is a piece of a tool call.
type callPart struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// text is a string, which some providers send as a list of text parts.
type text string

// UnmarshalJSON takes a string or a list of parts; anything else is no text.
func (t *text) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		return json.Unmarshal(b, (*string)(t))
	case '[':
		var parts []struct {
			Text text `json:"text"`
		}
		err := json.Unmarshal(b, &parts)
		for _, p := range parts {
			*t += p.Text
		}
		return err
	}
	return nil
}

// arguments is JSON text in a string, which some providers send as the object
// itself.
type arguments string

// UnmarshalJSON takes a string or an object.
func (a *arguments) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		return json.Unmarshal(b, (*string)(a))
	case '{':
		*a = arguments(b)
	}
	return nil
}

type usage struct {
	PromptTokens        int `json:"prompt_tokens"`
	CompletionTokens    int `json:"completion_tokens"`
	PromptTokensDetails struct {
		CachedTokens     int `json:"cached_tokens"`
		CacheWriteTokens int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionTokensDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	// Cost is in US dollars. Only OpenRouter sends it:
	// https://openrouter.ai/docs/use-cases/usage-accounting
	Cost float64 `json:"cost"`
}

func (u usage) domain() agent.Usage {
	return agent.Usage{
		Input:       u.PromptTokens,
		Output:      u.CompletionTokens,
		Reasoning:   u.CompletionTokensDetails.ReasoningTokens,
		CachedRead:  u.PromptTokensDetails.CachedTokens,
		CachedWrite: u.PromptTokensDetails.CacheWriteTokens,
		CostUSD:     u.Cost,
	}
}

// complaint is an error as providers word it.
type complaint struct {
	Message string
	Code    string
	Param   string
}

// readComplaint finds the complaint in an error body or an error event. The
// shapes seen are {"error":{...}}, {"error":"text"}, {"message":...},
// {"detail":...}, a list of one of these (Gemini), and plain text.
func readComplaint(body []byte) complaint {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var plain string
	if json.Unmarshal(body, &plain) == nil {
		return complaint{Message: plain}
	}
	var object struct {
		Error    json.RawMessage `json:"error"`
		Message  text            `json:"message"`
		Detail   text            `json:"detail"`
		Code     json.RawMessage `json:"code"`
		Type     string          `json:"type"`
		Param    string          `json:"param"`
		Metadata struct {
			Raw text `json:"raw"` // what OpenRouter's upstream said
		} `json:"metadata"`
	}
	if json.Unmarshal(body, &object) != nil {
		return complaint{Message: firstLine(string(body))}
	}
	if isSet(object.Error) {
		return readComplaint(object.Error)
	}
	c := complaint{Message: string(object.Message), Param: object.Param}
	if c.Message == "" {
		c.Message = string(object.Detail)
	}
	if raw := string(object.Metadata.Raw); raw != "" {
		c.Message += ": " + readComplaint([]byte(raw)).Message
	}
	if c.Message == "" {
		c.Message = firstLine(string(body))
	}
	if isSet(object.Code) {
		c.Code = strings.Trim(string(object.Code), `"`)
	} else {
		c.Code = object.Type
	}
	return c
}

// isSet reports whether a raw field is there and not null.
func isSet(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null"
}

// firstLine shortens what a provider said to what fits one line.
func firstLine(s string) string {
	const limit = 400
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	line = strings.TrimSpace(line)
	if len(line) > limit {
		line = strings.ToValidUTF8(line[:limit], "") + " ..."
	}
	return line
}
