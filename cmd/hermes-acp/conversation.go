package main

import (
	"context"
	"errors"
	"os/exec"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/acp/acpclient"
)

// conversation is a person's talk with an agent that runs as a child.
type conversation struct {
	client  *acpclient.Client
	view    turnView
	session acpsdk.SessionId
}

// turnView shows a conversation. Its methods may be called from several
// goroutines.
type turnView interface {
	opened(session acpsdk.SessionId)
	update(acpclient.Update)
	answered(acpclient.PermissionRequest, answer)
	notice(text string)
	ended(stop acpsdk.StopReason)
}

// errInterrupted says that the person wants the program to end.
var errInterrupted = errors.New("interrupted")

// startConversation starts agent and says hello to it. The caller must end the
// conversation.
func startConversation(ctx context.Context, agent *exec.Cmd, view turnView, approve approval, ask asker) (*conversation, error) {
	client, err := acpclient.Start(agent, acpclient.Options{ //nolint:contextcheck // the connection lasts until end
		Info:     acpsdk.Implementation{Name: "hermes-acp-run", Version: version},
		OnUpdate: view.update,
		OnPermission: func(ctx context.Context, q acpclient.PermissionRequest) string {
			a := approve.decide(ctx, q, ask)
			view.answered(q, a)
			return string(a.option)
		},
	})
	if err != nil {
		return nil, err
	}
	c := &conversation{client: client, view: view}
	if _, err := client.Initialize(ctx); err != nil {
		_ = c.end(ctx) // what went wrong first says more
		return nil, err
	}
	return c, nil
}

// end closes the agent. Its error tells that the agent did not end well.
func (c *conversation) end(ctx context.Context) error { return c.client.Close(ctx) }

func (c *conversation) open(ctx context.Context, cwd string) error {
	resp, err := c.client.NewSession(ctx, cwd)
	if err != nil {
		return err
	}
	c.session = resp.SessionId
	c.view.opened(c.session)
	return nil
}

// prompt runs one turn. The first interrupt cancels it, a second one gives up
// waiting.
func (c *conversation) prompt(ctx context.Context, text string, interrupts *interrupts) (acpsdk.StopReason, error) {
	defer interrupts.onFirst(func() {
		c.view.notice("Cancelling the turn. Ctrl-C once more quits.")
		_ = c.client.Cancel(c.session) // a broken connection ends the turn by itself
	})()
	resp, err := c.client.Prompt(ctx, c.session, acpsdk.TextBlock(text))
	if err != nil {
		return "", err
	}
	c.view.ended(resp.StopReason)
	return resp.StopReason, nil
}
