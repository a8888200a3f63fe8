//go:build !windows

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/hermes-acp/hermes-acp/agent/config"
)

// setupCommand is --setup: it asks for a provider, a model and a key, and stores
// them where Hermes keeps them. Editors run it in a terminal of theirs.
func setupCommand() *cli.Command {
	return &cli.Command{
		Name: "setup", Usage: "choose a model provider and store its key", Hidden: true, Flags: serveFlags(),
		Action: func(c *cli.Context) error {
			source, err := sourceFrom(c)
			if err != nil {
				return err
			}
			q := &questions{in: bufio.NewReader(os.Stdin), out: c.App.ErrWriter}
			if fd := int(os.Stdin.Fd()); term.IsTerminal(fd) {
				q.secret = func() (string, error) {
					key, err := term.ReadPassword(fd)
					fmt.Fprintln(q.out)
					return string(key), err
				}
			}
			return setup(c, source, q)
		},
	}
}

func setup(c *cli.Context, source config.Source, q *questions) error {
	choices := config.ProviderChoices()
	fmt.Fprintf(q.out, "Which provider serves your model? What you choose is stored in %s.\n\n", source.Home)
	for i, p := range choices {
		fmt.Fprintf(q.out, "  %2d  %s\n", i+1, p.Name)
	}
	provider, err := q.choose("\nNumber or name", choices)
	if err != nil {
		return err
	}
	sel := config.Selection{Provider: provider.Name, KeyName: provider.KeyName}
	if provider.NeedsBaseURL {
		if sel.BaseURL, err = q.ask("Base URL, with the version (http://127.0.0.1:8000/v1)", ""); err != nil {
			return err
		}
	}
	if sel.Model, err = q.ask("Model", provider.Model); err != nil {
		return err
	}
	if provider.KeyName != "" {
		if sel.Key, err = q.askKey(provider, source.HasKey(provider.Name)); err != nil {
			return err
		}
	}
	if err := source.Save(sel); err != nil {
		return err
	}
	if _, err := newModels(source).Model(c.Context, ""); err != nil {
		return fmt.Errorf("stored, but it does not resolve yet: %w", err)
	}
	fmt.Fprintln(q.out, "\nStored. Your editor can use it at once; in a terminal try: hermes-acp run \"hello\"")
	return nil
}

// questions asks a person at a terminal, or reads answers from a pipe.
type questions struct {
	in     *bufio.Reader
	out    io.Writer
	secret func() (string, error) // reads without showing; nil reads a line
}

func (q *questions) line() (string, error) {
	line, err := q.in.ReadString('\n')
	line = strings.TrimSpace(line)
	if errors.Is(err, io.EOF) {
		if line != "" {
			return line, nil
		}
		return "", errors.New("set-up ended before it was complete; nothing was stored")
	}
	return line, err
}

// ask returns the answer, or what stands for an empty one.
func (q *questions) ask(question, otherwise string) (string, error) {
	for {
		if otherwise != "" {
			fmt.Fprintf(q.out, "%s [%s]: ", question, otherwise)
		} else {
			fmt.Fprintf(q.out, "%s: ", question)
		}
		answer, err := q.line()
		if err != nil {
			return "", err
		}
		if answer == "" {
			answer = otherwise
		}
		if answer != "" {
			return answer, nil
		}
	}
}

// askKey returns the key, empty to keep the one that is stored. Where none is, it
// asks until there is one.
func (q *questions) askKey(provider config.ProviderChoice, stored bool) (config.Secret, error) {
	question := fmt.Sprintf("API key (%s)", provider.KeyName)
	if stored {
		question = fmt.Sprintf("API key (%s, empty keeps the stored one)", provider.KeyName)
	}
	for {
		fmt.Fprintf(q.out, "%s: ", question)
		key, err := q.readSecret()
		if err != nil || key != "" || stored {
			return config.Secret(key), err
		}
	}
}

func (q *questions) readSecret() (string, error) {
	if q.secret == nil {
		return q.line()
	}
	key, err := q.secret()
	return strings.TrimSpace(key), err
}

func (q *questions) choose(question string, choices []config.ProviderChoice) (config.ProviderChoice, error) {
	for {
		answer, err := q.ask(question, "")
		if err != nil {
			return config.ProviderChoice{}, err
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(choices) {
			return choices[n-1], nil
		}
		for _, p := range choices {
			if strings.EqualFold(p.Name, answer) {
				return p, nil
			}
		}
		fmt.Fprintf(q.out, "There is no provider %q.\n", answer)
	}
}
