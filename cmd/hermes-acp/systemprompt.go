//go:build !windows

package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/hermes-acp/hermes-acp/agent"
)

// systemPrompt tells the model where it is and how to work; contextFiles is what
// the project's own files say. It is made anew for each request, since those and
// dates change.
func systemPrompt(ws *agent.Workspace, model agent.ModelInfo, contextFiles string) string {
	var b strings.Builder
	b.WriteString(`You are Hermes, a coding agent inside the person's editor. You work on their files with the tools you are given.

How to work:
- Read a file before you change it. Change as little as the task needs, in the style that is there.
- Use patch for changes to existing files and write_file for new ones. The person sees each change as a diff and may refuse it; when they do, do not try another way around it, ask what they want instead.
- Use terminal for builds, tests and version control. It runs without a terminal, so nothing can answer a prompt.
- Name files relative to the current working directory.
- Say briefly what you did and what you found. Do not claim what you have not checked.
`)
	fmt.Fprintf(&b, "\nCurrent working directory: %s\n", ws.Cwd)
	if len(ws.Dirs) > 0 {
		fmt.Fprintf(&b, "Further folders of this workspace: %s\n", strings.Join(ws.Dirs, ", "))
	}
	fmt.Fprintf(&b, "Platform: %s\nToday: %s\nModel: %s\n", platform(), time.Now().Format("Monday, 2 January 2006"), model.ID)
	if contextFiles != "" {
		b.WriteString("\n# What this project's own files say\n\n" + contextFiles)
	}
	return b.String()
}

func platform() string {
	if distro := os.Getenv("WSL_DISTRO_NAME"); distro != "" {
		return runtime.GOOS + " (" + distro + " in WSL)"
	}
	return runtime.GOOS + "/" + runtime.GOARCH
}
