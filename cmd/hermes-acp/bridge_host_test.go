//go:build !windows

package main

import (
	"os"
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

// Frames are recorded as their senders spell them, whichever agent there is: those of the client can be
// put through `paths frame` again.
func TestTraceOfTheBridge(t *testing.T) {
	const cwd = `\\\\wsl.localhost\\Ubuntu\\no such folder`
	frame := `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"` + cwd + `","mcpServers":[],"secret":"sk-1"}}` + "\n"
	for name, tc := range map[string]struct {
		args []string
		out  string // of the agent
	}{
		"Hermes":        {nil, `"error"`},
		"another agent": {[]string{"--", "cat"}, `"cwd":"/no such folder"`},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			file := filepath.Join(home, "trace")
			cmd := exec.Command(builtProgram(t), append([]string{"bridge-host", "--trace", file}, tc.args...)...)
			cmd.Env = []string{"HOME=" + home, "SHELL=/bin/sh", "PATH=/usr/bin:/bin", "WSL_DISTRO_NAME=Ubuntu"}
			cmd.Stdin = strings.NewReader(frame)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			trace, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(trace), "\n")
			if len(lines) != 3 || !strings.Contains(lines[0], `"in"`) || !strings.Contains(lines[0], cwd) || !strings.Contains(lines[1], `"out"`) || !strings.Contains(lines[1], tc.out) {
				t.Errorf("trace:\n%s", trace)
			}
			if strings.Contains(string(trace), "sk-1") {
				t.Error("a text was recorded")
			}
		})
	}
}
