//go:build !windows

package main

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/urfave/cli/v2"

	"github.com/hermes-acp/hermes-acp/agent"
	"github.com/hermes-acp/hermes-acp/agent/store"
)

// readinessCommand is --check: can this machine serve a prompt? It opens what a
// prompt would need and asks nobody on the network.
func readinessCommand() *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "is everything in place to serve a prompt?", Hidden: true, Flags: serveFlags(),
		Action: func(c *cli.Context) error {
			source, err := sourceFrom(c)
			if err != nil {
				return err
			}
			model, err := newModels(source).Model(c.Context, "")
			if errors.Is(err, agent.ErrNoProvider) {
				return fmt.Errorf("%w, or run hermes-acp --setup", err)
			}
			if err != nil {
				return err
			}
			db, err := store.Open(c.Context, store.Options{Dir: source.Home, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				return err
			}
			for _, warning := range db.Warnings() {
				fmt.Fprintln(c.App.ErrWriter, "hermes-acp: warning: "+warning)
			}
			if err := db.Close(); err != nil {
				return err
			}
			info := model.Info()
			_, err = fmt.Fprintf(c.App.Writer, "hermes-acp check OK: %s by %s\n", info.ID, info.Provider)
			return err
		},
	}
}
