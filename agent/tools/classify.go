package tools

import "github.com/hermes-acp/hermes-acp/agent"

// classify says what a command line is, as far as its text tells.
func classify(line, dir string) *agent.Command {
	return &agent.Command{Line: line, Dir: dir}
}
