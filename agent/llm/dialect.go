package llm

import (
	"net/http"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"github.com/hermes-acp/hermes-acp/agent"
)

// dialect is what one provider takes beside the plain request. It begins with
// what most take and is changed by what the provider refuses.
type dialect struct {
	limit     limitField
	noUsage   bool
	noEffort  bool
	noImages  bool
	reasoning reasoningEcho
}

// limitField is the parameter that bounds an answer.
type limitField int

const (
	limitMaxTokens limitField = iota
	limitMaxCompletionTokens
	limitNone
)

// reasoningEcho says which assistant messages carry their reasoning back.
type reasoningEcho int

const (
	echoNothing reasoningEcho = iota
	// echoTurn is for providers that send reasoning_content: those with tool
	// calls of the running turn, as https://api-docs.deepseek.com/guides/thinking_mode
	// asks.
	echoTurn
	// echoAll is for providers that ask for it on every message with tool calls.
	echoAll
	echoRefused
)

const (
	paramMaxTokens           = "max_tokens"
	paramMaxCompletionTokens = "max_completion_tokens"
	paramStreamOptions       = "stream_options"
	paramReasoningEffort     = "reasoning_effort"
	paramReasoningContent    = "reasoning_content"
	paramImages              = "image_url"
)

// addTo sets the optional parameters that a request asks for and the dialect
// has.
func (d dialect) addTo(wire *request, req agent.ModelRequest) {
	if !d.noUsage {
		wire.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	if !d.noEffort {
		wire.ReasoningEffort = req.Effort
	}
	switch d.limit {
	case limitMaxTokens:
		wire.MaxTokens = req.MaxTokens
	case limitMaxCompletionTokens:
		wire.MaxCompletionTokens = req.MaxTokens
	case limitNone:
	}
}

// reasoningOf returns what a message's reasoning_content is, nil for none.
func (d dialect) reasoningOf(m agent.Message, runningTurn bool) *string {
	if len(m.ToolCalls) == 0 {
		return nil
	}
	if d.reasoning == echoAll || d.reasoning == echoTurn && runningTurn && m.Reasoning != "" {
		return &m.Reasoning
	}
	return nil
}

// without returns the dialect to try next when a provider refused req because
// of a parameter it carried, and which parameter that was. ok is false when the
// refusal had another reason. Each step leaves out something for good, so the
// steps come to an end.
func (d dialect) without(e *Error, req agent.ModelRequest) (next dialect, param string, ok bool) {
	if !d.noImages && refusesImages(e) && hasImages(req.Messages) {
		d.noImages = true
		return d, paramImages, true
	}
	if e.Status != 400 && e.Status != 422 {
		return d, "", false
	}
	switch param = d.refusedParam(e); param {
	case paramMaxTokens:
		d.limit = limitMaxCompletionTokens
	case paramMaxCompletionTokens:
		d.limit = limitNone
	case paramStreamOptions:
		d.noUsage = true
	case paramReasoningEffort:
		d.noEffort = true
	case paramReasoningContent:
		d.reasoning = d.reasoning.after(e.Message)
	default:
		return d, "", false
	}
	return d, param, true
}

// refusesImages reports whether a refusal is about the images of a request.
// Providers have no common code for it, nor a common status (OpenRouter says 404,
// llama.cpp 500), so their words are looked for.
func refusesImages(e *Error) bool {
	switch e.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity, http.StatusInternalServerError:
	default:
		return false
	}
	message := strings.ToLower(e.Message)
	return strings.Contains(message, "image") || strings.Contains(message, "multimodal") || strings.Contains(message, "content must be a string")
}

// refusedParam is the parameter that a refusal names: in its param field, else
// the first in its text.
func (d dialect) refusedParam(e *Error) string {
	var candidates []string
	switch d.limit {
	case limitMaxTokens:
		candidates = append(candidates, paramMaxTokens)
	case limitMaxCompletionTokens:
		candidates = append(candidates, paramMaxCompletionTokens)
	case limitNone:
	}
	if !d.noUsage {
		candidates = append(candidates, paramStreamOptions)
	}
	if !d.noEffort {
		candidates = append(candidates, paramReasoningEffort)
	}
	if d.reasoning != echoRefused {
		candidates = append(candidates, paramReasoningContent)
	}
	// OpenAI writes nested names with a dot: reasoning.effort, stream_options.include_usage.
	param := strings.ReplaceAll(e.Param, "reasoning.effort", paramReasoningEffort)
	found, at := "", len(e.Message)
	for _, c := range candidates {
		if param == c || strings.HasPrefix(param, c+".") {
			return c
		}
		if i := strings.Index(e.Message, c); i >= 0 && i < at {
			found, at = c, i
		}
	}
	return found
}

// after answers a complaint about reasoning_content: a provider that refuses the
// field gets none, one that misses it gets it everywhere.
func (r reasoningEcho) after(complaint string) reasoningEcho {
	complaint = strings.ToLower(complaint)
	for _, refusal := range []string{"unknown", "unsupported", "unrecognized", "extra", "not supported", "not permitted", "not allowed", "must not"} {
		if strings.Contains(complaint, refusal) {
			return echoRefused
		}
	}
	if r == echoAll {
		return echoRefused
	}
	return echoAll
}
