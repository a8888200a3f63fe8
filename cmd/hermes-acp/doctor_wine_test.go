//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hermes-acp/hermes-acp/wslbridge/wslbridgetest"
)

// doctor on Windows goes on inside WSL and makes one report of both halves.
func TestWineDoctor(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	cmd, err := underWine(wineDir(t), home, wslbridgetest.Config{}, "doctor", "--offline", "--json")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = strings.NewReader("")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	var findings []finding
	if err := json.Unmarshal(out, &findings); err != nil {
		t.Fatalf("%v in %q; stderr: %s", err, out, &stderr)
	}
	status := map[string]health{}
	for _, f := range findings {
		status[f.Name] = f.Status
		if (f.Status == healthOK) != (f.Remedy == "") {
			t.Errorf("a finding has a remedy exactly when something is wrong: %+v", f)
		}
	}
	for name, want := range map[string]health{"wsl.exe": healthOK, "distros": healthOK, "distro": healthOK, "program": healthOK, "provider": healthFail, "logs": healthOK, "state.db": healthOK, "folder": healthWarn} {
		if diff := cmp.Diff(want, status[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if !strings.Contains(string(out), "in PowerShell run: hermes-acp.exe --setup") {
		t.Errorf("no remedy for a person on Windows in %s", out)
	}
}
