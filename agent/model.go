package agent

import (
	"context"
	"errors"
)

// Model is one language model of one provider.
type Model interface {
	// Stream asks for one completion and calls emit for each piece as it
	// arrives, in order and from one goroutine. It returns the whole completion;
	// with an error, what had arrived until then. It ends promptly when ctx is
	// cancelled, with an error that wraps context.Cause(ctx).
	Stream(ctx context.Context, req ModelRequest, emit func(Delta)) (Completion, error)
	// Info describes the model.
	Info() ModelInfo
}

// ModelInfo names a model for people and for the wire.
type ModelInfo struct {
	ID       string // the id as the provider spells it
	Provider string // openrouter, openai, custom, offline ...
	// ContextWindow is in tokens; 0 when unknown.
	ContextWindow int
}

// ModelRequest is one call of a model.
type ModelRequest struct {
	Messages []Message
	Tools    []ToolSpec
	// Effort is the reasoning effort (low, medium, high ...), empty for the
	// provider's own default.
	Effort string
	// MaxTokens bounds the answer; 0 leaves it to the provider.
	MaxTokens int
}

// Delta is a piece of a streaming answer. Exactly one field is set.
type Delta struct {
	Text      string
	Reasoning string
	// Notice is a line for the person, not the model's words: a retry that
	// waits, a parameter that was dropped.
	Notice string
}

// Completion is a model's whole answer to one request.
type Completion struct {
	Message Message
	Finish  Finish
	Usage   Usage // zero when the provider reported none
}

// Finish says why a model stopped.
type Finish string

// Finish reasons. A completion with tool calls is FinishToolCalls whatever the
// provider said.
const (
	FinishStop      Finish = "stop"
	FinishToolCalls Finish = "tool_calls"
	FinishLength    Finish = "length"
	FinishRefusal   Finish = "refusal"
)

// Usage counts tokens.
type Usage struct {
	Input, Output, Reasoning, CachedRead, CachedWrite int
	// CostUSD is what the provider says the call cost; 0 when it does not say.
	CostUSD float64
}

// Add returns the sum of two counts.
func (u Usage) Add(v Usage) Usage {
	u.Input += v.Input
	u.Output += v.Output
	u.Reasoning += v.Reasoning
	u.CachedRead += v.CachedRead
	u.CachedWrite += v.CachedWrite
	u.CostUSD += v.CostUSD
	return u
}

// Total is the sum of input and output tokens.
func (u Usage) Total() int { return u.Input + u.Output }

// ErrContextOverflow is wrapped by a Model's error when the request was larger
// than the model's context window. It is answered by compaction.
var ErrContextOverflow = errors.New("the conversation is larger than the model's context window")

// ErrNoProvider is wrapped when no model provider is configured.
var ErrNoProvider = errors.New("no model provider is configured")

// ErrUnknownModel is wrapped when no configured provider serves a model.
var ErrUnknownModel = errors.New("no configured provider serves this model")

// Models finds models. An implementation reads the configuration anew on each
// call, so that a set-up finished in another window counts at once.
type Models interface {
	// Model returns the model with the given id, or the configured default for
	// "". Errors wrap ErrNoProvider or ErrUnknownModel, or name the
	// configuration file and line that cannot be read.
	Model(ctx context.Context, id string) (Model, error)
}
