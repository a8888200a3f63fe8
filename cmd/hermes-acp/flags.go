package main

import "github.com/urfave/cli/v2"

// modelFlags choose the model of an agent, and what is recorded of its frames.
func modelFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "model", Usage: "model `ID` instead of the configured one"},
		&cli.StringFlag{Name: "provider", Usage: "provider `NAME` instead of the configured one"},
		&cli.StringFlag{Name: "base-url", Usage: "`URL` of an OpenAI-compatible endpoint"},
		&cli.StringFlag{Name: "trace", Usage: "record every frame in `FILE`, texts left out"},
	}
}

// agentWords are the model flags of a command line, for the agent that it starts.
func agentWords(c *cli.Context) []string {
	var words []string
	for _, flag := range modelFlags() {
		name := flag.Names()[0]
		if value := c.String(name); value != "" {
			words = append(words, "--"+name, value)
		}
	}
	return words
}

// ignoredFlags are Hermes' own; editors pass them, and here they do nothing.
func ignoredFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "accept-hooks", Hidden: true},
		&cli.BoolFlag{Name: "setup-browser", Hidden: true},
		&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Hidden: true},
	}
}
