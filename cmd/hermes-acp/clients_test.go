//go:build !windows

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// clientCases are what real editors and libraries sent, with paths and prompts of
// ours: a file each, which is a dialogueCase.
func clientCases(t *testing.T) []dialogueCase {
	t.Helper()
	paths, err := filepath.Glob("testdata/clients/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no clients: %v", err)
	}
	cases := make([]dialogueCase, len(paths))
	for i, path := range paths {
		script, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		cases[i] = dialogueCase{strings.TrimSuffix(filepath.Base(path), ".txtar"), string(script)}
	}
	return cases
}

func TestClients(t *testing.T) { playCases(t, directLane, clientCases(t)) }

func TestClientsThroughTheBridge(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the bridge's Linux half runs on Linux only")
	}
	playCases(t, bridgeLane(), clientCases(t))
}
