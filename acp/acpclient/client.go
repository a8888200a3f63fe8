package acpclient

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os/exec"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/acp/jsonrpc"
)

// codeAuthRequired is the protocol's error code for a session that needs
// authentication first.
const codeAuthRequired = -32000

// Options say who the client is and take what the agent sends. Every field may
// be left out.
type Options struct {
	Info   acpsdk.Implementation
	Logger *slog.Logger

	// OnUpdate is called for each session/update, in order and from one
	// goroutine; the updates of a turn precede the return of its Prompt. It must
	// not wait for the agent.
	OnUpdate func(Update)
	// OnPermission answers one question with the id of an option, or with ""
	// when the person dismissed it. ctx ends when the agent takes the question
	// back. Without OnPermission every question is dismissed.
	OnPermission func(ctx context.Context, question PermissionRequest) (optionID string)
	// Trace is shown every frame before it is written and as it is read.
	Trace func(jsonrpc.Direction, []byte)
}

// Update is one session/update.
type Update struct {
	SessionID string
	// Raw is the update object as the agent wrote it.
	Raw json.RawMessage
	// SessionUpdate is the decoded update; all its fields are nil for a variant
	// that the SDK does not know.
	acpsdk.SessionUpdate
}

// PermissionRequest is one question of the agent.
type PermissionRequest struct {
	// Raw is the params object as the agent wrote it.
	Raw json.RawMessage
	acpsdk.RequestPermissionRequest
}

// Client is a connection to one agent. Its methods are safe for concurrent use.
type Client struct {
	conn    *jsonrpc.Conn
	opts    Options
	agent   *Process
	served  chan struct{} // closed when the connection has ended
	methods []acpsdk.AuthMethod
}

// Start runs cmd as an agent over pipes and connects to it. The caller must
// Close the client.
func Start(cmd *exec.Cmd, opts Options) (*Client, error) {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	agent, err := StartProcess(cmd)
	if err != nil {
		return nil, err
	}
	c := &Client{
		conn:   jsonrpc.New(agent.Stdout, agent.Stdin, jsonrpc.Options{Logger: opts.Logger, Trace: opts.Trace}),
		opts:   opts,
		agent:  agent,
		served: make(chan struct{}),
	}
	go func() {
		defer close(c.served)
		if err := c.conn.Serve(context.Background(), c.handle); err != nil {
			opts.Logger.Warn("connection to the agent broke", "error", err)
		}
	}()
	return c, nil
}

// Initialize opens the conversation.
func (c *Client) Initialize(ctx context.Context) (acpsdk.InitializeResponse, error) {
	var resp acpsdk.InitializeResponse
	err := c.Call(ctx, "initialize", acpsdk.InitializeRequest{
		ProtocolVersion: acpsdk.ProtocolVersionNumber,
		ClientInfo:      &c.opts.Info,
	}, &resp)
	c.methods = resp.AuthMethods
	return resp, err
}

// NewSession opens a session that works in cwd, an absolute path. If the agent
// asks for it, NewSession first authenticates with the agent's own method.
func (c *Client) NewSession(ctx context.Context, cwd string) (acpsdk.NewSessionResponse, error) {
	var resp acpsdk.NewSessionResponse
	err := c.authenticated(ctx, "session/new", acpsdk.NewSessionRequest{
		Cwd:        cwd,
		McpServers: []acpsdk.McpServer{},
	}, &resp)
	return resp, err
}

// LoadSession opens an earlier session; its history arrives as updates before
// LoadSession returns.
func (c *Client) LoadSession(ctx context.Context, id acpsdk.SessionId, cwd string) (acpsdk.LoadSessionResponse, error) {
	var resp acpsdk.LoadSessionResponse
	err := c.authenticated(ctx, "session/load", acpsdk.LoadSessionRequest{
		SessionId:  id,
		Cwd:        cwd,
		McpServers: []acpsdk.McpServer{},
	}, &resp)
	return resp, err
}

// authenticated is Call, with one authentication and one more try when the
// agent asks for it and has a method that needs no terminal.
func (c *Client) authenticated(ctx context.Context, method string, params, result any) error {
	err := c.Call(ctx, method, params, result)
	if rpcErr, ok := errors.AsType[*jsonrpc.Error](err); !ok || rpcErr.Code != codeAuthRequired {
		return err
	}
	for _, m := range c.methods {
		if m.Agent == nil {
			continue
		}
		if err := c.Authenticate(ctx, m.Agent.Id); err != nil {
			return err
		}
		return c.Call(ctx, method, params, result)
	}
	return err
}

// Authenticate logs in with one of the agent's methods.
func (c *Client) Authenticate(ctx context.Context, methodID string) error {
	return c.Call(ctx, "authenticate", acpsdk.AuthenticateRequest{MethodId: methodID}, nil)
}

// Prompt runs one turn and returns when it has ended. When ctx ends first, the
// request is withdrawn; to end a turn in order, use Cancel and keep waiting.
func (c *Client) Prompt(ctx context.Context, session acpsdk.SessionId, prompt ...acpsdk.ContentBlock) (acpsdk.PromptResponse, error) {
	var resp acpsdk.PromptResponse
	err := c.Call(ctx, "session/prompt", acpsdk.PromptRequest{SessionId: session, Prompt: prompt}, &resp)
	return resp, err
}

// Cancel asks the agent to end the session's turns.
func (c *Client) Cancel(session acpsdk.SessionId) error {
	return c.conn.Notify("session/cancel", acpsdk.CancelNotification{SessionId: session})
}

// Call sends any request. Its error is the agent's *jsonrpc.Error, an
// *ExitError when the agent ended first, or wraps the cause of ctx.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	err := c.conn.Call(ctx, method, params, result)
	if errors.Is(err, jsonrpc.ErrClosed) {
		return c.agent.explain(ctx, err)
	}
	return err
}

// Close ends the conversation and the agent: its input is closed, then it is
// given time to end, and at last it is killed. When ctx ends
// the waiting is over at once. The error tells how an agent ended that did not
// end well.
func (c *Client) Close(ctx context.Context) error {
	err := c.agent.Stop(ctx)
	select { // a process that the agent left behind may hold its output open
	case <-c.served:
	case <-ctx.Done():
	case <-time.After(killPatience):
	}
	err = errors.Join(err, c.agent.Stdout.Close())
	<-c.served
	return err
}

// handle routes what the agent sends.
func (c *Client) handle(_ context.Context, req *jsonrpc.Request) jsonrpc.Responder {
	switch req.Method {
	case "session/update":
		c.takeUpdate(req.Params)
		return nil
	case "session/request_permission":
		return func(ctx context.Context) (any, error) { return c.answer(ctx, req.Params) }
	}
	return jsonrpc.Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found: %s", req.Method))
}

func (c *Client) takeUpdate(params json.RawMessage) {
	if c.opts.OnUpdate == nil {
		return
	}
	var n struct {
		SessionID string          `json:"sessionId"`
		Update    json.RawMessage `json:"update"`
	}
	var variant struct {
		SessionUpdate string `json:"sessionUpdate"`
	}
	err := json.Unmarshal(params, &n)
	if err == nil {
		err = json.Unmarshal(n.Update, &variant)
	}
	u := Update{SessionID: n.SessionID, Raw: n.Update}
	if err == nil && knowsUpdate(variant.SessionUpdate) {
		err = json.Unmarshal(n.Update, &u.SessionUpdate)
	}
	if err != nil {
		c.opts.Logger.Warn("session/update not understood", "error", err)
		return
	}
	c.opts.OnUpdate(u)
}

// knowsUpdate reports whether the SDK has a type for a variant of
// session/update. It takes an unknown one for another that has similar fields.
func knowsUpdate(variant string) bool {
	switch variant {
	case "user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update",
		"plan", "plan_update", "plan_removed", "available_commands_update", "current_mode_update",
		"config_option_update", "session_info_update", "usage_update":
		return true
	}
	return false
}

func (c *Client) answer(ctx context.Context, params json.RawMessage) (any, error) {
	question := PermissionRequest{Raw: params}
	if err := json.Unmarshal(params, &question.RequestPermissionRequest); err != nil {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "session/request_permission: %v", err)
	}
	option := ""
	if c.opts.OnPermission != nil {
		option = c.opts.OnPermission(ctx, question)
	}
	if option == "" {
		return acpsdk.RequestPermissionResponse{Outcome: acpsdk.NewRequestPermissionOutcomeCancelled()}, nil
	}
	return acpsdk.RequestPermissionResponse{
		Outcome: acpsdk.NewRequestPermissionOutcomeSelected(acpsdk.PermissionOptionId(option)),
	}, nil
}
