//go:build windows && !embed_agent

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/hermes-acp/hermes-acp/wslbridge"
)

// embeddedPayload is what a development build has instead of an embedded agent: none, save that one
// started by `go run` compiles it.
func embeddedPayload() (*wslbridge.Payload, error) {
	if self, _ := os.Executable(); !strings.Contains(self, `\go-build`) {
		return nil, nil
	}
	out := filepath.Join(localAppData(), "dev", "hermes-acp")
	cmd := exec.Command("go", "build", "-o", out, "github.com/hermes-acp/hermes-acp/cmd/hermes-acp") //nolint:noctx // as go run's own build
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+runtime.GOARCH, "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compile the agent for Linux: %w: %s", err, text)
	}
	return wslbridge.ReadPayload(out, runtime.GOARCH)
}
