package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hermes-acp/hermes-acp/agent"
)

type writeFileArgs struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
}

func (t *Toolset) writeFile() agent.Tool {
	return tool[writeFileArgs]{agent.ToolSpec{
		Name: "write_file",
		Kind: agent.KindEdit,
		Description: "Create a file, with its folders, or replace the whole content of a text file. " +
			"The line ends and the encoding of an existing file are kept. Use patch to change a part of a file.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"path": {"type": "string", "description": "The file, absolute or relative to the working directory"},
				"content": {"type": "string", "description": "The complete new content"}
			},
			"required": ["path", "content"],
			"additionalProperties": false
		}`),
	}, t.planWrite}
}

func (t *Toolset) planWrite(_ context.Context, ws *agent.Workspace, args writeFileArgs, raw json.RawMessage) (agent.Plan, error) {
	if args.Path == "" {
		return agent.Plan{}, errors.New("path is required")
	}
	if args.Content == nil {
		return agent.Plan{}, errors.New("content is required")
	}
	f, err := openForEdit(ws, args.Path)
	if err != nil {
		return agent.Plan{}, err
	}
	if f.exists && t.session(ws).changedSince(f.target, f.data) {
		return agent.Plan{}, fmt.Errorf("write %s: the file changed on disk since you last read it; read it again before you overwrite it", args.Path)
	}
	text := *args.Content
	if f.exists {
		text = keepLineEnds(f.text, text, lineEnd(f.text))
	}
	c, err := f.setText(text)
	if err != nil {
		return agent.Plan{}, err
	}
	said := fmt.Sprintf("%s was written (%s).", args.Path, byteCount(int64(len(c.newData))))
	return t.editPlan(ws, "write_file", "write_file: "+args.Path, raw, []change{c}, said), nil
}

// editPlan is the plan of every tool that edits files; said is its result once
// it is done.
func (t *Toolset) editPlan(ws *agent.Workspace, tool, title string, raw json.RawMessage, changes []change, said string) agent.Plan {
	for _, c := range changes {
		if c.exists && t.session(ws).changedSince(c.target, c.data) {
			said += fmt.Sprintf("\n%s had changed on disk since you last read it; the edit was made to what is there now.", c.path)
		}
	}
	return agent.Plan{
		Title:     title,
		Locations: locations(changes),
		Access:    agent.Access{Edits: proposals(tool, raw, changes)},
		Run: func(ctx context.Context, _ func(agent.Progress)) (agent.Result, error) {
			if err := apply(ctx, changes); err != nil {
				return agent.Result{}, err
			}
			for _, c := range changes {
				if c.delete {
					t.session(ws).forget(c.target)
				} else {
					t.session(ws).saw(c.target, c.newData)
				}
			}
			return agent.Result{Text: said}, nil
		},
	}
}
