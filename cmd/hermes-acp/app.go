//go:build !windows

package main

import (
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// newApp is the command line on Linux and macOS.
func newApp() *cli.App {
	return &cli.App{
		Name:        "hermes-acp",
		Usage:       "Hermes for editors: an Agent Client Protocol coding agent",
		Description: "With no command it serves the protocol on stdin and stdout; an editor starts it that way.\n" + actionsHelp,
		HideVersion: true,
		// run prints errors and chooses the exit code.
		ExitErrHandler: func(*cli.Context, error) {},
		Flags:          serveFlags(),
		Action:         serveOrExplain,
		Commands: []*cli.Command{
			{Name: "serve", Aliases: []string{"acp"}, Usage: "serve the protocol on stdin and stdout, the same as no command", Flags: serveFlags(), Action: serveAction},
			runCommand(),
			demoCommand(),
			pathsCommand(),
			sessionsCommand(),
			rulesCommand(),
			doctorCommand(),
			editorsCommand(),
			setupCommand(),
			readinessCommand(),
			versionCommand(),
			bridgeHostCommand(),
		},
	}
}

// actionFlags are the flags that actions such as --check depend on.
var actionFlags = []string{"model", "provider", "base-url"}

// serveOrExplain serves an editor, and tells a person at a terminal what they
// started.
func serveOrExplain(c *cli.Context) error {
	if c.Args().Present() {
		return fmt.Errorf("there is no command %q; see hermes-acp --help", c.Args().First())
	}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		explain(os.Stderr)
		return nil
	}
	return serveAction(c)
}

func explain(w io.Writer) {
	fmt.Fprint(w, `hermes-acp is a coding agent that editors start; it speaks the Agent Client
Protocol on stdin and stdout, so there is nothing to type here. You may want:

  hermes-acp demo            see what it does, offline, without a key
  hermes-acp run "PROMPT"    one prompt in this folder, in this terminal
  hermes-acp --setup         choose a model provider
  hermes-acp --check         is everything in place?
  hermes-acp doctor          what is wrong, and how to mend it
  hermes-acp sessions list   earlier conversations
  hermes-acp --help          all commands

To use it in an editor, give the editor the command "hermes-acp".
`)
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version", Hidden: true, SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			_, err := fmt.Fprintln(c.App.Writer, version)
			return err
		},
	}
}
