package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

const (
	defaultTimeout = 180 * time.Second
	maxTimeout     = 600 * time.Second
	// maxLiveOutput bounds what is streamed while a command runs; its result
	// holds the beginning and the end.
	maxLiveOutput = 256 << 10
)

type terminalArgs struct {
	Command    string  `json:"command"`
	Timeout    *number `json:"timeout"`
	Workdir    string  `json:"workdir"`
	Background flag    `json:"background"`
}

func (t *Toolset) terminal() agent.Tool {
	return tool[terminalArgs]{agent.ToolSpec{
		Name: "terminal",
		Kind: agent.KindExecute,
		Description: "Run a bash command line and return its output and exit code. " +
			"Each call is a new shell; it has no terminal and no input. " +
			"Processes it leaves behind are ended with it; set background for those that shall live on.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"command": {"type": "string", "description": "The command line"},
				"timeout": {"type": "integer", "minimum": 1, "maximum": 600, "default": 180, "description": "Seconds until it is ended"},
				"workdir": {"type": "string", "description": "Folder to run in; the working directory if empty"},
				"background": {"type": "boolean", "default": false, "description": "Return at once and let it run, for servers and long jobs; process looks after it"}
			},
			"required": ["command"],
			"additionalProperties": false
		}`),
	}, t.planTerminal}
}

func (t *Toolset) planTerminal(ctx context.Context, ws *agent.Workspace, args terminalArgs, _ json.RawMessage) (agent.Plan, error) {
	if strings.TrimSpace(args.Command) == "" {
		return agent.Plan{}, errors.New("command is required")
	}
	if strings.ContainsRune(args.Command, 0) {
		return agent.Plan{}, errors.New("command holds a NUL byte")
	}
	timeout := min(t.opts.CommandTimeout, maxTimeout)
	if args.Timeout != nil {
		timeout = time.Duration(*args.Timeout) * time.Second
	}
	if timeout < time.Second || timeout > maxTimeout {
		return agent.Plan{}, fmt.Errorf("timeout %d: it is between 1 and %d seconds", int(timeout/time.Second), int(maxTimeout/time.Second))
	}
	dir, err := ws.Resolve(args.Workdir)
	if err != nil {
		return agent.Plan{}, err
	}
	line := t.classifier().classify(args.Command, dir)
	t.askForRepositories(ctx, ws, &line)
	plan := agent.Plan{
		Title:  "terminal: " + args.Command,
		Access: agent.Access{Command: &line.command, Reads: line.reads},
		Run: func(ctx context.Context, progress func(agent.Progress)) (agent.Result, error) {
			return t.runForeground(ctx, ws, line, timeout, progress)
		},
	}
	if args.Background {
		plan.Run = func(ctx context.Context, _ func(agent.Progress)) (agent.Result, error) {
			return t.runBackground(ctx, ws, line)
		}
	}
	return plan, nil
}

func (t *Toolset) runBackground(ctx context.Context, ws *agent.Workspace, line classified) (agent.Result, error) {
	opts := t.shellOptions(ctx, ws, line)
	opts.input = true
	c, err := t.session(ws).addBackground(line.command.Line, func() (*shellCommand, error) {
		return t.startShell(line.run, opts)
	})
	if err != nil {
		return agent.Result{}, err
	}
	return agent.Result{Text: fmt.Sprintf("started in the background with session_id %s", c.id)}, nil
}

func (t *Toolset) runForeground(ctx context.Context, ws *agent.Workspace, line classified, timeout time.Duration, progress func(agent.Progress)) (agent.Result, error) {
	opts := t.shellOptions(ctx, ws, line)
	opts.onOutput = liveOutput(progress)
	s, err := t.startShell(line.run, opts)
	if err != nil {
		return agent.Result{}, err
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	timedOut := false
	select {
	case <-s.done:
	case <-timer.C:
		timedOut = true
		if !s.stop() {
			return agent.Result{}, fmt.Errorf("the command did not end %s after the timeout of %s, although it was killed; its output until then:\n%s", termGrace+killGrace, timeout, s.output.text())
		}
	case <-ctx.Done():
		s.stop()
		return agent.Result{}, fmt.Errorf("the command was ended: %w", context.Cause(ctx))
	}

	var notes []string
	if timedOut {
		notes = append(notes, fmt.Sprintf("ended after the timeout of %s", timeout))
	} else if s.leftBehind {
		notes = append(notes, "processes it left in the background were ended; use background for those that shall live on")
	}
	if s.exit.Signal != "" {
		notes = append(notes, "ended by "+s.exit.Signal)
	}
	notes = append(notes, fmt.Sprintf("exit code %d", s.exit.Code))

	text := s.output.text()
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return agent.Result{
		Text:   text + "[" + strings.Join(notes, "; ") + "]",
		Exit:   &s.exit,
		Failed: timedOut || s.exit.Code != 0,
	}, nil
}

// liveOutput streams output to the client, up to maxLiveOutput.
func liveOutput(progress func(agent.Progress)) func([]byte) {
	if progress == nil {
		return nil
	}
	left := maxLiveOutput
	return func(piece []byte) {
		if left <= 0 {
			return
		}
		piece = piece[:min(left, len(piece))]
		left -= len(piece)
		progress(agent.Progress{Output: printable(string(piece))})
	}
}
