package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hermes-acp/hermes-acp/agent"
)

const maxListed = 1000

type listDirArgs struct {
	Path string `json:"path"`
}

func (t *Toolset) listDir() agent.Tool {
	return tool[listDirArgs]{agent.ToolSpec{
		Name:        "list_dir",
		Kind:        agent.KindRead,
		Description: "List a folder: folders end in /, links show where they lead, files show their size. At most 1,000 entries.",
		Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"path": {"type": "string", "default": ".", "description": "The folder, absolute or relative to the working directory"}
			},
			"additionalProperties": false
		}`),
	}, t.planList}
}

func (t *Toolset) planList(_ context.Context, ws *agent.Workspace, args listDirArgs, _ json.RawMessage) (agent.Plan, error) {
	path, err := ws.Resolve(args.Path)
	if err != nil {
		return agent.Plan{}, err
	}
	target, err := agent.ResolveLinks(path)
	if err != nil {
		return agent.Plan{}, err
	}
	name := args.Path
	if name == "" {
		name = "."
	}
	return agent.Plan{
		Title:     "list_dir: " + name,
		Locations: []agent.Location{{Path: path}},
		Access:    agent.Access{Reads: []string{path, target}},
		Run: func(context.Context, func(agent.Progress)) (agent.Result, error) {
			text, err := listFolder(target)
			if err != nil {
				return agent.Result{}, fmt.Errorf("list %s: %w", name, err)
			}
			return agent.Result{Text: text}, nil
		},
	}, nil
}

func listFolder(dir string) (string, error) {
	if err := checkNotMoved(dir); err != nil {
		return "", err
	}
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", errors.New("there is no such folder")
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", errors.New("it is not a folder")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(entries) == 0 {
		return "The folder is empty.", nil
	}
	var b strings.Builder
	for i, entry := range entries {
		if i == maxListed {
			fmt.Fprintf(&b, "[%d more]\n", len(entries)-maxListed)
			break
		}
		b.WriteString(printable(entry.Name()) + describeEntry(dir, entry) + "\n")
	}
	return b.String(), nil
}

// describeEntry is what stands behind an entry's name.
func describeEntry(dir string, entry fs.DirEntry) string {
	switch mode := entry.Type(); {
	case mode.IsDir():
		return "/"
	case mode&fs.ModeSymlink != 0:
		to, err := os.Readlink(filepath.Join(dir, entry.Name()))
		if err != nil {
			return " -> ?"
		}
		return " -> " + printable(to)
	case !mode.IsRegular():
		return " (" + strings.TrimPrefix(notRegular(mode).Error(), errNotRegular.Error()+" but ") + ")"
	}
	info, err := entry.Info()
	if err != nil {
		return ""
	}
	return " (" + byteCount(info.Size()) + ")"
}
