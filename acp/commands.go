package acp

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/acp/jsonrpc"
	"github.com/hermes-acp/hermes-acp/agent"
)

// command is a /command: a prompt that the agent answers itself. Exactly one of
// beside, inLine and join is set.
type command struct {
	name, description string
	hint              string // what its argument is; empty for none
	// beside runs at once, beside a turn. inLine takes a prompt's place in line.
	// Both return the answer.
	beside func(s *server, ctx context.Context, session *agent.Session, argument string) (string, error)
	inLine func(ctx context.Context, session *agent.Session, u *updates) (string, error)
	// join adds the argument to the running turn and reports false when there
	// is none; joined is the answer when there is.
	join   func(session *agent.Session, text string) bool
	joined string
}

// commands are the /commands in the order in which they are advertised.
func commands() []command {
	return []command{
		{name: "help", description: "List the commands", beside: (*server).helpCommand},
		{name: "model", description: "Show the model and its provider, or switch to another model", hint: "model to switch to", beside: (*server).modelCommand},
		{name: "tools", description: "List the tools and what they do", beside: (*server).toolsCommand},
		{name: "context", description: "Show how long the conversation is and how full the context window", beside: (*server).contextCommand},
		{name: "reset", description: "Clear the conversation", inLine: resetCommand},
		{name: "compress", description: "Replace the older part of the conversation by a summary", inLine: compressCommand},
		{name: "steer", description: "Give the running turn guidance", hint: "guidance for the running turn", join: (*agent.Session).Steer, joined: "The running turn gets this before its next step: "},
		{name: "queue", description: "Run a prompt after the running turn", hint: "prompt to run next", join: (*agent.Session).QueueLeg, joined: "Queued behind the running turn: "},
		{name: "version", description: "Show the version", beside: (*server).versionCommand},
		{name: "mode", description: "Show the mode for edits, or switch to another", hint: "default, accept_edits, dont_ask or plan", beside: (*server).modeCommand},
		{name: "diff", description: "Show what this session has changed in files", beside: (*server).diffCommand},
	}
}

func availableCommands() acpsdk.SessionAvailableCommandsUpdate {
	update := acpsdk.SessionAvailableCommandsUpdate{SessionUpdate: "available_commands_update", AvailableCommands: []acpsdk.AvailableCommand{}}
	for _, c := range commands() {
		available := acpsdk.AvailableCommand{Name: c.name, Description: c.description}
		if c.hint != "" {
			available.Input = &acpsdk.AvailableCommandInput{Unstructured: &acpsdk.UnstructuredCommandInput{Hint: c.hint}}
		}
		update.AvailableCommands = append(update.AvailableCommands, available)
	}
	return update
}

// slashCommand finds the command in a prompt that is nothing but text and begins
// with its name. Other prompts, also those with an unknown /word, are the
// model's.
func slashCommand(pieces []piece) (c command, argument string, ok bool) {
	text, ok := onlyText(pieces)
	if !ok {
		return command{}, "", false
	}
	text, ok = strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok {
		return command{}, "", false
	}
	name := text
	if end := strings.IndexAny(text, " \t\n"); end >= 0 {
		name, argument = text[:end], strings.TrimSpace(text[end:])
	}
	for _, c := range commands() {
		if c.name == strings.ToLower(name) {
			return c, argument, true
		}
	}
	return command{}, "", false
}

// command routes a /command in the reader. A join that finds no running turn
// becomes a prompt of its own.
func (s *server) command(req *jsonrpc.Request, session *agent.Session, c command, argument string) jsonrpc.Responder {
	u := s.updates(session.ID())
	switch {
	case c.beside != nil:
		ahead, leave := u.view.settings.join() // some of them are settings
		return s.reply(session, func(ctx context.Context) (string, error) {
			defer leave()
			ahead.wait(ctx)
			return c.beside(s, ctx, session, argument)
		})
	case c.inLine != nil:
		return s.enqueue(req, session, agent.Prompt{Command: func(ctx context.Context) error {
			if _, err := session.Record(ctx); err != nil {
				return err
			}
			text, err := c.inLine(ctx, session, u)
			return u.answer(ctx, session, text, err)
		}})
	case argument == "":
		return s.reply(session, saying(fmt.Sprintf("Usage: /%s <%s>", c.name, c.hint)))
	case c.join(session, argument):
		return s.reply(session, saying(c.joined+preview(argument)))
	default:
		return s.enqueue(req, session, agent.Prompt{Parts: textPart(argument)})
	}
}

func saying(text string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return text, nil }
}

// reply answers a prompt with text at once, whatever the session's line does.
func (s *server) reply(session *agent.Session, text func(context.Context) (string, error)) jsonrpc.Responder {
	return func(ctx context.Context) (any, error) {
		answer, err := text(ctx)
		if _, err := session.Record(ctx); err != nil {
			return nil, s.sessionError(session.ID(), err)
		}
		if err := s.updates(session.ID()).answer(ctx, session, answer, err); err != nil {
			return nil, s.rpcError(err)
		}
		return acpsdk.PromptResponse{StopReason: acpsdk.StopReasonEndTurn}, nil
	}
}

// answer shows what a command said, or why it failed; after a cancel nothing.
func (u *updates) answer(ctx context.Context, session *agent.Session, text string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		text = "That did not work: " + err.Error()
	}
	u.show(ctx, newChunk("agent_message_chunk", "command-"+rand.Text(), text))
	u.usage(ctx, session)
	return nil
}
