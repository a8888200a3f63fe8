package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

const (
	defaultWait = 60 * time.Second
	maxWait     = 600 * time.Second
)

type processArgs struct {
	Action    string  `json:"action"`
	SessionID string  `json:"session_id"`
	Data      string  `json:"data"`
	Submit    flag    `json:"submit"`
	Timeout   *number `json:"timeout"`
}

func (t *Toolset) process() agent.Tool {
	return tool[processArgs]{agent.ToolSpec{
		Name: "process",
		Kind: agent.KindExecute,
		Description: "Look after commands that terminal started in the background: list them, poll for new output, " +
			"log the output so far, wait for the end, kill, or write to the input (submit adds a newline).",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"action": {"type": "string", "enum": ["list", "poll", "log", "wait", "kill", "write"]},
				"session_id": {"type": "string", "description": "The command's id, as terminal returned it; not for list"},
				"data": {"type": "string", "description": "write: what to type"},
				"submit": {"type": "boolean", "default": false, "description": "write: end the input with a newline"},
				"timeout": {"type": "integer", "minimum": 1, "maximum": 600, "default": 60, "description": "wait: seconds to wait at most"}
			},
			"required": ["action"],
			"additionalProperties": false
		}`),
	}, t.planProcess}
}

func (t *Toolset) planProcess(_ context.Context, ws *agent.Workspace, args processArgs, _ json.RawMessage) (agent.Plan, error) {
	state := t.session(ws)
	if args.Action == "list" {
		return agent.Plan{Title: "process: list", Run: func(context.Context, func(agent.Progress)) (agent.Result, error) {
			return agent.Result{Text: listCommands(state.list())}, nil
		}}, nil
	}
	if args.SessionID == "" {
		return agent.Plan{}, errors.New("session_id is required")
	}
	c, err := state.find(args.SessionID)
	if err != nil {
		return agent.Plan{}, err
	}

	plan := agent.Plan{Title: "process: " + args.Action + " " + c.id}
	switch args.Action {
	case "poll":
		plan.Run = c.poll
	case "log":
		plan.Run = func(context.Context, func(agent.Progress)) (agent.Result, error) {
			return c.result(c.output.text()), nil
		}
	case "wait":
		timeout := defaultWait
		if args.Timeout != nil {
			timeout = time.Duration(*args.Timeout) * time.Second
		}
		if timeout < time.Second || timeout > maxWait {
			return agent.Plan{}, fmt.Errorf("timeout %d: it is between 1 and %d seconds", int(timeout/time.Second), int(maxWait/time.Second))
		}
		plan.Run = func(ctx context.Context, progress func(agent.Progress)) (agent.Result, error) {
			return c.await(ctx, timeout, progress)
		}
	case "kill":
		plan.Run = func(context.Context, func(agent.Progress)) (agent.Result, error) {
			c.stop()
			return c.result(c.output.text()), nil
		}
	case "write":
		input := args.Data
		if args.Submit {
			input += "\n"
		}
		if input == "" {
			return agent.Plan{}, errors.New("data is required")
		}
		plan.Access.Command = t.typedCommand(input, ws.Cwd, c.line)
		plan.Run = func(ctx context.Context, _ func(agent.Progress)) (agent.Result, error) {
			return c.write(ctx, input)
		}
	default:
		return agent.Plan{}, fmt.Errorf("action %q: it is list, poll, log, wait, kill or write", args.Action)
	}
	return plan, nil
}

// typedCommand is input for a running command. What is typed into a shell or an
// interpreter runs there, so it asks as a command does, whatever it says, and
// no rule covers it.
func (t *Toolset) typedCommand(input, dir, into string) *agent.Command {
	command := t.classifier().classify(input, dir).command
	if command.Verdict == agent.VerdictNever {
		return &command
	}
	reason := "is typed into `" + into + "`"
	if command.Dangerous {
		reason += "; " + command.Reason
	}
	return &agent.Command{Line: input, Dir: dir, Reason: reason, Dangerous: command.Dangerous}
}

func listCommands(commands []*backgroundCommand) string {
	if len(commands) == 0 {
		return "No command was started in the background."
	}
	var b strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&b, "%s: %s, started %s ago: %s\n", c.id, c.status(), time.Since(c.started).Round(time.Second), c.line)
	}
	return b.String()
}

func (c *backgroundCommand) running() bool {
	select {
	case <-c.done:
		return false
	default:
		return true
	}
}

func (c *backgroundCommand) status() string {
	switch {
	case c.running():
		return "running"
	case c.exit.Signal != "":
		return "ended by " + c.exit.Signal
	}
	return fmt.Sprintf("exit code %d", c.exit.Code)
}

// result is output with the state of the command behind it.
func (c *backgroundCommand) result(output string) agent.Result {
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	r := agent.Result{Text: output + "[" + c.id + ": " + c.status() + "]"}
	if !c.running() {
		r.Exit = &c.exit
	}
	return r
}

// poll returns the output that came since the last poll.
func (c *backgroundCommand) poll(context.Context, func(agent.Progress)) (agent.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, end := c.output.since(c.polled)
	c.polled = end
	return c.result(text), nil
}

func (c *backgroundCommand) await(ctx context.Context, timeout time.Duration, progress func(agent.Progress)) (agent.Result, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-timer.C:
	case <-ctx.Done():
		return agent.Result{}, context.Cause(ctx)
	}
	return c.poll(ctx, progress)
}

// write types input. A command that does not read it cannot hold the call: the
// pipe is written in the background, and given up when ctx ends.
func (c *backgroundCommand) write(ctx context.Context, input string) (agent.Result, error) {
	if !c.running() {
		return agent.Result{}, fmt.Errorf("%s has ended: %s", c.id, c.status())
	}
	written := make(chan error, 1)
	go func() {
		_, err := io.WriteString(c.input, input)
		written <- err
	}()
	select {
	case err := <-written:
		if err != nil {
			return agent.Result{}, fmt.Errorf("write to %s: %w", c.id, err)
		}
		return c.result("written"), nil
	case <-c.done:
		return agent.Result{}, fmt.Errorf("%s ended before it read its input: %s", c.id, c.status())
	case <-ctx.Done():
		return agent.Result{}, context.Cause(ctx)
	}
}
