package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

// AutoModel stands for the first model that the endpoint lists: a local server
// that holds one model needs no name for it.
const AutoModel = "auto"

// Bounds of what is read of an error's body and of a list of models, in bytes.
const (
	maxErrorBody = 64 << 10
	maxModelList = 32 << 20
)

// Default limits for Options.
const (
	DefaultFirstByteTimeout = 5 * time.Minute
	DefaultIdleTimeout      = 3 * time.Minute
)

// Options describe one model of one provider.
type Options struct {
	Provider string
	BaseURL  string // with the version: https://api.openai.com/v1
	Model    string // or AutoModel
	// Key may be empty for local servers. KeyName is the environment variable it
	// comes from, which errors name.
	Key     string
	KeyName string
	// ContextWindow is in tokens; 0 when unknown.
	ContextWindow int
	// FirstByteTimeout bounds the wait for an answer to begin, IdleTimeout every
	// silence in it (a heartbeat is no silence). 0 takes the default.
	FirstByteTimeout time.Duration
	IdleTimeout      time.Duration
}

// Client is one model of one provider. It is safe for concurrent use.
type Client struct {
	options Options
	base    *url.URL
	http    *http.Client

	mu      sync.Mutex
	model   string // AutoModel until the endpoint was asked
	window  int    // of the context, in tokens; 0 when unknown
	dialect dialect
}

// New returns a client that sends over transport (see NewTransport).
func New(options Options, transport http.RoundTripper) (*Client, error) {
	base, err := url.Parse(options.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("base URL %q of %s is not an http or https address", options.BaseURL, options.Provider)
	}
	if options.FirstByteTimeout == 0 {
		options.FirstByteTimeout = DefaultFirstByteTimeout
	}
	if options.IdleTimeout == 0 {
		options.IdleTimeout = DefaultIdleTimeout
	}
	return &Client{options: options, base: base, http: &http.Client{Transport: transport}, model: options.Model, window: options.ContextWindow}, nil
}

// Info describes the model. Its ID is AutoModel until the first Stream.
func (c *Client) Info() agent.ModelInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	return agent.ModelInfo{ID: c.model, Provider: c.options.Provider, ContextWindow: c.window}
}

// Stream implements agent.Model. Its errors are *Error, or wrap the context's
// cause.
//
// A request that failed before anything of the answer was shown is sent again
// when that may help: three times at most, after a wait that a Notice tells.
// Once text was shown it is not, and the completion holds what came, marked as
// interrupted.
func (c *Client) Stream(ctx context.Context, req agent.ModelRequest, emit func(agent.Delta)) (agent.Completion, error) {
	model, err := c.modelID(ctx)
	if err != nil {
		return agent.Completion{}, c.cancelled(ctx, err)
	}
	d := c.currentDialect()
	for retry := 0; ; {
		completion, err := c.exchange(ctx, model, req, d, emit)
		if err == nil {
			return completion, nil
		}
		fault, ok := errors.AsType[*Error](err)
		if ctx.Err() != nil || !ok {
			return completion, c.cancelled(ctx, err)
		}
		if next, param, ok := d.without(fault, req); ok {
			d = next
			c.setDialect(d)
			switch param {
			case paramReasoningEffort:
				emit(agent.Delta{Notice: fmt.Sprintf("%s does not take the reasoning effort %q for %s; its own default is used", c.options.Provider, req.Effort, model)})
			case paramImages:
				emit(agent.Delta{Notice: fmt.Sprintf("%v; %s is asked without images from now on", fault, model)})
			}
			continue
		}
		if completion.Message.Interrupted {
			return completion, err
		}
		delay, ok := retryDelay(fault, retry)
		if !ok {
			return completion, err
		}
		retry++
		emit(agent.Delta{Notice: fmt.Sprintf("%v; trying again in %s (%d of %d)", fault, delay.Round(100*time.Millisecond), retry, maxRetries)})
		if err := wait(ctx, delay); err != nil {
			return completion, c.cancelled(ctx, err)
		}
	}
}

// Models lists the models that the endpoint serves, with their context windows
// where it tells them. What it tells of this client's own model is remembered.
func (c *Client) Models(ctx context.Context) ([]agent.ModelInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	req, err := c.newRequest(ctx, http.MethodGet, "models", nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.networkError(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		return nil, c.statusError(resp, body)
	}
	var list struct {
		Data []listedModel `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxModelList)).Decode(&list); err != nil {
		return nil, fmt.Errorf("read the models of %s: %w", c.options.Provider, err)
	}
	models := make([]agent.ModelInfo, len(list.Data))
	for i, m := range list.Data {
		models[i] = agent.ModelInfo{ID: m.ID, Provider: c.options.Provider, ContextWindow: m.window()}
		c.learnWindow(models[i])
	}
	return models, nil
}

// listedModel is a row of the list of models. The size of the context window is
// no part of OpenAI's; OpenRouter, vLLM and LM Studio each name it their own way.
type listedModel struct {
	ID               string `json:"id"`
	ContextLength    int    `json:"context_length"`
	MaxModelLen      int    `json:"max_model_len"`
	MaxContextLength int    `json:"max_context_length"`
}

func (m listedModel) window() int { return max(m.ContextLength, m.MaxModelLen, m.MaxContextLength) }

func (c *Client) learnWindow(m agent.ModelInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.ID == c.model && c.window == 0 {
		c.window = m.ContextWindow
	}
}

// modelID is the model to ask, found out once when it is AutoModel.
func (c *Client) modelID(ctx context.Context) (string, error) {
	id := c.Info().ID
	if id != AutoModel {
		return id, nil
	}
	served, err := c.Models(ctx)
	if err != nil {
		return "", fmt.Errorf("find out which model to use: %w", err)
	}
	if len(served) == 0 {
		return "", fmt.Errorf("%s at %s serves no model; load one, or name one with HERMES_MODEL", c.options.Provider, c.base.Host)
	}
	c.mu.Lock()
	c.model = served[0].ID
	c.mu.Unlock()
	c.learnWindow(served[0])
	return served[0].ID, nil
}

func (c *Client) currentDialect() dialect {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dialect
}

func (c *Client) setDialect(d dialect) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dialect = d
}

// exchange sends one request and reads its answer.
func (c *Client) exchange(ctx context.Context, model string, req agent.ModelRequest, d dialect, emit func(agent.Delta)) (agent.Completion, error) {
	body, err := encode(model, req, d)
	if err != nil {
		return agent.Completion{}, err
	}
	watched, watch := watchSilence(ctx, c.options.FirstByteTimeout)
	defer watch.stop()
	httpReq, err := c.newRequest(watched, http.MethodPost, "chat/completions", body)
	if err != nil {
		return agent.Completion{}, err
	}
	resp, err := c.http.Do(httpReq)
	if err != nil {
		return agent.Completion{}, c.networkError(watched, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		return agent.Completion{}, c.statusError(resp, text)
	}
	a := &answer{client: c, emit: emit}
	if err = a.read(resp, watch); err != nil && errors.Is(context.Cause(watched), ErrStalled) {
		err = c.fault(ErrStalled, ErrStalled.Error())
	}
	if a.sentReasoningContent && d.reasoning == echoNothing {
		d.reasoning = echoTurn
		c.setDialect(d)
	}
	return a.completion(err), err
}

func (c *Client) newRequest(ctx context.Context, method, path string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make a request to %s: %w", c.options.Provider, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "text/event-stream")
	}
	if c.options.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.options.Key)
	}
	req.Header.Set("User-Agent", "hermes-acp")
	return req, nil
}

// cancelled returns the context's cause instead of what it made fail.
func (c *Client) cancelled(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("ask %s: %w", c.options.Provider, context.Cause(ctx))
}
