package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// nextSteps says, after the demo, how to use the program for real.
func nextSteps(p paint) string {
	program, install := installedProgram()
	command := shortCommand(program)
	var steps []string
	if install {
		steps = append(steps, "Install            go install ./cmd/hermes-acp")
	}
	steps = append(steps,
		"Choose a model     "+command+" --setup",
		"Try it here        "+command+` run "what is in this folder?"`,
		"Is all well?       "+command+" doctor",
		"Other editors      "+command+" editors",
		"Add it to your editor's settings.json:",
	)
	parts := []string{p.bold("Everything held. What next:"), "  · " + strings.Join(steps, "\n  · ")}
	// The others keep their settings elsewhere.
	for _, e := range editors()[:2] {
		parts = append(parts, p.bold(e.title)+"\n  "+e.settingsFor(program))
	}
	return strings.Join(parts, "\n\n")
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

// shortCommand is the program's bare name when its folder is in PATH, and it is
// the program that the shell finds by that name or will, once it is installed.
func shortCommand(program string) string {
	name := filepath.Base(program)
	found, err := exec.LookPath(name)
	if found == program || err != nil && slices.Contains(filepath.SplitList(os.Getenv("PATH")), filepath.Dir(program)) {
		return name
	}
	return program
}
