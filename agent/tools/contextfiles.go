package tools

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-acp/hermes-acp/agent"
)

const (
	// maxContextFile and maxContext bound what one project file and all of them
	// add to the system prompt, in bytes.
	maxContextFile = 32 << 10
	maxContext     = 64 << 10
)

// contextNames are the files in which projects tell agents how to work.
func contextNames() []string {
	return []string{".hermes.md", "AGENTS.md", "CLAUDE.md", ".cursorrules"}
}

// ContextFiles returns what a workspace's project files tell the agent, for the
// system prompt; "" when there are none. They are those of each root and of the
// folders above it up to its repository's root, and those of the folders below
// in which the session has read or written files. Outer ones come first.
func (t *Toolset) ContextFiles(ws *agent.Workspace) string {
	var b strings.Builder
	shown := map[string]bool{} // by content: CLAUDE.md often is AGENTS.md
	for _, dir := range t.contextFolders(ws) {
		for _, name := range contextNames() {
			path := filepath.Join(dir, name)
			text := readContext(path, ws)
			if text == "" || shown[text] {
				continue
			}
			shown[text] = true
			if len(text) > maxContextFile {
				text = string(trimPartialRune([]byte(text[:maxContextFile]))) + "\n[cut; read the file for the rest]"
			}
			if b.Len()+len(text) > maxContext {
				fmt.Fprintf(&b, "## %s\n[left out for its size; read it before you work there]\n\n", path)
				continue
			}
			fmt.Fprintf(&b, "## %s\n%s\n\n", path, strings.TrimSpace(text))
		}
	}
	return b.String()
}

// contextFolders returns the folders whose project files hold, outermost first.
func (t *Toolset) contextFolders(ws *agent.Workspace) []string {
	var folders []string
	for _, root := range ws.Roots() {
		root, err := agent.ResolveLinks(root)
		if err != nil {
			continue
		}
		folders = append(folders, foldersToRepositoryRoot(root)...)
		for _, file := range t.session(ws).seenFiles() {
			for dir := filepath.Dir(file); len(dir) > len(root) && strings.HasPrefix(dir, root+string(filepath.Separator)); dir = filepath.Dir(dir) {
				folders = append(folders, dir)
			}
		}
	}
	slices.Sort(folders) // a folder sorts before what is in it
	return slices.Compact(folders)
}

// foldersToRepositoryRoot returns dir and those above it up to the root of its
// repository; dir alone when it is in none.
func foldersToRepositoryRoot(dir string) []string {
	folders := []string{dir}
	for at := dir; !isRepositoryRoot(at); {
		up := filepath.Dir(at)
		if up == at {
			return folders[:1]
		}
		at = up
		folders = append(folders, at)
	}
	return folders
}

// readContext returns a project file's text. A file that is a link to somewhere
// else is passed over: a repository must not bring a person's own files into
// the prompt.
func readContext(path string, ws *agent.Workspace) string {
	target, err := agent.ResolveLinks(path)
	if err != nil || target != path && (!ws.Contains(target) || agent.Sensitive(target, "")) {
		return ""
	}
	data, _, err := readRegular(target, maxEditSize)
	if err != nil {
		return ""
	}
	text, _, err := decodeText(data)
	if err != nil {
		return ""
	}
	return toLF(text)
}
