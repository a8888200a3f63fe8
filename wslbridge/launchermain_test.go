//go:build linux

package wslbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

const launcherEnv = "WSLBRIDGE_TEST_LAUNCHER"

// launcherMain runs a launcher as a process of its own, for tests that kill it.
func launcherMain() int {
	l := &Launcher{
		Payload: &Payload{Open: func() (io.ReadCloser, error) { return os.Open("/proc/self/exe") }},
		Environ: os.Environ(),
		Stdin:   os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Log: discardLog(),
	}
	if err := json.Unmarshal([]byte(os.Getenv(launcherEnv)), &struct {
		WSL, SystemDir, Version *string
		Registered              *Registered
		HostArgs                *[]string
		SHA256                  *string
		Size                    *int64
	}{&l.WSL, &l.SystemDir, &l.Version, &l.Registered, &l.HostArgs, &l.Payload.SHA256, &l.Payload.Size}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	code, err := l.Run(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, "hermes-acp:", err)
	}
	return code
}

// asProcess returns the command that runs l in a process of its own.
func asProcess(tb testing.TB, l *Launcher) *exec.Cmd {
	tb.Helper()
	config, err := json.Marshal(map[string]any{
		"WSL": l.WSL, "SystemDir": l.SystemDir, "Version": l.Version, "Registered": l.Registered, "HostArgs": l.HostArgs,
		"SHA256": l.Payload.SHA256, "Size": l.Payload.Size,
	})
	if err != nil {
		tb.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(exe, "launcher")
	cmd.Env = append(l.Environ, launcherEnv+"="+string(config))
	return cmd
}
