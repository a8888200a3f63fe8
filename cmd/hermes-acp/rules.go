//go:build !windows

package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/hermes-acp/hermes-acp/agent"
	"github.com/hermes-acp/hermes-acp/agent/store"
)

// rulesCommand lists and revokes the lasting answers to questions about
// commands and MCP tools.
func rulesCommand() *cli.Command {
	return &cli.Command{
		Name:  "rules",
		Usage: "list or revoke what you always allowed or denied",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the rules: id, answer, folder, command or tool",
				Action: withStore(listRules),
			},
			{
				Name: "rm", Usage: "revoke rules by id, so that the questions are asked again", ArgsUsage: "ID...",
				Action: withStore(removeRules),
			},
		},
	}
}

// listRules and removeRules get a nil db when there is no store yet.
func listRules(c *cli.Context, db *store.DB) error {
	if db == nil {
		return printRules(c.App.Writer, nil)
	}
	rules, err := db.AllRules(c.Context)
	if err != nil {
		return err
	}
	return printRules(c.App.Writer, rules)
}

func printRules(w io.Writer, rules []agent.Rule) error {
	if len(rules) == 0 {
		_, err := fmt.Fprintln(w, "There are no rules. Choosing \"Always allow\" or \"Never allow\" in a question makes one.")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, rule := range rules {
		answer := "deny"
		if rule.Allow {
			answer = "allow"
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\n", rule.ID, answer, rule.Dir, rule.Subject())
	}
	return table.Flush()
}

func removeRules(c *cli.Context, db *store.DB) error {
	if !c.Args().Present() {
		return fmt.Errorf("name the rules to revoke by their ids; hermes-acp rules list shows them")
	}
	for _, arg := range c.Args().Slice() {
		id, err := strconv.ParseInt(arg, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not the id of a rule; hermes-acp rules list shows them", arg)
		}
		found := false
		if db != nil {
			if found, err = db.RemoveRule(c.Context, id); err != nil {
				return err
			}
		}
		if !found {
			return fmt.Errorf("there is no rule %d; hermes-acp rules list shows them", id)
		}
	}
	return nil
}
