//go:build !windows

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hermes-acp/hermes-acp/agent/llm/llmtest"
)

// A cancel ends the running turn and those that wait; when the running one is
// answered, the command that it started is gone.
func TestP01_CancelReachesTheCommandAndTheQueue(t *testing.T) {
	model := llmtest.Start(t, `
-- reply --
call terminal {"command": "echo $$ > pid; exec sleep 60"}
`)
	d := startDialogue(t, model)
	pidFile := filepath.Join(d.work, "ws", "pid")
	if err := syscall.Mkfifo(pidFile, 0o600); err != nil {
		t.Fatal(err)
	}
	d.mustRun(t, `
open
begin Sleep.
answer allow_once
`)
	line, err := os.ReadFile(pidFile) // returns when the command has written
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(line)))
	if err != nil {
		t.Fatal(err)
	}
	d.mustRun(t, `
begin And then?
notify session/cancel {"sessionId":"$SESSION"}
await
`)
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the command still runs: %v", err)
	}
	for _, id := range []string{"3", "4"} {
		want := `< {"id":` + id + `,"result":{"stopReason":"cancelled"}}`
		if got := d.String(); !strings.Contains(got, want) {
			t.Errorf("prompt %s was not answered with cancelled:\n%s", id, got)
		}
	}
}
