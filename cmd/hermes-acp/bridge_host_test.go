//go:build !windows

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A login of another agent runs on the person's terminal, with the environment of a login shell, and
// leaves its own exit code.
func TestBridgeHostOnATerminal(t *testing.T) {
	home := t.TempDir()
	cmd := exec.Command(builtProgram(t), "bridge-host", "--terminal", "--", "sh", "-c", `echo "$1 by $WHO"; exit 7`, "sh", "logged in")
	cmd.Env = []string{"HOME=" + home, "SHELL=/bin/sh", "PATH=/usr/bin:/bin", "WHO=me", "HERMES_HOME=" + filepath.Join(home, ".hermes")}
	out, _ := cmd.Output()
	if string(out) != "logged in by me\n" || cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("%q, %v", out, cmd.ProcessState)
	}
}

func TestBridgeHostRefusesATraceFileThatCannotCross(t *testing.T) {
	cmd := exec.Command(builtProgram(t), "bridge-host", "--trace", `Q:\trace.txt`)
	cmd.Env = []string{"HOME=" + t.TempDir(), "WSL_DISTRO_NAME=Ubuntu"}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "--trace") || !strings.Contains(string(out), "not mounted") {
		t.Errorf("%v: %s", err, out)
	}
}
