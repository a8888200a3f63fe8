package main

import (
	"fmt"
	"path/filepath"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/hermes-acp/hermes-acp/acp/acpclient"
)

// diffLines is how much of one diff is shown.
const diffLines = 200

// diffs prints the edits among a call's contents, each once: it comes with the
// call, with the question about it and with its end.
func (u *terminalUI) diffs(id acpsdk.ToolCallId, contents []acpsdk.ToolCallContent) {
	for _, c := range contents {
		if c.Diff == nil {
			continue
		}
		text := unifiedDiff(u.shownPath(c.Diff.Path), c.Diff.OldText, c.Diff.NewText)
		key := string(id) + "\n" + text
		if text == "" || u.shownDiffs[key] {
			continue
		}
		u.shownDiffs[key] = true
		u.begin(blockNote)
		u.diff(text)
	}
}

func (u *terminalUI) questionDiffs(q acpclient.PermissionRequest) {
	u.diffs(q.ToolCall.ToolCallId, q.ToolCall.Content)
}

func unifiedDiff(path string, oldText *string, newText string) string {
	if oldText == nil {
		return udiff.Unified("/dev/null", path, "", newText)
	}
	return udiff.Unified(path, path, *oldText, newText)
}

func (u *terminalUI) diff(text string) {
	lines := strings.Split(strings.TrimSuffix(printable(text), "\n"), "\n")
	hidden := len(lines) - diffLines
	if hidden > 0 {
		lines = lines[:diffLines]
	}
	for _, line := range lines {
		u.printLine("  " + u.diffLine(line))
	}
	if hidden > 0 {
		u.printLine(u.dim(fmt.Sprintf("  … %d more lines", hidden)))
	}
}

func (u *terminalUI) diffLine(line string) string {
	switch {
	case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		return u.bold(line)
	case strings.HasPrefix(line, "@@"):
		return u.cyan(line)
	case strings.HasPrefix(line, "+"):
		return u.green(line)
	case strings.HasPrefix(line, "-"):
		return u.red(line)
	}
	return line
}

// shownPath is path relative to the working directory when it lies inside.
func (u *terminalUI) shownPath(path string) string {
	if rel, err := filepath.Rel(u.cwd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
