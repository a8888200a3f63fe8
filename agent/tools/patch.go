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
		Description: "Change files. Mode replace puts new_string in the place of old_string, which has to stand in the file " +
			"exactly once unless replace_all is set; where it does not, whole lines that differ only in white space or " +
			"typographic characters match if there is one such place. Mode patch applies a V4A patch to several files, " +
			"all or none: *** Begin Patch, then *** Add File: p (lines behind +), *** Update File: p (hunks of ' ', - and + " +
			"lines under @@ with an optional line of the file to look behind), *** Delete File: p or *** Move File: a -> b, then *** End Patch.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"mode": {"type": "string", "enum": ["replace", "patch"], "default": "replace"},
				"path": {"type": "string", "description": "replace: the file, absolute or relative to the working directory"},
				"old_string": {"type": "string", "description": "replace: the text to replace"},
				"new_string": {"type": "string", "description": "replace: the text to put in its place"},
				"replace_all": {"type": "boolean", "default": false, "description": "replace: every occurrence"},
				"patch": {"type": "string", "description": "patch: the V4A patch"}
			},
			"additionalProperties": false
		}`),
	}, t.planPatch}
}

func (t *Toolset) planPatch(_ context.Context, ws *agent.Workspace, args patchArgs, raw json.RawMessage) (agent.Plan, error) {
	switch args.Mode {
	case "", "replace":
		return t.planReplace(ws, args, raw)
	case "patch":
		return t.planV4A(ws, args.Patch, raw)
	}
	return agent.Plan{}, fmt.Errorf("mode %q: it is replace or patch", args.Mode)
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

func (t *Toolset) planV4A(ws *agent.Workspace, text string, raw json.RawMessage) (agent.Plan, error) {
	if strings.TrimSpace(text) == "" {
		return agent.Plan{}, errors.New("patch is required")
	}
	files, err := parseV4A(text)
	if err != nil {
		return agent.Plan{}, err
	}
	var changes []change
	var said, names []string
	for _, f := range files {
		made, did, err := f.changes(ws)
		if err != nil {
			return agent.Plan{}, fmt.Errorf("%s: %w; nothing was changed", f.path, err)
		}
		changes = append(changes, made...)
		said = append(said, did)
		names = append(names, f.path)
	}
	seen := map[string]bool{}
	for _, c := range changes {
		if seen[c.target] {
			return agent.Plan{}, fmt.Errorf("%s stands in the patch twice; nothing was changed", c.path)
		}
		seen[c.target] = true
	}
	return t.editPlan(ws, "patch", "patch: "+strings.Join(names, ", "), raw, changes, strings.Join(said, "\n")), nil
}

// changes returns what a file's part of a patch changes, and what it does in
// words.
func (p filePatch) changes(ws *agent.Workspace) (changes []change, did string, err error) {
	f, err := openForEdit(ws, p.path)
	switch {
	case err != nil:
		return nil, "", err
	case p.action == addFile && f.exists:
		return nil, "", errors.New("the file exists already; use *** Update File")
	case p.action != addFile && !f.exists:
		return nil, "", errors.New("there is no such file")
	case (p.action == deleteFile || p.moveTo != "") && f.isLink():
		return nil, "", fmt.Errorf("it is a link to %s; name that file, or remove the link with terminal", f.target)
	}
	switch p.action {
	case addFile:
		c, err := f.setText(p.added)
		return []change{c}, "added " + p.path, err
	case deleteFile:
		return []change{{file: f, delete: true}}, "deleted " + p.path, nil
	case updateFile, moveFile:
	}
	text, err := applyHunks(f.text, p.hunks)
	if err != nil {
		return nil, "", err
	}
	if p.moveTo == "" {
		c, err := f.setText(text)
		return []change{c}, "updated " + p.path, err
	}
	to, err := openForEdit(ws, p.moveTo)
	if err != nil {
		return nil, "", err
	}
	if to.exists {
		return nil, "", fmt.Errorf("%s exists already", p.moveTo)
	}
	to.format, to.style, to.mode = f.format, fileStyle{}, f.mode
	c, err := to.setText(text)
	return []change{c, {file: f, delete: true}}, "moved " + p.path + " to " + p.moveTo, err
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
