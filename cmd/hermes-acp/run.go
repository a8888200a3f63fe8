package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"
	"github.com/urfave/cli/v2"

	"github.com/hermes-acp/hermes-acp/acp/jsonrpc"
)

// exitInterrupted is the exit code after a Ctrl-C, as shells count it.
const exitInterrupted = 130

func runCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "send one prompt to the agent and show the answer here",
		ArgsUsage: "PROMPT",
		Description: "The agent runs as a child process and is spoken to over pipes, as an editor does.\n" +
			"Ctrl-C cancels the turn, a second one quits. The exit code is 0 only when the turn\n" +
			"ended by itself (end_turn).\n\n" + eventsHelp,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "cwd", Usage: "the `FOLDER` to work in", Value: "."},
			&cli.StringFlag{Name: "approve", Usage: "who answers the agent's questions: ask (you), edits (yes to ordinary edits), all or none", Value: string(approveAsk)},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object a line"},
			&cli.StringFlag{Name: "agent-cmd", Usage: "the agent's `COMMAND` line, if not hermes-acp itself"},
		}, modelFlags()...),
		Action: func(c *cli.Context) error {
			prompt := strings.Join(c.Args().Slice(), " ")
			if strings.TrimSpace(prompt) == "" {
				return errors.New(`run: no prompt; write one behind the flags: hermes-acp run "explain main.go"`)
			}
			approve, err := parseApproval(c.String("approve"))
			if err != nil {
				return err
			}
			cwd, err := filepath.Abs(c.String("cwd"))
			if err != nil {
				return fmt.Errorf("--cwd: %w", err)
			}
			agent, err := agentCommand(c.String("agent-cmd"), agentWords(c)...)
			if err != nil {
				return err
			}
			if c.Bool("json") {
				events := newEventWriter(c.App.Writer)
				err := runPrompt(c.Context, agent, cwd, prompt, events, approve, askNobody)
				if err != nil {
					events.failed(err)
				}
				return err
			}
			ui := newTerminalUI(c.App.Writer, cwd)
			defer ui.close()
			return runPrompt(c.Context, agent, cwd, prompt, ui, approve, ui.asker(c.App.Reader))
		},
	}
}

// runPrompt is one conversation of one turn.
func runPrompt(ctx context.Context, agent *exec.Cmd, cwd, prompt string, view turnView, approve approval, ask asker) error {
	ctx, interrupts, stop := catchInterrupts(ctx)
	defer stop()
	c, err := startConversation(ctx, agent, view, approve, ask)
	var stopReason acpsdk.StopReason
	if err == nil {
		if err = c.open(ctx, cwd); err == nil {
			stopReason, err = c.prompt(ctx, prompt, interrupts)
		}
		_ = c.end(ctx) // the turn is what counts
	}
	switch {
	case errors.Is(context.Cause(ctx), errInterrupted), err == nil && stopReason == acpsdk.StopReasonCancelled:
		return cli.Exit("", exitInterrupted)
	case err != nil:
		return withoutCode(err)
	case stopReason != acpsdk.StopReasonEndTurn:
		return fmt.Errorf("the turn ended early: %s", stopReason)
	}
	return nil
}

// withoutCode is the agent's error as a person needs it, without the protocol's
// number.
func withoutCode(err error) error {
	if answer, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return errors.New(answer.Message)
	}
	return err
}

// agentCommand returns the command that starts the agent: line, or this program
// when line is empty, with words behind it.
//
//nolint:noctx // acpclient ends an agent by closing its input, which no context can
func agentCommand(line string, words ...string) (*exec.Cmd, error) {
	if line == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find hermes-acp's own program file: %w", err)
		}
		return exec.Command(self, words...), nil
	}
	program, err := splitWords(line)
	if err != nil {
		return nil, fmt.Errorf("--agent-cmd: %w", err)
	}
	return exec.Command(program[0], append(program[1:], words...)...), nil
}

// splitWords splits a command line at blanks. Single and double quotes keep
// blanks; a backslash is an ordinary character, as Windows paths need it.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord := false
	quote := rune(0)
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, inWord = r, true
		case r == ' ' || r == '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a %c is not closed: %s", quote, line)
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) == 0 {
		return nil, errors.New("it is empty")
	}
	return words, nil
}
