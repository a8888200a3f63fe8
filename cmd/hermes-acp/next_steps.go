package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// nextSteps says, after the demo, how to use the program for real.
func nextSteps(p paint) string {
	program, install := installedProgram()
	command := "hermes-acp"
	var b strings.Builder
	b.WriteString(p.bold("Everything held. What next:") + "\n\n")
	if install {
		b.WriteString("  go install ./cmd/hermes-acp         puts it at\n                                      " + program + "\n")
		command = filepath.Base(program)
	}
	b.WriteString("  " + command + " --setup                  choose a model provider\n")
	b.WriteString("  " + command + ` run "explain main.go"    one prompt in this terminal` + "\n\n")
	quoted, _ := json.Marshal(program) // a string always has a JSON form
	b.WriteString(p.bold("Zed") + ", in settings.json:\n\n")
	b.WriteString(`  "agent_servers": {
    "Hermes": { "type": "custom", "command": ` + string(quoted) + `, "args": [], "env": {} }
  }` + "\n\n")
	b.WriteString(p.bold("VS Code") + " with the extension ACP Client, in settings.json:\n\n")
	b.WriteString(`  "acp.agents": {
    "Hermes": { "command": ` + string(quoted) + `, "args": [], "env": {} }
  }`)
	return b.String()
}

// installedProgram returns the path of this program to put into an editor's
// settings. A program that `go run` built is gone when it ends: then the path is
// where `go install` will put it.
func installedProgram() (path string, install bool) {
	self, err := os.Executable()
	if err != nil {
		return "hermes-acp", false
	}
	if !strings.Contains(self, string(filepath.Separator)+"go-build") {
		return self, false
	}
	name := "hermes-acp"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(goInstallDir(), name), true
}

// goInstallDir is where `go install` puts programs.
func goInstallDir() string {
	if dir := os.Getenv("GOBIN"); dir != "" {
		return dir
	}
	if dirs := filepath.SplitList(os.Getenv("GOPATH")); len(dirs) > 0 {
		return filepath.Join(dirs[0], "bin")
	}
	home, _ := os.UserHomeDir() // without one, go install fails too
	return filepath.Join(home, "go", "bin")
}
