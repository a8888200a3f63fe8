//go:build !windows

package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hermes-acp/hermes-acp/wslbridge"
	"github.com/hermes-acp/hermes-acp/wslbridge/wslbridgetest"
)

// bridgedDistro is the only one on the simulated Windows.
const bridgedDistro = "Ubuntu"

// bridgeLane is a client on Windows that opened a folder of WSL: the real
// launcher, a simulated wsl.exe, the real host and agent.
func bridgeLane() lane {
	return lane{
		name:    "bridge",
		command: bridgeCommand,
		spell: func(path string) string {
			return `\\wsl.localhost\` + bridgedDistro + strings.ReplaceAll(path, "/", `\`)
		},
	}
}

// TestTalkThroughTheBridge plays the dialogues of clients again.
func TestTalkThroughTheBridge(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the bridge's Linux half runs on Linux only")
	}
	runScripts(t, "testdata/talk", bridgeLane())
}

func bridgeCommand(program, work string, env []string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	windows := filepath.Join(work, "windows")
	home := filepath.Join(work, "home")
	if err := installInDistro(program, home); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(windows, 0o755); err != nil {
		return nil, err
	}
	config := filepath.Join(windows, "wsl.json")
	err = wslbridgetest.WriteConfig(config, wslbridgetest.Config{
		Distros: []wslbridgetest.Distro{{Name: bridgedDistro, GUID: "{u}", Default: true, Home: home}},
		Log:     filepath.Join(windows, "wsl.log"),
	})
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Dir = windows
	cmd.Env = append(env, otherProgramEnv+"=launcher", wslbridgetest.ConfigEnv+"="+config)
	return cmd, nil
}

// installInDistro puts the program where the launcher finds it, so that it need
// not be sent.
func installInDistro(program, home string) error {
	bin := filepath.Join(home, ".local", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	err := os.Symlink(program, filepath.Join(bin, "hermes-acp"))
	if os.IsExist(err) {
		return nil
	}
	return err
}

// launcherProgram is what hermes-acp.exe is on Windows, with a simulated wsl.exe.
func launcherProgram() (exitCode int) {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	l := &wslbridge.Launcher{
		WSL: self, SystemDir: "/", Version: version,
		Registered: wslbridge.Registered{
			Distros: []wslbridge.Distro{{Name: bridgedDistro, GUID: "{u}", Version: 2, Ready: true}},
			Default: "{u}",
		},
		HostArgs: []string{"bridge-host"},
		Environ:  append(os.Environ(), otherProgramEnv+"=wsl"),
		Stdin:    os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
	code, err := l.Run(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, "hermes-acp:", err)
	}
	return code
}

// wslProgram is the simulated wsl.exe.
func wslProgram() (exitCode int) {
	return wslbridgetest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}
