package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	acpsdk "github.com/coder/acp-go-sdk"
)

// A claim that does not hold is an error, not a line.
func TestDemoChecks(t *testing.T) {
	const (
		read, edit, run   = acpsdk.ToolKindRead, acpsdk.ToolKindEdit, acpsdk.ToolKindExecute
		completed, failed = acpsdk.ToolCallStatusCompleted, acpsdk.ToolCallStatusFailed
	)
	calls := func(kind acpsdk.ToolKind, status acpsdk.ToolCallStatus, output string) []recordedCall {
		return []recordedCall{{id: "c", kind: kind, status: status, output: output}}
	}
	tests := []struct {
		name    string
		check   func(*demo, turnRecord) (string, error)
		onDisk  string
		seen    turnRecord
		want    string // a piece of the claim
		wantErr string // a piece of the error
	}{
		{"read", checkRead, demoBefore, turnRecord{calls: calls(read, completed, "")}, "the agent read", ""},
		{"not read", checkRead, demoBefore, turnRecord{}, "", "0 tool calls"},
		{"reading failed", checkRead, demoBefore, turnRecord{calls: calls(read, failed, "")}, "", "not read"},
		{"edit allowed", checkEdit, demoAfter, turnRecord{calls: calls(edit, completed, ""), asked: true, allowed: true}, "as you allowed", ""},
		{"edit denied", checkEdit, demoBefore, turnRecord{calls: calls(edit, failed, ""), asked: true}, "since you denied", ""},
		{"edit lost", checkEdit, demoBefore, turnRecord{calls: calls(edit, completed, ""), asked: true, allowed: true}, "", "holds"},
		{"edit in spite of the denial", checkEdit, demoAfter, turnRecord{calls: calls(edit, failed, ""), asked: true}, "", "holds"},
		{"edit without a question", checkEdit, demoAfter, turnRecord{calls: calls(edit, completed, "")}, "", "holds"},
		{"command", checkCommand, demoAfter, turnRecord{calls: calls(run, completed, demoAfter)}, "needed no leave", ""},
		{"command allowed", checkCommand, demoAfter, turnRecord{calls: calls(run, completed, demoAfter), asked: true, allowed: true}, "with your leave", ""},
		{"command denied", checkCommand, demoAfter, turnRecord{calls: calls(run, failed, ""), asked: true}, "nothing ran", ""},
		{"command ran in spite of the denial", checkCommand, demoAfter, turnRecord{calls: calls(run, completed, demoAfter), asked: true}, "", "denied"},
		{"command printed something else", checkCommand, demoAfter, turnRecord{calls: calls(run, completed, demoBefore)}, "", "with the output"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &demo{workspace: t.TempDir()}
			if err := os.WriteFile(filepath.Join(d.workspace, demoFile), []byte(tt.onDisk), 0o600); err != nil {
				t.Fatal(err)
			}
			claim, err := tt.check(d, tt.seen)
			switch {
			case tt.wantErr == "" && err != nil:
				t.Errorf("got error %v", err)
			case tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)):
				t.Errorf("got claim %q, error %v, want an error with %q", claim, err, tt.wantErr)
			case !strings.Contains(claim, tt.want):
				t.Errorf("got claim %q, want one with %q", claim, tt.want)
			}
		})
	}
}
