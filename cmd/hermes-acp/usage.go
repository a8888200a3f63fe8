package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// actionsHelp tells of the flags that are commands of their own.
const actionsHelp = "--setup chooses a model provider, --check says whether everything is in place, and\n--version prints the version."

// actions are the flags that are commands of their own. They win wherever they
// stand before `--`: registries append --setup to a command line and the
// protocol lets clients replace it (facts of the ACP registry's AUTHENTICATION
// page), so both layouts have to work.
var actions = []string{"--version", "--check", "--setup"}

// withActionFirst turns an action among args, the program's name first, into the
// command of that name. It keeps the flags that the action depends on and what
// stands behind `--`.
func withActionFirst(args []string) []string {
	words, behind := args[1:], []string(nil)
	if end := slices.Index(words, "--"); end >= 0 {
		words, behind = words[:end], words[end:]
	}
	for _, action := range actions {
		if slices.Contains(words, action) {
			command := []string{args[0], strings.TrimPrefix(action, "--")}
			return slices.Concat(command, flagWords(words, actionFlags...), behind)
		}
	}
	return args
}

// flagWords are those of words that set the named flags, which take a value.
func flagWords(words []string, names ...string) []string {
	var kept []string
	for i := 0; i < len(words); i++ {
		name, _, joined := strings.Cut(words[i], "=")
		if !strings.HasPrefix(name, "-") || !slices.Contains(names, strings.TrimLeft(name, "-")) {
			continue
		}
		kept = append(kept, words[i])
		if !joined && i+1 < len(words) {
			i++
			kept = append(kept, words[i])
		}
	}
	return kept
}

// refuseQuietly has a wrong command line answered by an error alone. The library
// would print its help on stdout, where an editor expects the protocol.
func refuseQuietly(app *cli.App) *cli.App {
	app.OnUsageError = usageError
	refuseCommandsQuietly(app.Commands)
	return app
}

func refuseCommandsQuietly(commands []*cli.Command) {
	for _, c := range commands {
		c.OnUsageError = usageError
		c.Before = takeFlagsBefore
		if c.Action == nil {
			c.Action = groupAction
		}
		refuseCommandsQuietly(c.Subcommands)
	}
}

// takeFlagsBefore lets a flag count for a command that has it also when it stands
// before the command: `--provider offline run ...`.
func takeFlagsBefore(c *cli.Context) error {
	for _, flag := range c.Command.Flags {
		name := flag.Names()[0]
		if _, isText := flag.(*cli.StringFlag); !isText || slices.Contains(c.LocalFlagNames(), name) {
			continue
		}
		for _, outer := range c.Lineage()[1:] {
			if outer.Command == nil || !slices.Contains(outer.LocalFlagNames(), name) {
				continue
			}
			if err := c.Set(name, outer.String(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func usageError(c *cli.Context, err error, _ bool) error {
	return fmt.Errorf("%w; see %s --help", err, c.Command.HelpName)
}

// groupAction is the action of a command that only has commands.
func groupAction(c *cli.Context) error {
	if c.Args().Present() {
		return fmt.Errorf("there is no command %q; see %s --help", c.Args().First(), c.Command.HelpName)
	}
	return cli.ShowSubcommandHelp(c)
}
