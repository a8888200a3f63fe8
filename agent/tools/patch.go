package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hermes-acp/hermes-acp/agent"
)

type patchArgs struct {
	Mode       string  `json:"mode"`
	Path       string  `json:"path"`
	OldString  *string `json:"old_string"`
	NewString  *string `json:"new_string"`
	ReplaceAll flag    `json:"replace_all"`
	Patch      string  `json:"patch"`
}

func (t *Toolset) patch() agent.Tool {
	return tool[patchArgs]{agent.ToolSpec{
		Name: "patch",
		Kind: agent.KindEdit,
		Description: "Replace text in a file. old_string has to stand there exactly once, " +
			"unless replace_all is set; give it enough lines of context.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"mode": {"type": "string", "enum": ["replace"], "default": "replace"},
				"path": {"type": "string", "description": "The file, absolute or relative to the working directory"},
				"old_string": {"type": "string", "description": "The text to replace"},
				"new_string": {"type": "string", "description": "The text to put in its place"},
				"replace_all": {"type": "boolean", "default": false, "description": "Replace every occurrence"}
			},
			"required": ["path", "old_string", "new_string"],
			"additionalProperties": false
		}`),
	}, t.planPatch}
}

func (t *Toolset) planPatch(_ context.Context, ws *agent.Workspace, args patchArgs, raw json.RawMessage) (agent.Plan, error) {
	switch args.Mode {
	case "", "replace":
		return t.planReplace(ws, args, raw)
	}
	return agent.Plan{}, fmt.Errorf("mode %q: it is replace", args.Mode)
}

func (t *Toolset) planReplace(ws *agent.Workspace, args patchArgs, raw json.RawMessage) (agent.Plan, error) {
	switch {
	case args.Path == "":
		return agent.Plan{}, errors.New("path is required")
	case args.OldString == nil || args.NewString == nil:
		return agent.Plan{}, errors.New("old_string and new_string are required")
	case *args.OldString == *args.NewString:
		return agent.Plan{}, errors.New("old_string and new_string are the same")
	}
	f, err := openForEdit(ws, args.Path)
	if err != nil {
		return agent.Plan{}, err
	}
	if !f.exists {
		return agent.Plan{}, fmt.Errorf("patch %s: there is no such file; create it with write_file", args.Path)
	}
	text, n, err := replace(f.text, *args.OldString, *args.NewString, bool(args.ReplaceAll))
	if err != nil {
		return agent.Plan{}, fmt.Errorf("patch %s: %w", args.Path, err)
	}
	c, err := f.setText(text)
	if err != nil {
		return agent.Plan{}, err
	}
	said := fmt.Sprintf("%s: %d %s.", args.Path, n, plural(n, "replacement", "replacements"))
	if strings.HasSuffix(f.text, "\n") && !strings.HasSuffix(text, "\n") {
		said += " The file has no newline at its end now."
	}
	return t.editPlan(ws, "patch", "patch: "+args.Path, raw, []change{c}, said), nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
